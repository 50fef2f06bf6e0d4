"""dbt's configs on ivm models: each has its effect in the catalog, each mistake its sentence."""

from __future__ import annotations

import pytest

from tests.shop import Shop


@pytest.fixture
def source(shop) -> Shop:
    shop.sql(
        "create table {s}.src using delta as"
        " select cast(id % 2 as int) as k, cast(id as decimal(8,2)) as v from range(5)"
    )
    return shop


def details(shop: Shop, table: str) -> dict[str, str]:
    rows = shop.sql(f"describe table extended {table}")
    return {r["col_name"]: r["data_type"] for r in rows}


def test_storage_docs_hooks_and_names(source, tmp_path):
    shop = source
    shop.model(
        "m",
        "select k as part, v from {s}.src",
        alias="renamed",
        partition_by="part",
        location_root=str(tmp_path / "root"),
        tblproperties={"owner.team": "it's us"},
        tags=["nightly"],
        pre_hook="create table if not exists {{ this.schema }}.hooked (x int) using delta",
        post_hook=["insert into {{ this.schema }}.hooked select count(*) from {{ this }}"],
        persist_docs={"relation": True, "columns": True},
    )
    shop.model("clustered", "select k, sum(v) as v from {s}.src group by k", clustered_by=["k"])
    columns = [{"name": "part", "description": "it's the key"}]
    shop.properties({"models": [{"name": "m", "description": "What's kept", "columns": columns}]})
    shop.run("--select", "tag:nightly", "clustered")
    extent = shop.sql("describe detail {s}.renamed__ivm")[0]
    assert extent["partitionColumns"] == ["part"]
    assert extent["location"].endswith("/root/renamed__ivm")
    assert extent["properties"]["owner.team"] == "it's us"
    assert shop.sql("describe detail {s}.clustered__ivm")[0]["clusteringColumns"] == ["k"]
    assert shop.sql("select x from {s}.hooked") == [(5,)]
    view = details(shop, "{s}.renamed")
    assert view["Comment"] == "What's kept"
    comments = {r["col_name"]: r["comment"] for r in shop.sql("describe {s}.renamed")}
    assert comments == {"part": "it's the key", "v": None}
    shop.dbt("docs", "generate")
    shop.sql("insert into {s}.src values (7, 1.5)")
    assert shop.run()["m"]["ivm_strategy"] == "incremental"
    assert shop.sql("select max(x) from {s}.hooked") == [(6,)]


def test_a_custom_schema_and_upstream_in_it(source):
    shop = source
    shop.model("up", "select k, sum(v) as v from {s}.src group by k", schema="deep")
    shop.model("down", "select count(*) as n from {{ ref('up') }}")
    try:
        shop.run()
        assert shop.sql("select * from {s}.down") == [(2,)]
        assert shop.sql("select count(*) from {s}_deep.up__ivm") == [(2,)]
    finally:
        shop.sql("drop schema {s}_deep cascade")


def test_contracts(source):
    shop = source
    shop.model("m", "select k, sum(v) as v from {s}.src group by k")
    columns = [{"name": "k", "data_type": "int"}, {"name": "v", "data_type": "decimal(18,2)"}]
    model = {"name": "m", "config": {"contract": {"enforced": True}}, "columns": columns}
    shop.properties({"models": [model]})
    shop.run()
    shop.check("m")
    columns[1]["data_type"] = "string"
    shop.properties({"models": [model]})
    failed = shop.dbt("run", ok=False).result.results[0]
    assert "contract" in failed.message


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"ivm_refresh": "fast"}, ["ivm_refresh", "`auto`", "`incremental`", "`full`"]),
        ({"ivm_on_unsupported": 3}, ["ivm_on_unsupported", "`warn`", "`error`"]),
        ({"ivm_refesh": "auto"}, ["unknown setting `ivm_refesh`", "`ivm_refresh`"]),
        ({"file_format": "parquet"}, ["parquet", "`delta`"]),
        ({"partition_by": "n"}, ["partition_by", "`n`", "columns of the extent: k"]),
    ],
)
def test_wrong_settings_are_named_with_what_is_allowed(source, config, words):
    source.model("m", "select k, count(*) as n from {s}.src group by k", **config)
    message = source.dbt("run", ok=False).result.results[0].message
    assert "model.shop.m" in message
    for word in words:
        assert word in message


def test_a_database_that_is_no_catalog_is_named(source):
    source.model("m", "select k from {s}.src", database="elsewhere")
    result = source.dbt("run", ok=False)
    assert not result.success
    assert "elsewhere" in str(result.exception)


def test_sql_without_a_rule(source):
    shop = source
    shop.model("m", "select k from {s}.src sort by k")
    done = shop.run()["m"]
    assert done["ivm_strategy"] == "full"
    assert "SORT BY in the model" in done["ivm_warning"]
    assert shop.run()["m"]["ivm_strategy"] == "noop"
    shop.sql("insert into {s}.src values (8, 0)")
    done = shop.run()["m"]
    assert (done["ivm_strategy"], done["rows_inserted"]) == ("full", 6)
    assert done["ivm_reason"] == "SORT BY in the model has no rule"
    shop.check("m")
    shop.model("m", "select k from {s}.src sort by k", ivm_on_unsupported="error")
    message = shop.dbt("run", ok=False).result.results[0].message
    assert "SORT BY" in message
    assert "ivm_on_unsupported" in message
    shop.model("m", "select k, rand() as r from {s}.src")
    assert "rand()" in shop.run()["m"]["ivm_warning"]
    assert shop.run()["m"]["ivm_strategy"] == "full"
