"""What can happen to an Iceberg source or extent, by real commands, judged each time."""

from __future__ import annotations

import pytest

from dbt_ivm.adapter.runner import Runner
from dbt_ivm.adapter.spark_facts import Pins
from dbt_ivm.sources.facts import Reading
from tests.session import Session
from tests.shop import Shop

pytestmark = pytest.mark.slow

MOR = "'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read'"
ROWS = "values (1, 1, 10), (2, 2, 20), (3, 1, 30)"
ICE = {"file_format": "iceberg", "ivm_catalog": "ice"}


def table(name: str, properties: str = "'a' = 'b'", clause: str = "") -> list[str]:
    clauses = f"using iceberg {clause} tblproperties ({properties})"
    return [
        f"create table ice.{{s}}.{name} (id int, k int, v int) {clauses}",
        f"insert into ice.{{s}}.{name} select /*+ coalesce(1) */ * from {ROWS}",
    ]


def call(procedure: str, name: str, more: str = "") -> str:
    return f"call ice.system.{procedure}(table => '{{s}}.{name}'{more})"


UNCHANGED = {
    "compacted": (
        [*table("compacted"), "insert into ice.{s}.compacted values (4, 4, 4)"],
        [call("rewrite_data_files", "compacted", ", options => map('min-input-files', '2')")],
    ),
    "untouched": (table("untouched"), ["delete from ice.{s}.untouched where id = 99"]),
}
FED = {
    "changed": (
        table("changed", "'format-version' = '3'"),
        [
            "insert into ice.{s}.changed values (4, 2, 40)",
            "update ice.{s}.changed set v = 11 where id = 1",
            "delete from ice.{s}.changed where id = 2",
        ],
    ),
    "overwritten": (
        table("overwritten", clause="partitioned by (k)"),
        ["insert overwrite ice.{s}.overwritten values (1, 1, 10), (2, 2, 21)"],
    ),
    "repartitioned": (
        table("repartitioned"),
        [
            "alter table ice.{s}.repartitioned add partition field k",
            "insert into ice.{s}.repartitioned values (6, 6, 60)",
        ],
    ),
    "emptied": (table("emptied"), ["delete from ice.{s}.emptied where true"]),
}
COMPARED = {
    "vectors": (
        table("vectors", f"'format-version' = '3', {MOR}"),
        ["delete from ice.{s}.vectors where id = 1", "update ice.{s}.vectors set v = 1"],
    ),
    "positions": (
        table("positions", f"'format-version' = '2', {MOR}"),
        ["delete from ice.{s}.positions where id = 1"],
    ),
    "evolved": (
        table("evolved"),
        [
            "alter table ice.{s}.evolved drop column v",
            "alter table ice.{s}.evolved add column v int",
            "insert into ice.{s}.evolved values (5, 5, 50)",
        ],
    ),
    "replaced": (
        table("replaced"),
        ["create or replace table ice.{s}.replaced using iceberg as select 1 as k, 2 as v"],
    ),
    "rolled_back": (
        [*table("rolled_back"), "insert into ice.{s}.rolled_back values (9, 9, 90)"],
        [lambda shop: roll_back(shop, "rolled_back")],
    ),
}
REBUILT = {
    "expired": (
        table("expired"),
        [
            "delete from ice.{s}.expired where id = 1",
            call("expire_snapshots", "expired", ", older_than => timestamp '2100-01-01'"),
        ],
    ),
    "recreated": (
        table("recreated"),
        ["drop table ice.{s}.recreated", *table("recreated")],
    ),
}


def first_snapshot(shop: Shop, name: str) -> int:
    order = "order by committed_at limit 1"
    return shop.sql(f"select snapshot_id from ice.{{s}}.{name}.snapshots {order}")[0][0]


def roll_back(shop: Shop, name: str) -> None:
    snapshot = first_snapshot(shop, name)
    shop.sql(call("rollback_to_snapshot", name, f", snapshot_id => {snapshot}"))


def perform(shop: Shop, events: list) -> None:
    for event in events:
        if callable(event):
            event(shop)
        else:
            shop.sql(event)


def sum_of(tables) -> str:
    parts = " union all ".join(f"select k, v from ice.{{s}}.{name}" for name in tables)
    return f"select k, count(*) as n, sum(v) as v from ({parts}) group by k"


