select o.order_id, c.name, c.segment, o.ordered_on, o.amount
from {{ ref('stg_orders') }} o
join {{ ref('stg_customers') }} c on c.customer_id = o.customer_id
where o.amount >= 950
