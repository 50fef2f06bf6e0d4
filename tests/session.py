"""A connection for tests that call the runner without dbt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from dbt_ivm.sources.format import Row


class Session:
    """A connection to the shared Spark: one of its own, or one with the settings of the session."""

    def __init__(self, spark: SparkSession, own: bool = True) -> None:
        self._spark = spark.newSession() if own else spark

    def run(self, sql: str) -> list[Row]:
        try:
            return [row.asDict() for row in self._spark.sql(sql).collect()]
        except Exception as error:
            raise DbtRuntimeError(str(error)) from error

    @contextmanager
    def settings(self, values: Mapping[str, str]) -> Iterator[None]:
        for key, value in values.items():
            self._spark.conf.set(key, value)
        try:
            yield
        finally:
            for key in values:
                self._spark.conf.unset(key)
