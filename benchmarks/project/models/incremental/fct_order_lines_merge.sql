-- Recomputes the lines of orders that changed. A deleted line stays.
{{ config(unique_key=['order_id', 'line_number']) }}
select
  l.order_id,
  l.line_number,
  o.customer_id,
  l.part_id,
  l.supplier_id,
  o.ordered_on,
  l.shipped_on,
  l.quantity,
  l.net_price,
  l.is_returned,
  l.received_on > l.promised_on as is_late
from {{ ref('stg_order_lines') }} l
join {{ ref('stg_orders') }} o on o.order_id = l.order_id
{% if is_incremental() %}
where l.order_id in (
  {{ touched('o_orderkey', 'orders') }}
  union
  {{ touched('l_orderkey', 'lineitem') }}
)
{% endif %}
