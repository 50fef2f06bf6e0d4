"""Everything that can happen to a Delta source: how it is read afterwards, judged each time.

Many tables in few models: those that are read the same way after their event are summed in one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbt_ivm.adapter.runner import Runner
from dbt_ivm.adapter.spark_facts import Pins
from dbt_ivm.sources.facts import Reading
from tests.session import Session
from tests.shop import Shop

MAPPED = "'delta.columnMapping.mode' = 'name'"
UNFED = "'delta.enableChangeDataFeed' = 'false'"
Event = str | Callable[[Shop], None]


def table(name: str, properties: str = "'x' = 'y'", columns: str = "", clause: str = "") -> list:
    """Three rows in one table, with an unused column."""
    columns = columns or "id int, k int, v int, note string"
    return [
        f"create table {{s}}.{name} ({columns}) using delta {clause} tblproperties ({properties})",
        f"insert into {{s}}.{name} (id, k, v) values (1, 1, 10), (2, 2, 20), (3, 1, 30)",
    ]


def sum_of(tables: Any) -> str:
    parts = " union all ".join(f"select k, v from {{s}}.{name}" for name in tables)
    return f"select k, count(*) as n, sum(v) as v from ({parts}) group by k"


def rewriting(setting: str, value: str, statement: str) -> Callable[[Shop], None]:
    """A statement under a session setting."""

    def run(shop: Shop) -> None:
        shop.spark.conf.set(setting, value)
        try:
            shop.sql(statement)
        finally:
            shop.spark.conf.unset(setting)

    return run


def vacuum(name: str) -> Callable[[Shop], None]:
    check = "spark.databricks.delta.retentionDurationCheck.enabled"
    return rewriting(check, "false", f"vacuum {{s}}.{name} retain 0 hours")


EVOLVING = """
merge with schema evolution into {s}.evolved t
using (select 1 as id, 1 as k, 11 as v, 'n' as note, 5 as more
       union all select 9, 2, 9, 'm', 6) d
