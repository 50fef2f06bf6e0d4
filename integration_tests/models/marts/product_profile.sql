select
  product_id,
  count(distinct order_id) as orders,
  percentile(price, 0.5) as median_price,
  min_by(price, item_id) as first_price
from {{ ref('stg_items') }}
group by product_id
