"""Delta and Iceberg in every mix: sources of either or both, extents in either."""

from __future__ import annotations

import pytest

from tests.shop import Shop

pytestmark = pytest.mark.slow

# Where orders and customers stand, per kind of sources.
SOURCES = {
    "delta": ("{s}.o", "{s}.c"),
    "iceberg": ("ice.{s}.o", "ice.{s}.c"),
    "mixed": ("ice.{s}.o", "{s}.c"),
}
EXTENTS = {"delta": {}, "iceberg": {"file_format": "iceberg", "ivm_catalog": "ice"}}
OPERATORS = {
    "grouped": "select c.segment, count(*) as n, sum(o.v) as v, max(o.v) as top"
    " from {o} o join {c} c on c.id = o.c group by c.segment",
    "rows": "select o.c, c.segment, o.v % 2 as odd from {o} o join {c} c on c.id = o.c",
    "distincts": "select c, count(distinct v) as n from {o} group by c",
}


def create(shop: Shop) -> None:
    for place, form in (("{s}", "delta"), ("ice.{s}", "iceberg")):
        shop.sql(f"create table {place}.o (c int, v int) using {form}")
        shop.sql(f"create table {place}.c (id int, segment string) using {form}")
        shop.sql(f"insert into {place}.o values (0, 1), (1, 2), (1, 2), (2, 9), (null, 4)")
        shop.sql(f"insert into {place}.c values (0, 'a'), (1, 'b'), (2, null)")


def change(shop: Shop) -> None:
    for place in ("{s}", "ice.{s}"):
        shop.sql(f"insert into {place}.o values (1, 50), (2, 9), (0, null)")
        shop.sql(f"update {place}.o set v = v + 1 where c = 1")
        shop.sql(f"delete from {place}.o where v = 9 and c = 2")
        shop.sql(f"update {place}.c set segment = 'c' where id = 0")


def test_every_mix_of_formats(iced):
    shop = iced
    create(shop)
    places = {}
    for sources, (orders, customers) in SOURCES.items():
        for extent, config in EXTENTS.items():
            for operator, sql in OPERATORS.items():
                if operator == "distincts" and sources == "mixed":
                    continue
                name = f"{operator}_{sources}_{extent}"
                shop.model(name, sql.replace("{o}", orders).replace("{c}", customers), **config)
                catalog = ("ice",) if extent == "iceberg" else ()
                places[name] = (*catalog, shop.schema, f"{name}__ivm")
    shop.model(
        "on_top",
        "select segment, sum(n) as n from {{ ref('grouped_mixed_iceberg') }} group by segment",
    )
    places["on_top"] = (shop.schema, "on_top__ivm")
    assert {r["ivm_strategy"] for r in shop.run().values()} == {"full"}
    assert {r["ivm_strategy"] for r in shop.run().values()} == {"noop"}
    change(shop)
    done = shop.run()
    assert {n for n, r in done.items() if r["ivm_strategy"] != "incremental"} == set()
    for name, extent in places.items():
        shop.check(name, extent=extent)
    refs = shop.sql("select name from ice.{s}.grouped_mixed_iceberg__ivm.refs")
    assert [r["name"] for r in refs] == ["main"]


def test_three_part_names_and_switching(iced):
    shop = iced
    create(shop)
    tables = [{"name": "o"}, {"name": "c"}]
    lake = {"name": "lake", "database": "ice", "schema": shop.schema, "tables": tables}
    shop.properties({"sources": [lake]})
    sql = "select c, sum(v) as v from {{ source('lake', 'o') }} group by c"
    settings = {"file_format": "iceberg", "ivm_catalog": "ice", "ivm_schema": f"{shop.schema}_x"}
    shop.model("m", sql, **settings)
    extent = f"{shop.schema}__m__ivm"
    try:
        shop.run()
        change(shop)
        assert shop.run()["m"]["ivm_strategy"] == "incremental"
        shop.check("m", extent=("ice", f"{shop.schema}_x", extent))
        shop.model("m", sql, **{**settings, "materialized": "table", "file_format": "delta"})
        shop.dbt("run")
        assert shop.sql("show tables in ice.{s}_x") == []
    finally:
        shop.sql(f"drop table if exists ice.{{s}}_x.{extent}")
        shop.sql("drop schema ice.{s}_x")


def test_a_model_in_the_other_catalog(iced):
    shop = iced
    create(shop)
    shop.model(
        "inside",
        "select c, sum(v) as v from ice.{s}.o group by c",
        database="ice",
        file_format="iceberg",
    )
    shop.model("outside", "select count(*) as n, max(v) as v from {{ ref('inside') }}")
    try:
        assert {r["ivm_strategy"] for r in shop.run().values()} == {"full"}
        change(shop)
        assert {r["ivm_strategy"] for r in shop.run().values()} == {"incremental"}
        assert shop.run()["inside"]["ivm_strategy"] == "noop"
        expected = sorted(shop.sql("select c, sum(v) from ice.{s}.o group by c"), key=str)
        assert sorted(shop.sql("select * from ice.{s}.inside"), key=str) == expected
        shop.check("outside")
        said = shop.dbt("run-operation", "ivm_cleanup")
        assert said.success
    finally:
        shop.sql("drop view if exists ice.{s}.inside")
