-- Running totals within each customer.
select
  order_id,
  customer_id,
  ordered_on,
  total_price,
  sum(total_price) over (partition by customer_id order by ordered_on, order_id) as spent_so_far,
  lag(ordered_on) over (partition by customer_id order by ordered_on, order_id) as previous_order,
  row_number() over (partition by customer_id order by ordered_on, order_id) as order_number
from {{ ref('stg_orders') }}
