{#- `dbt clone` of an ivm model is a view on the other environment's; its state is not copied. -#}
{% materialization clone, adapter='ivm' %}
  {%- if config.get('materialized') != 'ivm' -%}
    {{ return(materialization_clone_spark()) }}
  {%- endif -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- if not defer_relation or (existing and not flags.FULL_REFRESH) -%}
    {{ log("Nothing to clone for " ~ model.unique_id, info=true) }}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- if existing -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
  {%- call statement('main') -%}
    {{ get_create_view_as_sql(target_relation, "select * from " ~ defer_relation) }}
  {%- endcall -%}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
