"""Connections of `type: ivm`: dbt-spark's, and sessions of our own for `method: session`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from sqlglot import exp

from dbt_ivm.adapter.messages import without_stack
from dbt_ivm.adapter.session import SessionHandle, connect
from dbt_ivm.sql.dialect import render

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext


class IvmConnectionManager(SparkConnectionManager):
    """One connection per dbt thread, each with session settings of its own."""

    TYPE = "ivm"

    def __init__(self, profile: Any, mp_context: SpawnContext) -> None:
        super().__init__(profile, mp_context)
        profile.credentials.place(_project_root(profile))

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN or not connection.credentials.is_session:
            return super().open(connection)
        connection.handle = connect(connection.credentials)
        connection.state = ConnectionState.OPEN
        return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Every failure becomes one dbt error with the words of Spark, without frames."""
        try:
            yield
        except DbtRuntimeError as error:
            error.msg = without_stack(error.msg)
            raise
        except Exception:
            try:
                with super().exception_handler(sql):
                    raise
            except DbtRuntimeError as error:
                raise DbtDatabaseError(without_stack(error.msg)) from None

    @contextmanager
    def session_settings(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Session settings of this thread's connection for the time of a block."""
        connection = self.get_thread_connection()
        if isinstance(connection.handle, SessionHandle):
            with connection.handle.settings(settings):
                yield
            return
        done: list[str] = []
        try:
            for key, value in settings.items():
                done.append(key)
                self._send(f"SET {_quoted(key)}={_quoted(value)}")
            yield
        finally:
            try:
                for key in done:
                    self._send(f"RESET {_quoted(key)}")
            except Exception:
                # A setting that stays behind could alter the next statement: drop the session.
                self.close(connection)
                raise

    def _send(self, sql: str) -> None:
        self.add_query(sql, auto_begin=False)


def _quoted(text: str) -> str:
    """A key or a value of SET: quoted, Spark takes both as they are."""
    return render(exp.to_identifier(text, quoted=True))


def _project_root(profile: Any) -> Path:
    """Of the project dbt runs; `dbt debug` has only a profile, so its flags are asked."""
    root = getattr(profile, "project_root", None)
    if root is None:
        from dbt.flags import get_flags

        root = getattr(get_flags(), "PROJECT_DIR", None)
    return Path(root or Path.cwd())
