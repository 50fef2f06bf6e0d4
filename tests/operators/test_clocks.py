"""The time in a model: a window that slides as it passes, and stamps of when a row was written."""

from __future__ import annotations

import time


def test_a_window_slides_without_any_change_of_its_source(shop):
    shop.sql("create table {s}.events (id int, at timestamp, day date) using delta")
    shop.sql(
        "insert into {s}.events select 1, current_timestamp() - interval 1 hour, current_date()"
        " union all select 2, current_timestamp() + interval 1 hour, current_date()"
        " union all select 3, current_timestamp() - interval 40 days, current_date() - 40"
    )
    shop.model("past", "select id, at from {s}.events where at <= now()", ivm_refresh="incremental")
    shop.model(
        "recent",
        "select count(*) as n from {s}.events where day >= current_date() - interval 30 days",
        ivm_refresh="incremental",
    )
    shop.model(
        "states",
        "select case when at > now() then 'ahead' else 'past' end as state, current_date() as day,"
        " count(*) as n, max(at) < now() as all_past from {s}.events group by 1, 2",
        ivm_refresh="incremental",
    )
    shop.run()
    assert {r.id for r in shop.sql("select id from {s}.past")} == {1, 3}
    assert {(r.state, r.n) for r in shop.sql("select * from {s}.states")} == {
        ("past", 2),
        ("ahead", 1),
    }
    assert shop.run("--select", "recent")["recent"]["ivm_strategy"] == "noop"
    shop.sql("update {s}.events set at = current_timestamp() + interval 5 seconds where id = 2")
    shop.run()
    shop.check("past", "recent", "states")
    time.sleep(6)
    done = shop.run()
    assert done["past"]["ivm_strategy"] == "incremental"
    assert done["past"]["ivm_reason"] == "changed: the time"
    assert {r.id for r in shop.sql("select id from {s}.past")} == {1, 2, 3}
    assert shop.sql("select n from {s}.recent")[0].n == 2
    assert {(r.state, r.n) for r in shop.sql("select * from {s}.states")} == {("past", 3)}
    shop.check("past", "recent", "states")


def test_a_stamp_is_the_time_at_which_a_row_was_written(shop):
    shop.sql("create table {s}.t (k int, v int) using delta")
    shop.sql("insert into {s}.t values (1, 1), (2, 2)")
    shop.model("rows", "select k, v, current_timestamp() as at, current_date() as d from {s}.t")
    shop.model("groups", "select k, sum(v) as v, now() as at from {s}.t group by k")
    shop.properties(
        {"models": [{"name": n, "data_tests": ["ivm_consistent"]} for n in ("rows", "groups")]}
    )
    shop.run()
    before = {n: {r.k: r["at"] for r in shop.sql(f"select * from {{s}}.{n}")} for n in STAMPED}
    shop.sql("insert into {s}.t values (2, 5), (3, 3)")
    done = shop.run()
    assert {r["ivm_strategy"] for r in done.values()} == {"incremental"}
    for name in STAMPED:
        after = {(r.k, r.v): r["at"] for r in shop.sql(f"select * from {{s}}.{name}")}
        assert after[1, 1] == before[name][1], "a row that was not written keeps its stamp"
        assert after[3, 3] > before[name][1], "a new row has a new one"
    later = {r.k: r["at"] for r in shop.sql("select * from {s}.groups")}
    assert later[2] > before["groups"][2], "so has a group that changed"
    shop.check("rows", "groups")
    shop.dbt("test")


STAMPED = ("rows", "groups")
