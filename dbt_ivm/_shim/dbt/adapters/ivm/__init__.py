"""The module dbt imports for `type: ivm`."""

from dbt_ivm.adapter.plugin import Plugin

__all__ = ["Plugin"]
