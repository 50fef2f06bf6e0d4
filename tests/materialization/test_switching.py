"""Switching a model between materializations leaves nothing behind; full refresh rebuilds."""

from __future__ import annotations

from tests.shop import Shop

SQL = "select k, count(*) as n from {s}.src group by k"


def relations(shop: Shop) -> dict[str, str]:
    """Everything in the schema but the source: name to kind."""
    rows = shop.sql("show table extended in {s} like '*'")
    kinds = {r["tableName"]: "view" if "Type: VIEW" in r["information"] else "table" for r in rows}
    kinds.pop("src")
    return kinds


def test_a_model_switches_to_ivm_and_back(shop):
    shop.sql("create table {s}.src using delta as select id % 2 as k from range(5)")
    maintained = {"m": "view", "m__ivm": "table"}
    for materialized, expected in (
        ("table", {"m": "table"}),
        ("ivm", maintained),
        ("table", {"m": "table"}),
        ("ivm", maintained),
        ("view", {"m": "view"}),
        ("ivm", maintained),
        ("incremental", {"m": "table"}),
        ("ivm", maintained),
    ):
        extra = {"incremental_strategy": "append"} if materialized == "incremental" else {}
        shop.model("m", SQL, materialized=materialized, file_format="delta", **extra)
        shop.dbt("run")
        assert relations(shop) == expected, materialized
        assert sorted(shop.sql("select * from {s}.m")) == [(0, 3), (1, 2)]


def test_full_refresh_and_changed_definitions(shop):
    shop.sql("create table {s}.src using delta as select id, id % 2 as k from range(6)")
    shop.model("m", SQL)
    assert shop.run()["m"]["ivm_reason"] == "first build"
    full = shop.run("--full-refresh")["m"]
    assert (full["ivm_strategy"], full["ivm_reason"]) == ("full", "asked for with --full-refresh")
    shop.model("m", "-- a comment\nSELECT  k,\n COUNT( * )  AS n FROM {s}.src GROUP BY 1")
    assert shop.run()["m"]["ivm_strategy"] == "noop"
    # What lives in the view alone changes without touching the extent.
    shop.model("m", SQL.replace("count(*) as n", "count(*) + 1 as more") + " having count(*) > 1")
    assert shop.run()["m"]["ivm_strategy"] == "noop"
    assert shop.spark.table(f"{shop.schema}.m").columns == ["k", "more"]
    shop.check("m")
    shop.model("m", "select k, count(*) as n, sum(id) as s from {s}.src group by k")
    done = shop.run()["m"]
    assert (done["ivm_strategy"], done["ivm_reason"]) == ("full", "the definition changed")
    shop.sql("insert into {s}.src values (9, 1), (10, null)")
    assert shop.run()["m"]["ivm_strategy"] == "incremental"
    shop.check("m")
