select id as customer_id, name, segment
from {{ source('raw', 'customers') }}
