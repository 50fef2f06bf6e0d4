select id as order_id, customer_id, ordered_on, amount
from {{ source('raw', 'orders') }}
where status <> 'cancelled'
