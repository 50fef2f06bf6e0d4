select
  p.brand,
  p.part_type,
  count(distinct o.supplier_id) as suppliers,
  min(o.cost) as lowest_cost,
  max(o.cost) as highest_cost,
  sum(o.available) as available
from {{ ref('stg_part_offers') }} o
join {{ ref('stg_parts') }} p on p.part_id = o.part_id
group by p.brand, p.part_type
