-- The third level: a mart on a mart on marts.
select
  segment,
  nation,
  count(*) as customers,
  count_if(orders > 0) as buyers,
  sum(revenue) as revenue,
  max(latest_order_on) as last_seen
from {{ ref('customer_overview') }}
group by segment, nation
