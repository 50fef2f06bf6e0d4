select
  n.n_nationkey as nation_id,
  n.n_name as nation,
  r.r_name as region
from {{ source('tpch', 'nation') }} n
join {{ source('tpch', 'region') }} r on r.r_regionkey = n.n_regionkey
