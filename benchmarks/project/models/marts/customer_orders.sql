select
  customer_id,
  count(*) as orders,
  sum(total_price) as revenue,
  avg(total_price) as average_order,
  count_if(status = 'O') as open_orders,
  min(ordered_on) as first_order,
  max(ordered_on) as last_order
from {{ ref('stg_orders') }}
group by customer_id
