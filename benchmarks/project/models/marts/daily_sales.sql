-- A mart on a mart.
select
  ordered_on,
  count(*) as line_items,
  count(distinct customer_id) as customers,
  sum(net_price) as revenue,
  count_if(is_returned) as returned
from {{ ref('fct_order_lines') }}
group by ordered_on
