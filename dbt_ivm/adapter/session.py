"""A dbt connection on a Spark session of its own, inside this process."""

from __future__ import annotations

import datetime
import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtDatabaseError
from sqlglot import exp

from dbt_ivm.adapter import embedded
from dbt_ivm.adapter.messages import message_of
from dbt_ivm.sql.dialect import render

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from dbt_ivm.adapter.credentials import IvmCredentials

logger = AdapterLogger("Ivm")

_starting = threading.Lock()
_own: SparkSession | None = None


def connect(credentials: IvmCredentials) -> SessionHandle:
    """A fresh session for one dbt connection: its SETs and temp views are nobody else's."""
    parameters = credentials.server_side_parameters
    _refuse_connect(parameters)
    if find_spec("pyspark") is None:
        raise FailedToConnectError(embedded.NO_PYSPARK)
    with _starting:
        session = _branch(_base(credentials))
    _quieten()
    _apply(session, parameters)
    return SessionHandle(session)


class SessionCursor:
    """Runs one statement and keeps its rows."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._rows: list[Row] = []
        self.description: Sequence[tuple[Any, ...]] = ()

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run the statement to its end: a query nobody fetches must still run, and run once."""
        sql = sql.strip().removesuffix(";")
        if bindings is not None:
            sql = sql % tuple(literal(value) for value in bindings)
        try:
            frame = self._session.sql(sql)
            fields = frame.schema.fields
            self._rows = frame.collect() if fields else []
        except Exception as error:
            raise DbtDatabaseError(message_of(error)) from None
        self.description = [
            (field.name, field.dataType.simpleString(), None, None, None, None, field.nullable)
            for field in fields
        ]

    def fetchall(self) -> list[Row]:
        return self.fetchmany(len(self._rows))

    def fetchmany(self, size: int) -> list[Row]:
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    def fetchone(self) -> Row | None:
        return next(iter(self.fetchmany(1)), None)

    def close(self) -> None:
        self._rows = []


class SessionHandle:
    """What dbt holds as the open connection."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    def cursor(self) -> SessionCursor:
        return SessionCursor(self.session)

    def cancel(self) -> None:
        """Stop what this session runs; dbt calls it from another thread."""
        self.session.interruptAll()

    def close(self) -> None:
        """The session goes when nobody refers to it any more."""

    def rollback(self) -> None:
        """Spark has no transactions."""

    @contextmanager
    def settings(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Session settings for the time of a block; afterwards they are as they were."""
        conf = self.session.conf
        before: dict[str, str | None] = {}
        try:
            for key, value in settings.items():
                before[key] = conf.get(key, None)
                conf.set(key, value)
            yield
        finally:
            for key, old in before.items():
                if old is None:
                    conf.unset(key)
                else:
                    conf.set(key, old)


def literal(value: Any) -> str:
    """A value dbt binds into a statement (a cell of a seed), as Spark SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"double('{value}')"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime.datetime):
        value = value.isoformat(sep=" ")
    return render(exp.Literal.string(str(value)))


def _refuse_connect(parameters: Mapping[str, str]) -> None:
    if os.environ.get("SPARK_REMOTE") or "spark.remote" in parameters:
        raise FailedToConnectError(
            "`method: session` runs Spark in this process, but SPARK_REMOTE (or `spark.remote`) "
            "asks for Spark Connect: unset it, or use `method: thrift` for a remote Spark."
        )


def _base(credentials: IvmCredentials) -> SparkSession:
    """The session all connections of this process branch from: the active one, else our own."""
    global _own
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    parameters = credentials.server_side_parameters
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        # Started by spark-submit: the JVM is there and its settings are not ours to choose.
        return SparkSession.builder.config(map=dict(parameters)).enableHiveSupport().getOrCreate()
    folder = Path(credentials.local_dir or ".ivm").resolve()
    _own = embedded.start(folder, parameters, credentials.lock_timeout)
    return _own


def _branch(base: SparkSession) -> SparkSession:
    """A session beside `base`; one that is not ours hands down its settings, views and UDFs."""
    from pyspark.sql import SparkSession

    if base is _own:
        return base.newSession()
    return SparkSession(base.sparkContext, base._jsparkSession.cloneSession())


def _quieten() -> None:
    """dbt reports an error; pyspark would write it to stderr too, with the stack of the JVM."""
    from pyspark.logger import PySparkLogger

    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


def _apply(session: SparkSession, parameters: Mapping[str, str]) -> None:
    for key, value in parameters.items():
        if session.conf.get(key, None) == value:
            continue
        try:
            session.conf.set(key, value)
        except Exception as error:
            logger.debug(f"{key} keeps its value in a running Spark: {message_of(error)}")
