-- Customers without an order since 1998.
select c.customer_id, c.customer_name, c.segment, c.balance
from {{ ref('stg_customers') }} c
where not exists (
  select 1
  from {{ ref('stg_orders') }} o
  where o.customer_id = c.customer_id and o.ordered_on >= date '1998-01-01'
)
