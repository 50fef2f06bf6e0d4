-- Recomputes the customers whose orders changed. A customer whose last order was deleted stays.
{{ config(unique_key='customer_id') }}
select customer_id, order_id, ordered_on, total_price, priority
from (
  select
    *,
    row_number() over (partition by customer_id order by ordered_on desc, order_id desc) as position
  from {{ ref('stg_orders') }}
  {% if is_incremental() %}
  where customer_id in ({{ touched('o_custkey', 'orders') }})
  {% endif %}
) numbered
where position = 1
