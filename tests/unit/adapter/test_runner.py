"""The runner against a session that answers from a script: trouble, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_ivm.adapter.consistency import consistency_query
from dbt_ivm.adapter.runner import Request, Runner
from dbt_ivm.adapter.spark_facts import Pins
from dbt_ivm.errors import IvmError
from dbt_ivm.plan.model import Docs, Strategy
from dbt_ivm.plan.settings import Settings
from dbt_ivm.sources.format import Row

METADATA = "spark.databricks.delta.commitInfo.userMetadata"
Failing = Callable[[str], str | None]


class Scripted:
    """A Delta table `s.src` with a model on it; statements that write fail as the script says."""

    def __init__(self, fails: Failing = lambda _: None) -> None:
        self.fails = fails
        self.written: list[str] = []
        self.watermark: str | None = None
        self.source_version = 3
        self.zone = "UTC"
        self.source = "source"
        self.operation = "WRITE"
        self.extent_version = -1
        self._settings: dict[str, str] = {}

    @contextmanager
    def settings(self, values: Mapping[str, str]) -> Iterator[None]:
        self._settings = dict(values)
        yield
        self._settings = {}

    def run(self, sql: str) -> list[Row]:
        extent = "m__ivm" in sql
        if sql.startswith("DESCRIBE TABLE EXTENDED"):
            return [_detail("k", "int"), _detail("", ""), _detail("Provider", "delta")]
        if sql.startswith("DESCRIBE DETAIL"):
            properties = {"delta.enableChangeDataFeed": "true"}
            return [{"id": self.source, "properties": properties, "sizeInBytes": 4000}]
        if sql.startswith("SHOW TBLPROPERTIES"):
            return [{"key": "dbt_ivm.model", "value": "m"}]
        if sql.startswith("DESCRIBE HISTORY"):
            return self._history(extent)
        if sql.startswith("DESCRIBE QUERY"):
            return [_detail("k", "int")]
        if sql.startswith("SELECT CURRENT_TIMEZONE()"):
            return [{"zone": self.zone, "now": "2026-01-01 00:00:00"}]
        return self._write(sql)

    def _history(self, extent: bool) -> list[Row]:
        newest = self.extent_version if extent else self.source_version
        return [
            {
                "version": version,
                "timestamp": f"2026-01-01 00:00:0{version}",
                "operation": "MERGE" if extent else self.operation,
                "userMetadata": self.watermark if extent else None,
                "operationParameters": {"mode": "Append"},
                "operationMetrics": {"numTargetRowsInserted": "1"} if extent else {},
            }
            for version in range(newest, -1, -1)
        ]

    def _write(self, sql: str) -> list[Row]:
        error = self.fails(sql)
        self.written.append(sql)
        if error:
            raise DbtRuntimeError(error)
        if METADATA in self._settings:
            self.watermark = self._settings[METADATA]
            self.extent_version += 1
        return []


def _detail(name: str, value: str) -> dict[str, Any]:
    return {"col_name": name, "data_type": value}


def request_for(session: Scripted, **changes: Any) -> Request:
    given = {"model": "m", "sql": "select k from s.src", "view": ("s", "m")}
    given |= {"extent": ("s", "m__ivm"), "settings": Settings(), "kind": "view", "view_hash": None}
    given |= {"extent_exists": session.extent_version >= 0, "full_refresh": False, "docs": Docs()}
    return Request(**{**given, **changes})


def built(fails: Failing = lambda _: None) -> Scripted:
    """A model that was built; then the source moved on, and the script begins."""
    session = Scripted()
    Runner(session, Pins()).refresh(request_for(session))
    session.source_version += 1
    session.written.clear()
    session.fails = fails
    return session


def refreshed(session: Scripted) -> tuple[Strategy, str]:
    plan = Runner(session, Pins()).refresh(request_for(session)).plan
    return plan.strategy, plan.reason


def failing_once(message: str, word: str = "MERGE") -> Failing:
    left = [message]
    return lambda sql: left.pop() if left and sql.startswith(word) else None


def test_a_refresh_without_trouble():
    session = built()
    assert refreshed(session) == (Strategy.INCREMENTAL, "changed: s.src")
    assert "TABLE_CHANGES" in session.written[0]
    assert refreshed(session) == (Strategy.NOOP, "nothing changed")


def test_a_refused_feed_is_read_as_a_difference():
    session = built(failing_once("[DELTA_MISSING_CHANGE_DATA] version 4"))
    assert refreshed(session)[0] is Strategy.INCREMENTAL
    first, second, *_ = session.written
    assert "TABLE_CHANGES" in first
    assert "TABLE_CHANGES" not in second
    assert "VERSION AS OF 3" in second


def test_lost_history_leads_to_a_rebuild():
    session = built(failing_once("[FAILED_READ_FILE.FILE_NOT_EXIST] x.parquet"))
    strategy, reason = refreshed(session)
    assert strategy is Strategy.FULL
    assert reason == "a source lost history that the refresh needs, by vacuum or log clean-up"


def test_trouble_that_stays_is_an_error():
    """A source that is broken at its head: the rebuild meets the same missing file."""
    session = built(lambda sql: "[FAILED_READ_FILE.FILE_NOT_EXIST]" if "src" in sql else None)
    with pytest.raises(DbtRuntimeError, match="FILE_NOT_EXIST"):
        refreshed(session)
    assert [sql.split()[0] for sql in session.written] == ["MERGE", "CREATE"]


def test_any_other_error_is_passed_on():
    session = built(lambda sql: "[DIVIDE_BY_ZERO]" if sql.startswith("MERGE") else None)
    with pytest.raises(DbtRuntimeError, match="DIVIDE_BY_ZERO"):
        refreshed(session)
    assert len(session.written) == 1


def test_a_lost_race_is_planned_again_but_not_for_ever(monkeypatch):
    monkeypatch.setattr("dbt_ivm.adapter.runner.time.sleep", lambda _: None)
    session = built(failing_once("DELTA_CONCURRENT_APPEND"))
    assert refreshed(session)[0] is Strategy.INCREMENTAL
    session = built(lambda sql: "DELTA_CONCURRENT_APPEND" if sql.startswith("MERGE") else None)
    with pytest.raises(IvmError, match="other runs kept changing"):
        refreshed(session)
    assert len(session.written) == 5


def test_a_first_build_that_another_run_finished_first():
    session = Scripted()

    def overtake(sql: str) -> str | None:
        session.fails = lambda _: None
        assert refreshed(session) == (Strategy.FULL, "first build")
        return "[DELTA_PROTOCOL_CHANGED] multiple writers are writing to an empty directory"

    session.fails = overtake
    assert refreshed(session) == (Strategy.NOOP, "nothing changed")


def test_missing_files_are_never_ignored():
    session = built()
    seen = []
    session.fails = lambda _: seen.append(dict(session._settings)) or None
    refreshed(session)
    assert seen[0]["spark.sql.files.ignoreMissingFiles"] == "false"
    assert set(seen[0]) >= {METADATA, "spark.databricks.delta.write.txnVersion"}


def test_another_time_zone_rebuilds():
    session = built()
    session.zone = "America/New_York"
    reason = "the time zone of the session changed from UTC to America/New_York"
    assert refreshed(session) == (Strategy.FULL, reason)
    assert refreshed(session) == (Strategy.NOOP, "nothing changed")


def judged(session: Scripted) -> str:
    return consistency_query(Runner(session, Pins()), request_for(session))


def test_the_judge_reads_the_version_of_the_watermark():
    assert "s.src VERSION AS OF 3" in judged(built())


def test_the_judge_reads_the_head_where_nothing_changed_since():
    """The watermark stays where it is, and its files may be compacted and vacuumed by now."""
    session = built()
    session.operation = "OPTIMIZE"
    assert "s.src VERSION AS OF 4" in judged(session)


def test_the_judge_says_what_is_lost():
    session = built()
    session.source = "another id"
    session.source_version = 0
    with pytest.raises(IvmError, match=r"cannot be compared .* `s.src` is another table now"):
        judged(session)


@pytest.mark.parametrize("value", [None, "false"])
def test_a_refresh_has_small_files_compacted_unless_the_model_says_otherwise(value):
    session = Scripted()
    properties = (("delta.autoOptimize.autoCompact", value),) if value else ()
    seen = []
    session.fails = lambda _: seen.append(dict(session._settings)) or None
    for _ in range(2):
        told = request_for(session, settings=Settings(properties=properties))
        Runner(session, Pins()).refresh(told)
        session.source_version += 1
    compacts = ["spark.databricks.delta.autoCompact.enabled" in each for each in seen if each]
    assert compacts == [False, value is None], "a build, and a refresh"
