{#- Create the source tables from nothing. In a real shop other systems do this. -#}
{% macro shop_load(customers, orders, items) %}
  {%- do run_query("create schema if not exists " ~ source('raw', 'orders').schema) -%}

  {%- do run_query(
    "create or replace table " ~ source('raw', 'customers') ~ " using delta as
    select
      cast(id as int) as id,
      concat('customer ', id) as name,
      element_at(array('home', 'office', 'school', 'public', 'export'), cast(id % 5 as int) + 1)
        as segment
    from range(" ~ customers ~ ")"
  ) -%}

  {%- do run_query(
    "create or replace table " ~ source('raw', 'orders') ~ " using delta as
    select
      id,
      cast(id * 7919 % " ~ customers ~ " as int) as customer_id,
      date_add(date '2024-01-01', cast(id % 365 as int)) as ordered_on,
      cast(id * 31 % 99991 / 100 as decimal(10, 2)) as amount,
      if(id % 50 = 0, 'cancelled', 'paid') as status
    from range(" ~ orders ~ ")"
  ) -%}

  {%- do run_query(
    "create or replace table " ~ source('raw', 'items') ~ " using delta as
    select
      id,
      id % " ~ orders ~ " as order_id,
      product_id,
      cast(product_id % 40 + id * 37 % 11987 * (1 + product_id % 7) / 700 as decimal(10, 2))
        as price
    from (select id, cast(id * 6007 % 1000 as int) as product_id from range(" ~ items ~ "))"
  ) -%}
{% endmacro %}
