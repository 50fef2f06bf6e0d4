{#- Refresh a model: Python plans and applies, dbt's own macros do hooks, grants and the contract. -#}
{% materialization ivm, adapter='ivm', supported_languages=['sql'] %}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- set existing = adapter.get_relation(this.database, this.schema, this.identifier) -%}

  {{ run_hooks(pre_hooks) }}

  {%- if config.get('contract').enforced -%}
    {{ get_assert_columns_equivalent(compiled_code) }}
  {%- endif -%}

  {%- set response = adapter.ivm_refresh(model, target_relation, compiled_code, should_full_refresh()) -%}
  {%- if response.ivm_warning -%}
    {%- do exceptions.warn(response.ivm_warning) -%}
  {%- endif -%}
  {%- do store_result('main', response) -%}
  {%- if existing is not none and not existing.is_view -%}
    {%- do adapter.cache_dropped(existing) -%}
  {%- endif -%}

  {%- set should_revoke = should_revoke(existing, full_refresh_mode=True) -%}
  {%- do apply_grants(target_relation, config.get('grants'), should_revoke) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation, adapter.ivm_extent_name(target_relation)]}) }}
{% endmaterialization %}
