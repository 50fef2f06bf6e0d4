"""The 22 TPC-H queries as ivm models, through rounds of mixed changes, judged by recomputation."""

from __future__ import annotations

import pytest

from benchmarks import changes, data
from benchmarks.changes import Batch
from benchmarks.sides import PROJECT
from tests.shop import Shop

QUERIES = sorted((PROJECT / "models/tpch").glob("q*.sql"))
NAMES = [path.stem for path in QUERIES]
SCALE = 0.01
ROUNDS = 3

# The stream of the benchmark leaves suppliers alone and only adds offers.
OTHERS = (
    (
        "update {s}.supplier set s_acctbal = s_acctbal + 1, s_nationkey = (s_nationkey + {n}) % 25"
        " where s_suppkey % 10 = {n}"
    ),
    "update {s}.supplier set s_comment = 'Customer Complaints' where s_suppkey % 25 = {n}",
    (
        "insert into {s}.supplier by name select * except (s_suppkey), s_suppkey + {n}000 as"
        " s_suppkey from {s}.supplier where s_suppkey = {n}"
    ),
    (
        "update {s}.partsupp set ps_availqty = ps_availqty + 100, ps_supplycost = ps_supplycost + 5"
        " where ps_partkey % 40 = {n}"
    ),
    "delete from {s}.partsupp where ps_partkey % 50 = {n} and ps_suppkey % 2 = 0",
    "delete from {s}.supplier where s_suppkey % 33 = {n}",
)


@pytest.fixture
def tpch(shop: Shop, tmp_path_factory) -> Shop:
    """The sources, and the queries as models that must not be rebuilt."""
    files = data.generate(SCALE, tmp_path_factory.getbasetemp() / "tpch")
    data.load(shop.spark, files, shop.schema)
    tables = [{"name": table} for table in data.TABLES]
    shop.properties({"sources": [{"name": "tpch", "schema": shop.schema, "tables": tables}]})
    for path in QUERIES:
        shop.model(path.stem, path.read_text(), ivm_refresh="incremental")
    return shop


@pytest.mark.slow
def test_all_queries_stay_incremental_and_right(tpch: Shop):
    assert len(QUERIES) == 22
    rows = {table: tpch.spark.table(f"{tpch.schema}.{table}").count() for table in data.TABLES}
    tpch.run()
    for number in range(1, ROUNDS + 1):
        changes.apply(tpch.spark, tpch.schema, rows, Batch(number, 150))
        for statement in OTHERS:
            tpch.sql(statement.replace("{n}", str(number)))
        done = tpch.run()
        strategies = {name: done[name]["ivm_strategy"] for name in NAMES}
        assert strategies == dict.fromkeys(NAMES, "incremental"), f"round {number}"
        tpch.check(*NAMES)
    empty = [name for name in NAMES if not tpch.sql(f"select 1 from {{s}}.{name} limit 1")]
    assert not empty, "a query without rows proves little"
