{#- Dropping or replacing a relation takes its extent along, so that switching a model to another
    materialization leaves nothing behind. -#}
{% macro ivm__drop_relation(relation) %}
  {%- do ivm_drop_extent(relation) -%}
  {{ return(spark__drop_relation(relation)) }}
{% endmacro %}


{% macro ivm__create_view_as(relation, sql) -%}
  {%- do ivm_drop_extent(relation) -%}
  {{ return(spark__create_view_as(relation, sql)) }}
{%- endmacro %}


{% macro ivm_drop_extent(relation) %}
  {%- if execute -%}
    {%- set extent = adapter.ivm_extent_name(relation) -%}
    {%- if adapter.ivm_owns(extent) -%}
      {%- do spark__drop_relation(extent) -%}
      {%- do adapter.cache_dropped(extent) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{#- A model's `database` is the catalog of a three-part name. -#}
{% macro ivm__generate_database_name(custom_database_name=none, node=none) -%}
  {% do return(custom_database_name) %}
{%- endmacro %}


{% macro ivm__list_schemas(database) -%}
  {% call statement('list_schemas', fetch_result=True, auto_begin=False) %}
    show databases {{ 'in ' ~ database if database }}
  {% endcall %}
  {{ return(load_result('list_schemas').table) }}
{%- endmacro %}
