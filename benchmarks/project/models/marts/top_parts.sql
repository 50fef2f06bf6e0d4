-- The three best-selling parts of each brand: a window over an aggregate over a join.
with sales as (
  select p.brand, p.part_id, p.part_name, sum(l.quantity) as quantity
  from {{ ref('stg_order_lines') }} l
  join {{ ref('stg_parts') }} p on p.part_id = l.part_id
  group by p.brand, p.part_id, p.part_name
),
ranked as (
  select
    *, row_number() over (partition by brand order by quantity desc, part_id) as position
  from sales
)
select brand, position, part_id, part_name, quantity
from ranked
where position <= 3
