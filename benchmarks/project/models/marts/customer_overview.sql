-- A mart on three marts.
select
  c.customer_id,
  c.nation,
  c.segment,
  coalesce(t.orders, 0) as orders,
  coalesce(t.revenue, 0) as revenue,
  l.order_id as latest_order_id,
  l.ordered_on as latest_order_on
from {{ ref('dim_customers') }} c
left join {{ ref('customer_orders') }} t on t.customer_id = c.customer_id
left join {{ ref('latest_orders') }} l on l.customer_id = c.customer_id
