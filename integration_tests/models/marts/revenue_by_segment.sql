select
  c.segment,
  count(*) as orders,
  sum(o.amount) as revenue,
  avg(o.amount) as average_order
from {{ ref('stg_orders') }} o
join {{ ref('stg_customers') }} c on c.customer_id = o.customer_id
group by c.segment
