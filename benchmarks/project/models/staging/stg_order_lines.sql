select
  l_orderkey as order_id,
  l_linenumber as line_number,
  l_partkey as part_id,
  l_suppkey as supplier_id,
  l_quantity as quantity,
  l_extendedprice as gross_price,
  l_extendedprice * (1 - l_discount) as net_price,
  l_returnflag = 'R' as is_returned,
  l_shipdate as shipped_on,
  l_commitdate as promised_on,
  l_receiptdate as received_on,
  l_shipmode as ship_mode
from {{ source('tpch', 'lineitem') }}
