"""What dbt's other commands and flags do to ivm models: none of them moves a watermark."""

from __future__ import annotations

import json

import pytest

from tests.shop import Shop, watermark_of

SQL = "select k, count(*) as n, sum(v) as v from {s}.src group by k"


@pytest.fixture
def source(shop) -> Shop:
    shop.sql("create table {s}.src using delta as select id % 2 as k, id as v from range(5)")
    return shop


def test_empty_never_moves_a_watermark(source):
    shop = source
    sources = [{"name": "raw", "schema": shop.schema, "tables": [{"name": "src"}]}]
    shop.properties({"sources": sources})
    shop.model("m", SQL.replace("{s}.src", "{{ source('raw', 'src') }}"))
    shop.run("--empty")
    assert shop.sql("select * from {s}.m") == []
    assert watermark_of(shop, "m") is None
    done = shop.run()["m"]
    assert done["ivm_strategy"] == "full"
    before = watermark_of(shop, "m")
    shop.sql("insert into {s}.src values (7, 7)")
    assert shop.run("--empty")["m"]["ivm_strategy"] == "noop"
    assert watermark_of(shop, "m") == before
    assert shop.sql("select count(*) from {s}.m") == [(2,)]
    assert shop.run()["m"]["ivm_strategy"] == "incremental"
    shop.check("m")


def test_a_sample_never_moves_a_watermark(shop):
    days = "date_add(date '2026-01-01', cast(id as int))"
    shop.sql(
        f"create table {{s}}.src using delta as select id % 2 as k, {days} as day from range(4)"
    )
    table = {"name": "src", "config": {"event_time": "day"}}
    shop.properties({"sources": [{"name": "raw", "schema": shop.schema, "tables": [table]}]})
    shop.model("m", "select k, count(*) as n from {{ source('raw', 'src') }} group by k")
    sample = ("--sample", "{'start': '2026-01-02', 'end': '2026-01-04'}")
    assert shop.run(*sample)["m"]["ivm_strategy"] == "full"
    assert sorted(shop.sql("select * from {s}.m")) == [(0, 1), (1, 1)]
    assert watermark_of(shop, "m") is None
    assert shop.run()["m"]["ivm_strategy"] == "full"
    before = watermark_of(shop, "m")
    shop.sql("insert into {s}.src values (0, date '2026-01-02')")
    assert shop.run(*sample)["m"]["ivm_strategy"] == "noop"
    assert watermark_of(shop, "m") == before
    assert sorted(shop.sql("select * from {s}.m")) == [(0, 2), (1, 2)]
    assert shop.run()["m"]["ivm_strategy"] == "incremental"
    shop.check("m")


def test_docs_show_a_model_as_they_show_a_view(source):
    shop = source
    shop.model("m", SQL)
    shop.model("plain", SQL, materialized="view")
    shop.run()
    shop.dbt("docs", "generate")
    nodes = json.loads((shop.folder / "target/catalog.json").read_text())["nodes"]
    shown, plain = nodes["model.shop.m"], nodes["model.shop.plain"]
    assert list(shown["columns"]) == ["k", "n", "v"]
    assert shown["columns"] == plain["columns"]
    assert shown["metadata"] == {**plain["metadata"], "name": "m"}


def test_explain_before_and_after_the_first_build(source, capsys):
    shop = source
    shop.model("m", SQL + " having count(*) > 1")

    def explained() -> str:
        capsys.readouterr()
        shop.dbt("run-operation", "ivm_explain", "--args", "{model: m}")
        return capsys.readouterr().out

    text = explained()
    assert "Strategy  full (first build)" in text
    assert "extent, combinable" in text
    assert "CREATE OR REPLACE TABLE" in text
    assert shop.sql("show tables in {s} like 'm*'") == []
    shop.run()
    assert "Strategy  noop (nothing changed)" in explained()
    shop.sql("delete from {s}.src where v = 1")
    text = explained()
    assert "Strategy  incremental" in text
    assert "change data feed" in text
    assert "MERGE INTO" in text
    shop.check("m")
    assert not shop.dbt("run-operation", "ivm_explain", "--args", "{model: x}", ok=False).success
    assert "no single ivm model `x`; ivm models: m." in capsys.readouterr().out


def test_the_consistency_test_finds_what_was_tampered_with(source):
    shop = source
    shop.model("m", SQL)
    shop.model("rows", "select k, v % 2 as odd from {s}.src")
    models = [{"name": name, "data_tests": ["ivm_consistent"]} for name in ("m", "rows")]
    shop.properties({"models": models})
    shop.run()
    shop.sql("insert into {s}.src values (0, 100)")
    shop.dbt("test")  # the sources have moved on; the models stand where they say
    generation = watermark_of(shop, "m")
    shop.spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", generation.encode())
    try:
        shop.sql("update {s}.m__ivm set __ivm_count = __ivm_count + 1 where k = 0")
    finally:
        shop.spark.conf.unset("spark.databricks.delta.commitInfo.userMetadata")
    results = shop.dbt("test", ok=False).result.results
    assert {r.node.name.split("_")[-2]: r.failures for r in results} == {"m": 2, "rows": 0}
    shop.sql("update {s}.m__ivm set __ivm_count = 0 where k = 1")
    done = shop.run()["m"]
    assert done["ivm_strategy"] == "full"
    assert "UPDATE outside dbt-ivm" in done["ivm_reason"]
    shop.dbt("test")


def test_clone_and_defer(source, tmp_path):
    shop = source
    shop.model("m", SQL)
    shop.model("down", "select sum(n) as n from {{ ref('m') }}")
    shop.run()
    state = str(shop.folder / "target")
    other = Shop(shop.spark, tmp_path / "other", shop.schema + "_dev")
    try:
        other.model("m", SQL.replace("{s}", shop.schema))
        other.model("down", "select sum(n) as n from {{ ref('m') }}")
        other.dbt("run", "--select", "down", "--defer", "--state", state)
        assert other.sql("select * from {s}.down") == [(5,)]
        shop.sql("insert into {s}.src values (0, 1)")
        shop.run()
        done = other.run("--select", "down", "--defer", "--state", state)["down"]
        assert done["ivm_strategy"] == "incremental"
        assert [mark.table for mark in watermark_of(other, "down").marks] == [
            (shop.schema, "m__ivm")
        ]
        other.check("down")
        assert other.sql("select * from {s}.down") == [(6,)]
        other.dbt("clone", "--select", "m", "--state", state)
        assert sorted(other.sql("select k, n from {s}.m")) == [(0, 4), (1, 2)]
        other.run("--select", "m")
        other.check("m")
    finally:
        other.sql("drop schema {s} cascade")
