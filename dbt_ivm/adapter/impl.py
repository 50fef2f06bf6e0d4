"""The adapter dbt talks to for `type: ivm`."""

from __future__ import annotations

from dbt.adapters.spark.impl import SparkAdapter

from dbt_ivm.adapter.connections import IvmConnectionManager


class IvmAdapter(SparkAdapter):
    """dbt-spark's adapter on connections of our own."""

    ConnectionManager = IvmConnectionManager
