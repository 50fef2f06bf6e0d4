"""Connections inside the process: their own settings, one run per statement, clean errors."""

from __future__ import annotations

import datetime as dt
import logging
import threading
import time
from decimal import Decimal

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt_ivm.adapter.credentials import IvmCredentials
from dbt_ivm.adapter.session import SessionHandle, connect, literal

PARTITIONS = "spark.sql.shuffle.partitions"


@pytest.fixture
def handle(spark) -> SessionHandle:
    return opened()


def opened(**parameters) -> SessionHandle:
    given = {"method": "session", "schema": "x", "server_side_parameters": parameters}
    return connect(IvmCredentials.from_dict(given))


def rows(handle: SessionHandle, sql: str) -> list[tuple]:
    cursor = handle.cursor()
    cursor.execute(sql)
    return [tuple(row) for row in cursor.fetchall()]


def test_an_active_session_is_used_with_what_it_has(spark):
    spark.conf.set("my.setting", "seen")
    spark.range(3).createOrReplaceTempView("three")
    try:
        handle = opened()
        assert handle.session.sparkContext is spark.sparkContext
        assert handle.session.conf.get("my.setting") == "seen"
        assert rows(handle, "select count(*) from three") == [(3,)]
    finally:
        spark.conf.unset("my.setting")
        spark.catalog.dropTempView("three")


def test_parameters_are_applied_once_so_a_set_sticks(spark):
    handle = opened(**{PARTITIONS: "5", "spark.sql.warehouse.dir": "/static"})
    assert handle.session.conf.get(PARTITIONS) == "5"
    rows(handle, f"set {PARTITIONS}=7")
    assert rows(handle, f"set {PARTITIONS}") == [(PARTITIONS, "7")]
    assert spark.conf.get(PARTITIONS) not in ("5", "7")


def test_settings_and_views_are_nobody_elses(spark):
    one, two = opened(), opened()
    rows(one, "set my.own=1")
    rows(one, "create temporary view mine as select 1 as id")
    assert two.session.conf.get("my.own", None) is None
    with pytest.raises(DbtDatabaseError, match="TABLE_OR_VIEW_NOT_FOUND"):
        rows(two, "select * from mine")


def test_settings_of_a_block_end_with_it(handle):
    conf = handle.session.conf
    conf.set(PARTITIONS, "9")
    with handle.settings({PARTITIONS: "1", "my.block": "a;b`${env:HOME}"}):
        assert (conf.get(PARTITIONS), conf.get("my.block")) == ("1", "a;b`${env:HOME}")
    assert (conf.get(PARTITIONS), conf.get("my.block", None)) == ("9", None)
    with pytest.raises(ZeroDivisionError), handle.settings({"my.block": "x"}):
        _ = 1 / 0
    assert conf.get("my.block", None) is None


def test_a_query_nobody_fetches_still_fails(handle):
    with pytest.raises(DbtDatabaseError) as caught:
        handle.cursor().execute("select raise_error('no good') from range(2)")
    assert "no good" in caught.value.msg
    assert "\tat " not in caught.value.msg
    assert "stacktrace" not in caught.value.msg


def test_an_error_is_not_written_to_stderr_as_well(handle, monkeypatch):
    written: list[logging.LogRecord] = []
    listening = logging.Handler()
    listening.emit = written.append
    monkeypatch.setattr(logging.getLogger("SQLQueryContextLogger"), "handlers", [listening])
    with pytest.raises(DbtDatabaseError, match="no_such_column"):
        rows(handle, "select no_such_column")
    assert written == []


def test_a_statement_runs_once(handle):
    rows(handle, "create schema if not exists once")
    rows(handle, "create or replace table once.t (id int) using delta")
    cursor = handle.cursor()
    cursor.execute("insert into once.t values (1);")
    cursor.fetchall()
    assert rows(handle, "select * from once.t") == [(1,)]


def test_fetching_in_parts(handle):
    cursor = handle.cursor()
    cursor.execute("select id from range(4) order by id")
    assert cursor.description[0][:2] == ("id", "bigint")
    assert cursor.fetchone()[0] == 0
    assert [row[0] for row in cursor.fetchmany(2)] == [1, 2]
    assert [row[0] for row in cursor.fetchall()] == [3]
    assert cursor.fetchone() is None


def test_cancel_stops_this_connection_only(spark):
    slow, other = opened(), opened()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            rows(
                slow,
                "select count(*) from range(100000) where reflect("
                "'java.util.concurrent.TimeUnit', 'valueOf', 'DAYS') is null "
                "or sha2(repeat(cast(id as string), 20000), 512) = ''",
            )
        except DbtDatabaseError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(1.5)
    assert thread.is_alive()
    slow.cancel()
    assert rows(other, "select 1") == [(1,)]
    thread.join(20)
    assert not thread.is_alive()
    assert "cancel" in errors[0].msg.lower()


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (None, "NULL"),
        (True, "true"),
        (9007199254740993, "9007199254740993"),
        (Decimal("1E+3"), "1000"),
        (1.5, "1.5"),
        (float("nan"), "double('nan')"),
        ("O'Brien \\ Sons", "'O\\'Brien \\\\ Sons'"),
        (dt.datetime(2024, 1, 2, 3, 4, 5, 6), "'2024-01-02 03:04:05.000006'"),
    ],
)
def test_literal(value, sql):
    assert literal(value) == sql
