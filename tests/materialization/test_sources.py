"""Everything a model can read: tables rebuilt by dbt, views, ephemeral models, odd names."""

from __future__ import annotations

import pytest

from dbt_ivm.adapter.runner import Runner
from tests.shop import Shop


@pytest.fixture
def source(shop) -> Shop:
    shop.sql("create table {s}.src using delta as select id, id % 3 as k from range(9)")
    return shop


def test_rebuilt_tables_ephemeral_models_and_maintenance(source):
    shop = source
    shop.model("rebuilt", "select id, k from {s}.src", materialized="table", file_format="delta")
    shop.model("passed", "select * from {{ ref('rebuilt') }} where k < 2", materialized="ephemeral")
    shop.model("stage", "select k as key, id from {{ ref('passed') }}", materialized="view")
    shop.model(
        "m", "select key, count(*) as n, max(id) as top from {{ ref('stage') }} group by key"
    )
    shop.run()
    done = shop.run()["m"]  # the table was replaced by equal rows
    assert (done["ivm_strategy"], done["rows_affected"]) == ("incremental", 0)
    shop.sql("insert into {s}.src values (20, 1)")
    done = shop.run()["m"]
    assert (done["ivm_strategy"], done["rows_updated"]) == ("incremental", 1)
    shop.check("m")
    shop.sql("optimize {s}.rebuilt")
    shop.sql("alter table {s}.rebuilt add columns (unused string)")
    assert shop.run("--select", "m")["m"]["ivm_strategy"] == "noop"
    shop.sql("drop table {s}.rebuilt")
    done = shop.run()["m"]
    assert (done["ivm_strategy"], "dropped and recreated" in done["ivm_reason"]) == ("full", True)
    shop.check("m")


def test_names_that_need_care(shop):
    shop.sql(
        "create table {s}.`Odd_Table` (`__ivm_count` int, `q x` int, `Select` string, `a.b` int)"
        " using delta tblproperties ('delta.columnMapping.mode' = 'name')"
    )
    shop.sql(
        "insert into {s}.`Odd_Table` values"
        " (1, 1, 'it\\'s', 3), (1, 1, 'it\\'s', 3), (2, 5, null, 3)"
    )
    shop.model(
        "bag",
        "select `__ivm_count` as c, `q x` as `q``x`, `SELECT` as `Sel`, `a.b` as ab"
        " from {s}.`odd_table` where `Select` = 'it\\'s' or `select` is null",
    )
    shop.model(
        "grouped",
        "select t.`select` as `__ivm_k`, max(`__ivm_count`) as `Max`, sum(`a.b`) as s"
        " from {s}.`Odd_Table` as t group by `Select`",
    )
    shop.run()
    shop.check("bag", "grouped")
    shop.sql("delete from {s}.`Odd_Table` where `q x` = 5")
    shop.sql("update {s}.`Odd_Table` set `Select` = 'back\\\\slash' where `a.b` = 3")
    done = shop.run()
    assert {r["ivm_strategy"] for r in done.values()} == {"incremental"}
    shop.check("bag", "grouped")


def test_a_crash_between_commit_and_view_is_made_good(source, monkeypatch):
    shop = source
    shop.model("m", "select k, count(*) as n from {s}.src group by k")
    shop.run()
    shop.model("m", "select k, count(*) as many, sum(id) as total from {s}.src group by k")
    run = Runner._run

    def stop_at_the_view(self: Runner, sql: str) -> object:
        if sql.startswith("CREATE OR REPLACE VIEW"):
            raise RuntimeError("stopped here")
        return run(self, sql)

    with monkeypatch.context() as patched:
        patched.setattr(Runner, "_run", stop_at_the_view)
        assert not shop.dbt("run", ok=False).success
    assert shop.run()["m"]["ivm_strategy"] == "noop"
    assert shop.spark.table(f"{shop.schema}.m").columns == ["k", "many", "total"]
    shop.check("m")


def test_somebody_elses_table_is_left_alone(source):
    shop = source
    shop.sql("create table {s}.m__ivm using delta as select 1 as precious")
    shop.model("m", "select k from {s}.src")
    message = shop.dbt("run", ok=False).result.results[0].message
    assert "m__ivm exists and is not an extent of dbt-ivm" in message
    assert shop.sql("select * from {s}.m__ivm") == [(1,)]


def test_grants_go_to_the_view(source):
    shop = source
    # Open-source Spark has no GRANT, so the project records what dbt would grant on.
    macro = (
        "{% macro apply_grants(relation, grant_config, should_revoke=True) %}"
        "{% do run_query('create table if not exists ' ~ target.schema ~ '.granted using delta as"
        " select \"' ~ relation.identifier ~ '\" as name, \"' ~ grant_config['select'][0] ~ '\""
        " as who') %}{% endmacro %}"
    )
    (shop.folder / "macros").mkdir()
    (shop.folder / "macros/grants.sql").write_text(macro)
    shop.model("m", "select k from {s}.src", grants={"select": ["reader"]})
    shop.run()
    assert shop.sql("select * from {s}.granted") == [("m", "reader")]
