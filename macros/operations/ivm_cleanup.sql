{#- dbt run-operation ivm_cleanup lists extents that no model owns; --args '{drop: true}' drops them. -#}
{% macro ivm_cleanup(drop=false) %}
  {%- set orphans = adapter.ivm_orphans() -%}
  {%- for orphan in orphans -%}
    {%- for relation in [orphan.view, orphan.extent] if relation -%}
      {%- do log(("dropped " if drop else "not owned: ") ~ relation ~ ", made for " ~ orphan.model, info=true) -%}
      {%- if drop -%}
        {%- do spark__drop_relation(relation) -%}
        {%- do adapter.cache_dropped(relation) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- if not orphans -%}
    {%- do log("every extent is owned by a model", info=true) -%}
  {%- elif not drop -%}
    {%- do log("to drop them: dbt run-operation ivm_cleanup --args '{drop: true}'", info=true) -%}
  {%- endif -%}
{% endmacro %}
