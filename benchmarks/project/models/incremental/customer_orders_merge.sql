-- Recomputes the customers whose orders changed. A customer whose last order was deleted stays.
{{ config(unique_key='customer_id') }}
select
  customer_id,
  count(*) as orders,
  sum(total_price) as revenue,
  avg(total_price) as average_order,
  count_if(status = 'O') as open_orders,
  min(ordered_on) as first_order,
  max(ordered_on) as last_order
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where customer_id in ({{ touched('o_custkey', 'orders') }})
{% endif %}
group by customer_id
