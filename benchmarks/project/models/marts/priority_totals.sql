select
  priority,
  date_trunc('month', ordered_on) as month,
  count(*) as orders,
  sum(total_price) as revenue
from {{ ref('stg_orders') }}
group by priority, date_trunc('month', ordered_on)
