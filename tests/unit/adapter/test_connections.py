"""Session settings over a wire, errors as dbt shows them, and the project of a profile."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.mp_context import get_mp_context
from dbt_common.exceptions import DbtDatabaseError

from dbt_ivm.adapter.connections import IvmConnectionManager
from dbt_ivm.adapter.credentials import IvmCredentials


class Wire:
    """Stands for a Thrift connection: keeps the statements, fails at those with a certain word."""

    def __init__(self, fails_at: str = "\0") -> None:
        self.sent: list[str] = []
        self.fails_at = fails_at
        self.closed = False

    def cursor(self) -> Wire:
        return self

    def execute(self, sql: str, bindings=None) -> None:
        self.sent.append(sql)
        if self.fails_at in sql:
            raise RuntimeError("gone\n\tat a.B.c(B.java:1)")

    def close(self) -> None:
        self.closed = True

    def rollback(self) -> None:
        pass


def manager(handle: Wire, **profile) -> IvmConnectionManager:
    credentials = IvmCredentials(method="session", schema="x", database=None)
    made = IvmConnectionManager(
        SimpleNamespace(credentials=credentials, **profile), get_mp_context()
    )
    made.set_thread_connection(
        Connection("ivm", "test", credentials, state=ConnectionState.OPEN, handle=handle)
    )
    return made


def test_settings_are_set_and_reset():
    wire = Wire()
    with manager(wire).session_settings({"a.b": "v", "odd`key": "x`y"}):
        wire.sent.append("body")
    assert wire.sent == [
        "SET `a.b`=`v`",
        "SET `odd``key`=`x``y`",
        "body",
        "RESET `a.b`",
        "RESET `odd``key`",
    ]


def test_settings_are_reset_when_the_body_fails():
    wire = Wire()
    with pytest.raises(ZeroDivisionError), manager(wire).session_settings({"a": "v"}):
        _ = 1 / 0
    assert wire.sent == ["SET `a`=`v`", "RESET `a`"]


def test_what_was_set_is_reset_when_a_set_fails():
    wire = Wire(fails_at="SET `b`=")
    with pytest.raises(DbtDatabaseError), manager(wire).session_settings({"a": "v", "b": "w"}):
        wire.sent.append("body")
    assert wire.sent == ["SET `a`=`v`", "SET `b`=`w`", "RESET `a`", "RESET `b`"]


def test_a_session_that_keeps_a_setting_is_given_up():
    wire = Wire(fails_at="RESET")
    with pytest.raises(DbtDatabaseError), manager(wire).session_settings({"a": "v"}):
        pass
    assert wire.closed


def test_errors_are_one_message_without_frames():
    made = manager(Wire(fails_at="select"))
    with pytest.raises(DbtDatabaseError) as caught:
        made.add_query("select 1")
    assert caught.value.msg == "gone"


def test_tables_belong_to_the_project(tmp_path):
    made = manager(Wire(), project_root=str(tmp_path))
    assert made.profile.credentials.local_dir == str(tmp_path / ".ivm")