def test_a_source_is_read_the_cheapest_way_that_is_right(iced):
    shop = iced
    groups = {"unchanged": UNCHANGED, "fed": FED, "compared": COMPARED}
    groups |= {f"m_{name}": {name: event} for name, event in REBUILT.items()}
    for name, group in groups.items():
        for statements, _ in group.values():
            perform(shop, statements)
        shop.model(name, sum_of(group))
    shop.run()
    for group in groups.values():
        for _, events in group.values():
            perform(shop, events)
    found = {}
    for name in groups:
        plan = Runner(Session(shop.spark), Pins()).plan(shop.request(name))
        found |= {change.head.table[-1]: change.reading for change in plan.changes}
    assert found == {
        **dict.fromkeys(UNCHANGED, Reading.NOTHING),
        **dict.fromkeys(FED, Reading.FEED),
        **dict.fromkeys(COMPARED, Reading.DIFFERENCE),
        **dict.fromkeys(REBUILT, Reading.IMPOSSIBLE),
    }
    done = {name: response["ivm_strategy"] for name, response in shop.run().items()}
    assert done == {
        "unchanged": "noop",
        "fed": "incremental",
        "compared": "incremental",
        **dict.fromkeys((f"m_{name}" for name in REBUILT), "full"),
    }
    shop.check(*groups)


def test_columns_changed_without_a_snapshot(iced):
    """Such a table cannot be read at a version as it is shown; it is read as it is until it can."""
    shop = iced
    perform(shop, table("src"))
    shop.model("m", "select k, sum(v) as v from ice.{s}.src group by k")
    shop.run()
    shop.sql("alter table ice.{s}.src add column w int")
    done = shop.run()["m"]
    assert done["ivm_strategy"] == "full"
    assert "whose columns changed since its last snapshot" in done["ivm_warning"]
    shop.sql("insert into ice.{s}.src values (5, 5, 50, 5)")
    assert shop.run()["m"]["ivm_reason"] == "the definition changed"
    shop.check("m")


# Per model: what happens to its extent, and the strategy and reason of the next run.
EXTENTS = {
    "kept": (
        [
            call("rewrite_data_files", "kept__ivm"),
            call("expire_snapshots", "kept__ivm", ", older_than => timestamp '2100-01-01'"),
        ],
        "noop",
        "nothing changed",
    ),
    "edited": (
        ["update ice.{s}.edited__ivm set k = 7 where k = 1"],
        "full",
        "the extent was changed by overwrite outside dbt-ivm",
    ),
    "emptied": (["delete from ice.{s}.emptied__ivm where true"], "full", "by delete outside"),
    "dropped": (["drop table ice.{s}.dropped__ivm"], "full", "the extent is gone"),
    "moved": ([], "full", "the setting file_format changed"),
}


def test_whatever_happens_to_an_extent(iced):
    shop = iced
    shop.sql("create table {s}.base using delta as select id % 3 as k, id as v from range(9)")
    sql = "select k, count(*) as n, sum(v) as v from {s}.base group by k"
    for name in EXTENTS:
        shop.model(name, sql, **({} if name == "moved" else ICE))
    shop.model("back", sql, **ICE)
    shop.run()
    for events, _, _ in EXTENTS.values():
        perform(shop, events)
    shop.sql("insert into {s}.base values (1, 100)")
    shop.run("--select", "back")
    roll_back(shop, "back__ivm")
    shop.sql("delete from {s}.base where v = 100")
    shop.sql("insert into {s}.base values (2, 200)")
    shop.model("moved", sql, file_format="iceberg", ivm_catalog="ice")
    done = shop.run()
    strategies = {name: done[name]["ivm_strategy"] for name in done}
    assert strategies == {
        "kept": "incremental",
        "edited": "full",
        "emptied": "full",
        "dropped": "full",
        "moved": "full",
        "back": "incremental",  # from the watermark of the snapshot it was rolled back to
    }
    for name, (_, strategy, reason) in EXTENTS.items():
        if strategy == "full" and name != "moved":
            assert reason in done[name]["ivm_reason"], name
    for name in done:
        shop.check(name, extent=("ice", shop.schema, f"{name}__ivm"))
