-- Takes over the customers that changed. A deleted customer stays.
{{ config(unique_key='customer_id') }}
select
  c.customer_id,
  c.customer_name,
  c.segment,
  coalesce(n.nation, 'unknown') as nation,
  coalesce(n.region, 'unknown') as region,
  c.balance,
  case when c.balance < 0 then 'debtor' when c.balance < 5000 then 'regular' else 'wealthy' end
    as balance_class
from {{ ref('stg_customers') }} c
left join {{ ref('stg_nations') }} n on n.nation_id = c.nation_id
{% if is_incremental() %}
where c.customer_id in ({{ touched('c_custkey', 'customer') }})
{% endif %}
