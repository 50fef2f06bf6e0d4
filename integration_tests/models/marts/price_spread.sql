select ceil((highest - lowest) / 10) * 10 as spread_up_to, count(*) as products
from {{ ref('price_range') }}
group by 1
