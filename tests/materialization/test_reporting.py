"""What a refresh tells: the fields of run_results.json, the log line, and what it sent to Spark."""

from __future__ import annotations

import pytest

from dbt_ivm.adapter.session import SessionCursor
from tests.shop import Shop

WRITES = (
    "MERGE",
    "CREATE OR REPLACE TABLE",
    "CREATE OR REPLACE VIEW",
    "INSERT",
    "DELETE",
    "UPDATE",
)
QUIET = (
    *("DESCRIBE", "SHOW", "USE", "CREATE SCHEMA IF NOT EXISTS"),
    "SELECT CURRENT_TIMEZONE() AS `ZONE`, CURRENT_TIMESTAMP() AS `NOW`",  # reads no table
)


@pytest.fixture
def built(shop) -> Shop:
    shop.sql("create table {s}.src using delta as select id % 3 as k, id as v from range(6)")
    shop.model("m", "select k, count(*) as n, sum(v) as v from {s}.src group by k")
    shop.run()
    return shop


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    """Every statement of dbt in this process, without the comment dbt puts before it."""
    texts: list[str] = []
    execute = SessionCursor.execute

    def remember(self, sql, bindings=None):
        texts.append(sql.split("*/")[-1].strip())
        return execute(self, sql, bindings)

    monkeypatch.setattr(SessionCursor, "execute", remember)
    return texts


def test_fields_and_log_line_of_a_refresh(built, sent, capsys):
    shop = built
    shop.sql("insert into {s}.src values (7, 1), (7, 2)")  # a new group
    shop.sql("update {s}.src set v = 10 where v = 5")  # k = 2
    shop.sql("delete from {s}.src where k = 0")  # two rows, a whole group
    capsys.readouterr()
    sent.clear()
    done = shop.run()["m"]
    reason = f"changed: {shop.schema}.src"
    assert {key: done[key] for key in done if key not in ("_message", "code", "statements")} == {
        "ivm_strategy": "incremental",
        "ivm_reason": reason,
        "rows_inserted": 1,
        "rows_updated": 1,
        "rows_deleted": 1,
        "rows_affected": 3,
        "rows_read": 6,  # two came, one left and came again, two left
    }
    line = f"OK created sql ivm model {shop.schema}.m "
    assert f"incremental +1 ~1 -1 ({reason})" in next(
        text for text in capsys.readouterr().out.splitlines() if line in text
    )
    assert [text.split()[0] for text in sent if text.startswith(WRITES)] == ["MERGE"]
    planned = sent.index(next(text for text in sent if text.startswith("DESCRIBE")))
    assert done["statements"] == len(sent) - planned
    shop.check("m")


def test_nothing_changed_scans_and_writes_nothing(built, sent, capsys):
    shop = built
    commits = shop.sql("describe history {s}.m__ivm")
    capsys.readouterr()
    sent.clear()
    done = shop.run()["m"]
    assert (done["ivm_strategy"], done["rows_affected"], done["rows_read"]) == ("noop", 0, 0)
    assert "noop (nothing changed)" in capsys.readouterr().out
    assert [text for text in sent if not text.upper().startswith(QUIET)] == []
    assert shop.sql("describe history {s}.m__ivm") == commits


def test_a_change_that_nets_to_nothing_writes_no_row(built):
    shop = built
    shop.sql("insert into {s}.src values (9, 9)")
    shop.sql("delete from {s}.src where k = 9")
    shop.sql("update {s}.src set v = v + 1 where k = 1")
    shop.sql("update {s}.src set v = v - 1 where k = 1")
    done = shop.run()["m"]
    assert (done["ivm_strategy"], done["rows_affected"]) == ("incremental", 0)
    assert done["rows_read"] == 10
    files = "select count(distinct _metadata.file_path) from {s}.m__ivm"
    assert shop.sql(files) == shop.sql(files.replace("m__ivm", "m__ivm version as of 0"))
    assert shop.run()["m"]["ivm_strategy"] == "noop"
