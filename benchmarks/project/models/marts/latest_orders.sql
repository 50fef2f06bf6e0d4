-- The newest order of each customer.
select customer_id, order_id, ordered_on, total_price, priority
from (
  select
    *,
    row_number() over (partition by customer_id order by ordered_on desc, order_id desc) as position
  from {{ ref('stg_orders') }}
) numbered
where position = 1
