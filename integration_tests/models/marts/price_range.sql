select product_id, count(*) as items, min(price) as lowest, max(price) as highest
from {{ ref('stg_items') }}
group by product_id
