{#- dbt run-operation ivm_repair --args '{model: m}' -#}
{% macro ivm_repair(model) %}
  {%- do log(adapter.ivm_repair(model), info=true) -%}
{% endmacro %}
