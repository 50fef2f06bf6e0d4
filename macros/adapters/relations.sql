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
    {%- set settings = config if config is defined else {} -%}
    {%- set extent = adapter.ivm_extent_name(
          relation, settings.get('ivm_schema'), settings.get('ivm_catalog')) -%}
    {%- if adapter.ivm_owns(extent) -%}
      {%- do spark__drop_relation(extent) -%}
      {%- do adapter.cache_dropped(extent) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}
