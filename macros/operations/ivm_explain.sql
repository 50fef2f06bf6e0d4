{#- dbt run-operation ivm_explain --args '{model: m}' -#}
{% macro ivm_explain(model) %}
  {%- do log(adapter.ivm_explain(model), info=true) -%}
{% endmacro %}