on t.id = d.id when matched then update set * when not matched then insert *
"""
REPLACING = """
create or replace table {s}.replaced using delta as
select 1 as id, 1 as k, 10 as v union all select 6, 2, 60
"""
UNCHANGED: dict[str, tuple[list, list[Event]]] = {
    "optimized": (table("optimized"), ["optimize {s}.optimized zorder by (v)"]),
    "swept": (table("swept"), ["optimize {s}.swept", vacuum("swept")]),
    "purged": (
        table("purged", "'delta.enableDeletionVectors' = 'true'"),
        ["reorg table {s}.purged apply (purge)", "alter table {s}.purged cluster by (k)"],
    ),
    "altered": (
        table("altered", MAPPED),
        [
            "alter table {s}.altered add columns (extra string)",
            "alter table {s}.altered rename column note to remark",
            "alter table {s}.altered drop column extra",
            "alter table {s}.altered alter column v comment 'what it is worth'",
            "alter table {s}.altered alter column v first",
            "alter table {s}.altered alter column k drop not null",
            "alter table {s}.altered add constraint positive check (id > 0)",
            "comment on table {s}.altered is 'seen'",
            "update {s}.altered set v = 0 where id = 99",
        ],
    ),
    "widened": (
        table("widened", "'delta.enableTypeWidening' = 'true'"),
        ["alter table {s}.widened alter column id type bigint"],
    ),
}
FED: dict[str, tuple[list, list[Event]]] = {
    "truncated": (table("truncated"), ["truncate table {s}.truncated"]),
    "overwritten": (
        table("overwritten"),
        ["insert overwrite {s}.overwritten values (1, 1, 10, 'x'), (2, 2, 21, null)"],
    ),
    "parts": (
        table("parts", clause="partitioned by (k)"),
        ["insert overwrite {s}.parts partition (k = 1) (id, v, note) values (7, 70, null)"],
    ),
    "restored": (
        table("restored"),
        ["delete from {s}.restored where k = 1", "restore table {s}.restored to version as of 1"],
    ),
    "evolved": (
        table("evolved"),
        [EVOLVING],
    ),
    "vectors": (
        table("vectors", "'delta.enableDeletionVectors' = 'true'"),
        ["update {s}.vectors set v = v + 1 where id = 1", "delete from {s}.vectors where id = 2"],
    ),
    "mapped": (
        table("mapped", MAPPED),
        [
            "alter table {s}.mapped add columns (extra string)",
            "insert into {s}.mapped values (4, 2, 40, null, 'x')",
        ],
    ),
    "clustered": (
        table("clustered", clause="cluster by (k)"),
        ["delete from {s}.clustered where id = 3", "optimize {s}.clustered"],
    ),
    "generated": (
        table(
            "generated",
            columns="id int, k int, v int generated always as (id * 10),"
            " number bigint generated always as identity",
        ),
        ["insert into {s}.generated (id, k) values (5, 2)"],
    ),
    "cloned": (
        [*table("original"), "create table {s}.cloned shallow clone {s}.original"],
        ["insert into {s}.cloned values (8, 2, 80, null)", "update {s}.original set v = 0"],
    ),
    "streamed": (table("streamed"), [lambda shop: stream(shop, "streamed")]),
}
COMPARED: dict[str, tuple[list, list[Event]]] = {
    "replaced": (
        table("replaced"),
        [REPLACING],
    ),
    "switched_off": (
        table("switched_off"),
        [
            f"alter table {{s}}.switched_off set tblproperties ({UNFED})",
            "delete from {s}.switched_off where id = 1",
        ],
    ),
    "switched_on": (
        table("switched_on", UNFED),
        [
            "delete from {s}.switched_on where id = 1",
            f"alter table {{s}}.switched_on set tblproperties ({UNFED.replace('false', 'true')})",
            "delete from {s}.switched_on where id = 2",
        ],
    ),
    "interrupted": (
        table("interrupted"),
        [
            f"alter table {{s}}.interrupted set tblproperties ({UNFED})",
            "delete from {s}.interrupted where id = 1",
            f"alter table {{s}}.interrupted set tblproperties ({UNFED.replace('false', 'true')})",
        ],
    ),
    "swapped": (
        table("swapped", MAPPED),
        [
            "alter table {s}.swapped rename column v to w",
            "alter table {s}.swapped rename column id to v",
        ],
    ),
    "emptied": (
        table("emptied", MAPPED),
        [
            "alter table {s}.emptied drop column v",
            "alter table {s}.emptied add columns (v int)",
        ],
    ),
    "copied": (
        table("copied"),
        [
            "delete from {s}.copied",  # Delta clones only into an empty table
            "create or replace table {s}.copied shallow clone {s}.original",
        ],
    ),
}


def stream(shop: Shop, name: str) -> None:
    rows = shop.spark.readStream.table(f"{shop.schema}.clustered").select("id", "k", "v", "note")
    query = (
        rows.writeStream.format("delta")
        .option("checkpointLocation", str(shop.folder / "checkpoint"))
        .trigger(availableNow=True)
        .toTable(f"{shop.schema}.{name}")
    )
    query.awaitTermination()


def perform(shop: Shop, events: list[Event]) -> None:
    for event in events:
        if callable(event):
            event(shop)
        else:
            shop.sql(event)


def planned(shop: Shop, name: str) -> dict[str, tuple[Reading, str]]:
    """Per source, how the next refresh will read it and why."""
    plan = Runner(Session(shop.spark), Pins()).plan(shop.request(name))
    return {change.head.table[-1]: (change.reading, change.reason) for change in plan.changes}


@pytest.mark.slow
def test_a_source_is_read_the_cheapest_way_that_is_right(shop):
    groups = {"unchanged": UNCHANGED, "fed": FED, "compared": COMPARED}
    for name, group in groups.items():
        for statements, _ in group.values():
            perform(shop, statements)
        shop.model(name, sum_of(group))
    shop.run()
    for group in groups.values():
        for _, events in group.values():
            perform(shop, events)
    readings = {name: planned(shop, name) for name in groups}
    found = {t: r for group in readings.values() for t, (r, _) in group.items()}
    assert found == {
        **dict.fromkeys(UNCHANGED, Reading.NOTHING),
        **dict.fromkeys(FED, Reading.FEED),
        **dict.fromkeys(COMPARED, Reading.DIFFERENCE),
    }
    reasons = {table: reason for table, (_, reason) in readings["compared"].items()}
    assert reasons.pop("copied") in ("the table was replaced", "CLONE since the last refresh")
    assert reasons == {
        "replaced": "the table was replaced",
        "switched_off": "the change data feed is off",
        "switched_on": "the change data feed was off",
        "interrupted": "the change data feed was off",
        "swapped": "RENAME COLUMN since the last refresh",
        "emptied": "DROP COLUMNS since the last refresh",
    }
    done = shop.run()
    assert {n: r["ivm_strategy"] for n, r in done.items()} == {
        "unchanged": "noop",
        "fed": "incremental",
        "compared": "incremental",
    }
    shop.check(*groups)


def clean_log(shop: Shop) -> None:
    """What log retention does: commits before a checkpoint are gone."""
    for number in range(8):
        shop.sql(f"insert into {{s}}.cleaned values ({number}, 1, 1, null)")
    location = shop.sql("describe detail {s}.cleaned")[0]["location"].removeprefix("file:")
    for number in range(6):
        (Path(location) / f"_delta_log/{number:020}.json").unlink()


# Per source: how it is made, what happens to it, the model's SQL where it matters, the reason.
REBUILT: dict[str, tuple[list, list[Event], str, str]] = {
    "recreated": (
        table("recreated"),
        ["drop table {s}.recreated", *table("recreated")],
        "",
        "recreated` is another table now",
    ),
    "renamed": (
        [*table("renamed"), *table("other")],
        [
            "alter table {s}.renamed rename to {s}.old_name",
            "insert into {s}.other values (4, 4, 40, null)",
            "alter table {s}.other rename to {s}.renamed",
        ],
        "",
        "renamed` is another table now",
    ),
    "vacuumed": (
        table("vacuumed"),
        ["delete from {s}.vacuumed where id = 1", vacuum("vacuumed")],
        "",
        "vacuumed` was vacuumed of files that version 1 needs",
    ),
    "cleaned": (
        table("cleaned", "'delta.checkpointInterval' = '3'"),
        [clean_log],
        "",
        "cleaned` has no history back to version 1 any more",
    ),
    "unlogged": (
        table("unlogged"),
        [
            "delete from {s}.unlogged where id = 1",
            "set spark.databricks.delta.vacuum.logging.enabled = false",
            vacuum("unlogged"),
            "reset spark.databricks.delta.vacuum.logging.enabled",
        ],
        "",
        "a source lost history that the refresh needs",
    ),
    "typed": (
        table("typed", "'delta.enableTypeWidening' = 'true'"),
        ["alter table {s}.typed alter column v type bigint"],
        "",
        "the definition changed",
    ),
    "starred": (
        table("starred"),
        [
            "alter table {s}.starred add columns (extra string)",
            "insert into {s}.starred values (5, 5, 5, null, 'x')",
        ],
        "select * from {s}.starred",
        "the definition changed",
    ),
    "viewed": (
        [*table("below"), "create view {s}.viewed as select k, v from {s}.below"],
        ["create or replace view {s}.viewed as select k, v + 1 as v from {s}.below where k = 1"],
        "",
        "the definition changed",
    ),
    "sorted_star": (
        table("sorted_star"),
        ["alter table {s}.sorted_star add columns (extra string)"],
        "select * from {s}.sorted_star sort by k",
        "the model's columns changed",
    ),
}
# The change data feed is there, and Delta refuses to read it across the event.
REFUSED: dict[str, tuple[list, list[Event]]] = {
    "stretched": (
        table("stretched", "'delta.enableTypeWidening' = 'true'"),
        [
            rewriting(
                "spark.databricks.delta.schema.autoMerge.enabled",
                "true",
                "insert into {s}.stretched select 5000000000 as id, 2 as k, 7 as v, 'x' as note",
            )
        ],
    ),
    "fed_again": (
        [
            *table("fed_again"),
            f"alter table {{s}}.fed_again set tblproperties ({UNFED})",
        ],
        [
            "delete from {s}.fed_again where id = 3",
            "restore table {s}.fed_again to version as of 1",
        ],
    ),
}


@pytest.mark.slow
def test_a_source_that_cannot_be_followed_is_noticed(shop):
    for name, (statements, _, sql, _) in REBUILT.items():
        perform(shop, statements)
        shop.model(f"m_{name}", sql or sum_of([name]))
    for name, (statements, _) in REFUSED.items():
        perform(shop, statements)
        shop.model(f"m_{name}", sum_of([name]))
    shop.run()
    for _, events, *_ in {**REBUILT, **REFUSED}.values():
        perform(shop, events)
    done = shop.run()
    for name, (_, _, _, reason) in REBUILT.items():
        response = done[f"m_{name}"]
        assert response["ivm_strategy"] == "full", name
        assert reason in response["ivm_reason"], name
    for name in REFUSED:
        assert done[f"m_{name}"]["ivm_strategy"] == "incremental", name
    shop.check(*done)
    again = shop.run()
    assert {r["ivm_strategy"] for r in again.values()} == {"noop"}
