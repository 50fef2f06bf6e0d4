"""Everything that can happen to an extent and its view: noticed, made good, never built upon."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.shop import Shop, watermark_of

SQL = "select k, count(*) as n, sum(v) as v from {s}.src group by k"


@pytest.fixture
def source(shop) -> Shop:
    shop.sql("create table {s}.src using delta as select id, id % 3 as k, id as v from range(9)")
    return shop


def clean_log(shop: Shop, name: str) -> None:
    """What log retention does: commits before a checkpoint are gone."""
    for number in range(7):
        shop.sql(f"alter table {{s}}.{name}__ivm set tblproperties ('a' = '{number}')")
    location = shop.sql(f"describe detail {{s}}.{name}__ivm")[0]["location"].removeprefix("file:")
    for number in range(6):
        (Path(location) / f"_delta_log/{number:020}.json").unlink()


def written_by(change: Callable[[dict], None]) -> Callable[[Shop, str], None]:
    """The newest commit of the extent carries a watermark of another release."""

    def write(shop: Shop, name: str) -> None:
        data = json.loads(base64.b64decode(watermark_of(shop, name).encode()))
        change(data["dbt_ivm"])
        metadata = base64.b64encode(json.dumps(data).encode()).decode()
        shop.spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", metadata)
        try:
            shop.sql(f"update {{s}}.{name}__ivm set `__ivm_count` = 0 where k = 1")
        finally:
            shop.spark.conf.unset("spark.databricks.delta.commitInfo.userMetadata")

    return write


def running(*statements: str) -> Callable[[Shop, str], None]:
    def run(shop: Shop, name: str) -> None:
        for statement in statements:
            shop.sql(statement.replace("{m}", f"{{s}}.{name}"))

    return run


# Per model: what happens, and the strategy and reason of the next run.
EVENTS: dict[str, tuple[Callable[[Shop, str], None], str, str]] = {
    "kept": (
        running("optimize {m}__ivm", "vacuum {m}__ivm", "alter table {m}__ivm add columns (x int)"),
        "noop",
        "nothing changed",
    ),
    "dropped": (running("drop table {m}__ivm"), "full", "the extent is gone"),
    "truncated": (running("truncate table {m}__ivm"), "full", "outside dbt-ivm"),
    "edited": (
        running("update {m}__ivm set `__ivm_count` = 1 where k = 1", "optimize {m}__ivm"),
        "full",
        "the extent was changed by UPDATE outside dbt-ivm",
    ),
    "restored": (
        running("delete from {m}__ivm", "restore table {m}__ivm to version as of 0"),
        "full",
        "the extent was changed by RESTORE outside dbt-ivm",
    ),
    "cleaned": (clean_log, "full", "the log of the extent was cleaned up"),
    "unseen": (running("drop view {m}"), "noop", "nothing changed"),
    "covered": (running("create or replace view {m} as select 1 as one"), "noop", "nothing"),
    "tabled": (
        running("drop view {m}", "create table {m} using delta as select 1 as one"),
        "noop",
        "nothing changed",
    ),
    "older": (
        written_by(lambda mark: mark.update(format=0)),
        "full",
        "the stored format changed",
    ),
    "newer": (
        written_by(lambda mark: mark.update(later=1, package="9.9")),
        "full",
        "the extent was written by dbt-ivm 9.9",
    ),
    "partitioned": (lambda *_: None, "full", "the setting partition_by changed"),
    "redefined": (lambda *_: None, "full", "the definition changed"),
}


def test_whatever_happens_to_an_extent(source):
    shop = source
    for name in EVENTS:
        storage = {"tblproperties": {"delta.checkpointInterval": 3}} if name == "cleaned" else {}
        shop.model(name, SQL, **storage)
    shop.run()
    for name, (event, _, _) in EVENTS.items():
        event(shop, name)
    shop.model("partitioned", SQL, partition_by="k")
    shop.model("redefined", SQL.replace("sum(v)", "sum(v + 1)"))
    done = shop.run()
    for name, (_, strategy, reason) in EVENTS.items():
        assert done[name]["ivm_strategy"] == strategy, (name, done[name])
        assert reason in done[name]["ivm_reason"], name
    shop.check(*EVENTS)
    shop.model("redefined", SQL)
    assert shop.run("--select", "redefined")["redefined"]["ivm_reason"] == "the definition changed"
    shop.check("redefined")


def operation(shop: Shop, capsys: pytest.CaptureFixture[str], name: str, arguments: str) -> str:
    capsys.readouterr()
    shop.dbt("run-operation", name, "--args", arguments)
    return capsys.readouterr().out


def test_repair_writes_only_what_differs(source, capsys):
    shop = source
    shop.model("m", SQL)
    shop.model("rows", "select k, v % 2 as odd from {s}.src")
    shop.run()
    shop.sql("insert into {s}.src values (100, 0, 100)")  # later than the watermark
    before = watermark_of(shop, "m")
    assert "noop (nothing differs)" in operation(shop, capsys, "ivm_repair", "{model: m}")
    shop.sql("update {s}.m__ivm set `__ivm_count` = -1 where k = 0")
    shop.sql("delete from {s}.m__ivm where k = 1")
    shop.sql("insert into {s}.m__ivm select 77, * except (k) from {s}.m__ivm where k = 2")
    said = operation(shop, capsys, "ivm_repair", "{model: m}")
    assert "model.shop.m: incremental +1 ~1 -1 (groups that differed: 3)" in said
    after = watermark_of(shop, "m")
    assert after == replace(before, generation=before.generation + 1, writer=after.writer)
    shop.check("m")
    shop.sql("insert into {s}.rows__ivm select * from {s}.rows__ivm limit 1")
    said = operation(shop, capsys, "ivm_repair", "{model: rows}")
    assert "rebuilt: a group is stored twice" in said
    shop.check("rows")
    assert shop.run()["m"]["ivm_strategy"] == "incremental"
    shop.check("m")


def test_extents_in_a_schema_of_their_own_and_those_left_behind(source, capsys):
    shop = source
    kept = f"{shop.schema}_state"
    try:
        shop.model("m", SQL, ivm_schema=kept)
        shop.model("down", "select sum(n) as n from {{ ref('m') }}")
        shop.run()
        shop.sql("delete from {s}.src where id = 1")
        assert {r["ivm_strategy"] for r in shop.run().values()} == {"incremental"}
        assert shop.sql("show tables in {s} like 'm__ivm'") == []
        extent = f"{shop.schema}__m__ivm"
        assert [r["tableName"] for r in shop.sql(f"show tables in {kept}")] == [extent]
        shop.check("down")
        shop.check("m", extent=(kept, extent))
        assert "every extent is owned" in operation(shop, capsys, "ivm_cleanup", "{}")
        (shop.folder / "models/down.sql").rename(shop.folder / "models/renamed.sql")
        shop.run()
        said = operation(shop, capsys, "ivm_cleanup", "{}")
        assert f"not owned: {shop.schema}.down, made for model.shop.down" in said
        assert f"not owned: {shop.schema}.down__ivm, made for model.shop.down" in said
        said = operation(shop, capsys, "ivm_cleanup", "{drop: true}")
        assert f"dropped {shop.schema}.down__ivm" in said
        left = {r["tableName"] for r in shop.sql("show tables in {s}")}
        assert left == {"src", "m", "renamed", "renamed__ivm"}
        shop.model("m", SQL, ivm_schema=kept, materialized="table", file_format="delta")
        shop.dbt("run")
        assert shop.sql(f"show tables in {kept}") == []
    finally:
        shop.sql(f"drop schema if exists {kept} cascade")
