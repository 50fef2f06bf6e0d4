select id as item_id, order_id, product_id, price
from {{ source('raw', 'items') }}
