select count(*) as segments, sum(orders) as orders, sum(revenue) as revenue
from {{ ref('revenue_by_segment') }}
