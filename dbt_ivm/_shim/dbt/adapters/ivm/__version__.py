"""The version dbt reports for `type: ivm`."""

from dbt_ivm import __version__ as version

__all__ = ["version"]
