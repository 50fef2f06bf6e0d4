{#- The rows in which a model differs from its own SQL at the source versions of its watermark. -#}
{% test ivm_consistent(model) %}
  {{ adapter.ivm_consistency_sql(model) }}
{% endtest %}
