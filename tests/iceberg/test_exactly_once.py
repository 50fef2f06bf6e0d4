"""A change to an Iceberg extent counts once, whoever races and wherever a run stops."""

from __future__ import annotations

import threading

import pytest

from dbt_ivm.adapter.runner import Outcome, Request, Runner
from dbt_ivm.adapter.spark_facts import Pins
from dbt_ivm.plan.model import RefreshPlan, Strategy
from dbt_ivm.plan.settings import Settings
from tests.session import Session
from tests.shop import Shop

pytestmark = pytest.mark.slow

SQL = "select k, count(*) as n, sum(v) as v, max(v) as top from ice.{s}.src group by k"


@pytest.fixture
def built(iced) -> Shop:
    iced.sql("create table ice.{s}.src (k int, v int) using iceberg")
    iced.sql("insert into ice.{s}.src values (1, 1), (2, 5), (null, 3), (1, 1)")
    iced.model("m", SQL, file_format="iceberg", ivm_catalog="ice")
    iced.run()
    return iced


def extent(shop: Shop) -> tuple[str, ...]:
    return ("ice", shop.schema, "m__ivm")


def request_for(shop: Shop) -> Request:
    settings = Settings(file_format="iceberg", catalog="ice")
    return shop.request("m", extent=extent(shop), settings=settings)


def applied(shop: Shop) -> int:
    """Snapshots that changed rows since the build."""
    rows = shop.sql("select * from ice.{s}.m__ivm.history h where h.is_current_ancestor")
    return len(rows) - 1


def test_runs_at_the_same_time_apply_a_change_once(built, monkeypatch):
    shop, runs = built, 3
    shop.sql("update ice.{s}.src set v = v + 10 where k = 1")
    shop.sql("delete from ice.{s}.src where v = 5")
    together = threading.Barrier(runs)
    once = threading.local()
    plan = Runner.plan

    def plan_together(self: Runner, request: Request) -> RefreshPlan:
        """Every run has its first plan before any of them applies one."""
        result = plan(self, request)
        if not getattr(once, "planned", False):
            once.planned = True
            together.wait(timeout=300)
        return result

    monkeypatch.setattr(Runner, "plan", plan_together)
    outcomes: list[Outcome] = []
    failures: list[BaseException] = []

    def refresh() -> None:
        try:
            outcomes.append(Runner(Session(shop.spark), Pins()).refresh(request_for(shop)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=refresh) for _ in range(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    strategies = sorted(outcome.plan.strategy.value for outcome in outcomes)
    assert strategies == ["incremental"] + ["noop"] * (runs - 1)
    assert applied(shop) == 1
    shop.check("m", extent=extent(shop))


def test_a_run_that_stops_between_any_two_statements(built, monkeypatch):
    shop = built
    for stop in range(4):
        shop.sql(f"insert into ice.{{s}}.src values ({stop}, {100 + stop})")
        runner = Runner(Session(shop.spark), Pins())
        steps = runner.plan(request_for(shop)).steps
        assert len(steps) == 5  # the request knows no hash, so the view is made as well
        done = iter(range(stop))
        run = Runner._run

        def stopping(self: Runner, sql: str, steps=steps, done=done, run=run) -> object:
            kinds = [step.sql.split("`")[0] for step in steps]
            if sql.split("`")[0] in kinds and next(done, None) is None:
                raise KeyboardInterrupt
            return run(self, sql)

        with monkeypatch.context() as patched:
            patched.setattr(Runner, "_run", stopping)
            with pytest.raises(KeyboardInterrupt):
                Runner(Session(shop.spark), Pins()).refresh(request_for(shop))
        outcome = Runner(Session(shop.spark), Pins()).refresh(request_for(shop))
        published = stop >= 3
        assert outcome.plan.strategy is (Strategy.NOOP if published else Strategy.INCREMENTAL)
        assert applied(shop) == stop + 1
        shop.check("m", extent=extent(shop))
