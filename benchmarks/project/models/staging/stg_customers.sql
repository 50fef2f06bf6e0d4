select
  c_custkey as customer_id,
  c_name as customer_name,
  c_nationkey as nation_id,
  c_mktsegment as segment,
  c_acctbal as balance,
  substring(c_phone, 1, 2) as country_code
from {{ source('tpch', 'customer') }}
