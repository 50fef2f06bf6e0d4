select
  s.supplier_id,
  s.supplier_name,
  n.nation,
  count(l.order_id) as deliveries,
  count_if(l.received_on > l.promised_on) as late_deliveries,
  sum(l.gross_price) as revenue
from {{ ref('stg_suppliers') }} s
join {{ ref('stg_nations') }} n on n.nation_id = s.nation_id
left join {{ ref('stg_order_lines') }} l on l.supplier_id = s.supplier_id
group by s.supplier_id, s.supplier_name, n.nation
