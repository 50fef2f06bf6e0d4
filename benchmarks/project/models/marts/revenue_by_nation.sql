select
  n.region,
  n.nation,
  date_trunc('month', o.ordered_on) as month,
  count(*) as line_items,
  sum(l.gross_price) as revenue,
  sum(l.quantity) as quantity
from {{ ref('stg_order_lines') }} l
join {{ ref('stg_orders') }} o on o.order_id = l.order_id
join {{ ref('stg_customers') }} c on c.customer_id = o.customer_id
join {{ ref('stg_nations') }} n on n.nation_id = c.nation_id
group by n.region, n.nation, date_trunc('month', o.ordered_on)
