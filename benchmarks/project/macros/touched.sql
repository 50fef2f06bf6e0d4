{#- Keys of a source's changed rows. Whoever schedules the hand-written models remembers the range
    of versions, `changes: {table: [first, last]}`; a table without one did not change. -#}
{% macro touched(column, table) %}
  {%- set range = var('changes', {}).get(table) -%}
  {%- if range -%}
    select {{ column }} from table_changes('{{ source('tpch', table).include(database=false) | replace('`', '') }}', {{ range[0] }}, {{ range[1] }})
  {%- else -%}
    select {{ column }} from {{ source('tpch', table) }} where false
  {%- endif -%}
{% endmacro %}
