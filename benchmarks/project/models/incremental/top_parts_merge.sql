-- Recomputes the brands of parts that changed or whose lines did.
{{ config(unique_key=['brand', 'position']) }}
with sales as (
  select p.brand, p.part_id, p.part_name, sum(l.quantity) as quantity
  from {{ ref('stg_order_lines') }} l
  join {{ ref('stg_parts') }} p on p.part_id = l.part_id
  {% if is_incremental() %}
  where p.brand in (
    {{ touched('p_brand', 'part') }}
    union
    select brand from {{ ref('stg_parts') }}
    where part_id in ({{ touched('l_partkey', 'lineitem') }})
  )
  {% endif %}
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
