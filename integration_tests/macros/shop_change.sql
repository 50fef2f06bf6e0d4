{#- Change the source tables the way a shop does; every statement is a commit of its own. -#}

{#- One customer changes segment. -#}
{% macro shop_small_change() %}
  {%- do run_query(
    "update " ~ source('raw', 'customers') ~ " set segment = 'export' where id = 7"
  ) -%}
{% endmacro %}


{#- New orders with their items, cancellations, corrected prices, deleted items. -#}
{% macro shop_busy_day(orders, items) %}
  {%- do run_query(
    "insert into " ~ source('raw', 'orders') ~ "
    select
      " ~ orders ~ " + id, cast(id * 11 as int), date '2025-01-01',
      cast(id * 5 as decimal(10, 2)), 'paid'
    from range(200)"
  ) -%}
  {%- do run_query(
    "insert into " ~ source('raw', 'items') ~ "
    select
      " ~ items ~ " + id, " ~ orders ~ " + id div 2, cast(id % 40 as int),
      cast(id % 130 as decimal(10, 2))
    from range(400)"
  ) -%}
  {%- do run_query(
    "update " ~ source('raw', 'orders') ~ " set status = 'cancelled' where id between 201 and 230"
  ) -%}
  {%- do run_query(
    "update " ~ source('raw', 'items') ~ " set price = price + 1
    where product_id = 3 and id < 20000"
  ) -%}
  {%- do run_query(
    "delete from " ~ source('raw', 'items') ~ " where product_id = 5 and price > 100"
  ) -%}
{% endmacro %}
