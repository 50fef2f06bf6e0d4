"""Exactly once: the same MERGE sent twice, and two runs of one model at the same time."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from dbt_ivm.adapter.runner import Outcome, Request, Runner
from dbt_ivm.adapter.spark_facts import Pins
from dbt_ivm.plan.model import RefreshPlan, Strategy
from dbt_ivm.sources.format import Row
from tests.session import Session
from tests.shop import Shop

SQL = (
    "select c.segment, count(*) as n, sum(o.v) as v, max(o.v) as top"
    " from {s}.o o join {s}.c c on c.id = o.c group by c.segment"
)


@pytest.fixture
def built(shop) -> Shop:
    shop.sql("create table {s}.o using delta as select id as v, id % 3 as c from range(9)")
    shop.sql(
        "create table {s}.c using delta as"
        " select id, if(id = 2, null, 'x') as segment from range(3)"
    )
    shop.model("m", SQL)
    shop.run()
    return shop


def test_the_same_merge_twice_changes_nothing(built, monkeypatch):
    shop = built
    shop.sql("insert into {s}.o values (100, 0), (100, 2)")
    sent: list[str] = []

    class Resending(Session):
        """Sends every MERGE again, as dbt-spark does after a lost connection."""

        def run(self, sql: str) -> list[Row]:
            rows = super().run(sql)
            if not sql.startswith("MERGE"):
                return rows
            sent.append(sql)
            return super().run(sql)

    outcome = Runner(Resending(shop.spark), Pins()).refresh(shop.request("m"))
    assert len(sent) == 1
    assert (outcome.plan.strategy, outcome.counts.updated) == (Strategy.INCREMENTAL, 2)
    shop.check("m")
    assert shop.sql("select max(top) from {s}.m") == [(100,)]


@pytest.mark.parametrize("runs", [2, 3])
def test_runs_at_the_same_time_apply_a_change_once(built, runs, monkeypatch):
    shop = built
    shop.sql("update {s}.o set v = v + 10 where c = 1")
    shop.sql("delete from {s}.o where v = 8")
    outcomes = run_together(shop, runs, monkeypatch)
    strategies = sorted(outcome.plan.strategy.value for outcome in outcomes)
    assert strategies == ["incremental"] + ["noop"] * (runs - 1)
    shop.check("m")


def test_first_builds_at_the_same_time(built, monkeypatch):
    shop = built
    shop.sql("drop view {s}.m")
    shop.sql("drop table {s}.m__ivm")
    run_together(shop, 3, monkeypatch, kind=None, extent_exists=False)
    shop.check("m")


def run_together(
    shop: Shop, runs: int, monkeypatch: pytest.MonkeyPatch, **asked: Any
) -> list[Outcome]:
    """What runs did that had their first plans at the same moment; all of them succeed."""
    together = threading.Barrier(runs)
    planned = threading.local()
    plan = Runner.plan

    def plan_together(self: Runner, request: Request) -> RefreshPlan:
        """Every run has its first plan before any of them applies one."""
        result = plan(self, request)
        if not getattr(planned, "once", False):
            planned.once = True
            together.wait(timeout=120)
        return result

    monkeypatch.setattr(Runner, "plan", plan_together)
    outcomes: list[Outcome] = []
    failures: list[BaseException] = []

    def refresh() -> None:
        try:
            outcomes.append(Runner(Session(shop.spark), Pins()).refresh(shop.request("m", **asked)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=refresh) for _ in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    return outcomes


def test_a_run_that_finds_the_token_used_says_so(built, monkeypatch):
    shop = built
    shop.sql("insert into {s}.o values (70, 1)")
    late = Runner(Session(shop.spark), Pins())
    plans = iter((late.plan(shop.request("m")),))
    Runner(Session(shop.spark), Pins()).refresh(shop.request("m"))
    plan = Runner.plan
    monkeypatch.setattr(Runner, "plan", lambda self, asked: next(plans, None) or plan(self, asked))
    assert late.refresh(shop.request("m")).plan.strategy is Strategy.NOOP
    shop.check("m")


def test_a_slower_run_with_older_pins_does_not_go_back(built):
    shop = built
    slow = Runner(Session(shop.spark), Pins())
    slow.plan(shop.request("m"))  # pins the heads
    shop.sql("insert into {s}.o values (50, 1)")
    fast = Runner(Session(shop.spark), Pins()).refresh(shop.request("m"))
    assert fast.plan.strategy is Strategy.INCREMENTAL
    assert slow.refresh(shop.request("m")).plan.strategy is Strategy.NOOP
    shop.check("m")
