"""The choice between refresh and rebuild, and how its figures come about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_ivm.errors import IvmError
from dbt_ivm.plan.cost import Cost, Costs, Effort, learned
from dbt_ivm.plan.explain import explain
from dbt_ivm.plan.model import Facts, RefreshPlan, Strategy
from dbt_ivm.plan.settings import OnLargeChange, Refresh, Settings, read_settings
from dbt_ivm.sources.facts import Commit
from tests.planner.facts import OLD, analyzed, built, facts, head, planned

MODEL = analyzed("select customer_id, sum(price) as total from orders group by customer_id")
NOTHING = Costs()
BUILT = built(MODEL, facts(MODEL))
(ORDERS,) = BUILT.heads
ROWS = 10_000_000


def told(
    changed: int | None, costs: Costs = NOTHING, rows: int = ROWS, **settings: object
) -> Facts:
    """A model over one table, whose changes are `changed` rows in one commit."""
    watermark = replace(BUILT.target.watermark, costs=costs, effort=None)
    now = replace(head(ORDERS, OLD + 1, rows=changed), rows=rows)
    target = replace(BUILT.target, watermark=watermark)
    return replace(BUILT, heads={ORDERS: now}, target=target, settings=Settings(**settings))


def chosen(*args: object, **more: object) -> RefreshPlan:
    return planned(MODEL, told(*args, **more))


BUILD = Cost(60.0, ROWS)


@pytest.mark.parametrize(
    ("costs", "changed", "strategy"),
    [
        (Costs(), 1000, Strategy.INCREMENTAL),  # nothing was measured yet
        (Costs(BUILD), 1000, Strategy.INCREMENTAL),
        (Costs(BUILD), ROWS // 2, Strategy.FULL),  # a bulk load
        (Costs(BUILD, Cost(5.0, 1000)), 2000, Strategy.INCREMENTAL),
        (Costs(BUILD, Cost(90.0, 1000)), 1000, Strategy.FULL),  # refreshing was dearer
        (Costs(BUILD, Cost(90.0, ROWS)), 1000, Strategy.INCREMENTAL),  # … for more rows
        (Costs(BUILD, Cost(62.0, 1000)), 1000, Strategy.INCREMENTAL),  # no clear difference
        (Costs(replace(BUILD, rows=ROWS // 10), Cost(90.0, 1000)), 1000, Strategy.INCREMENTAL),
    ],
)
def test_the_cheaper_way_is_taken(costs, changed, strategy):
    plan = chosen(changed, costs)
    assert plan.strategy is strategy
    assert (plan.estimates is not None) == (costs.build is not None)
    if strategy is Strategy.FULL:
        assert plan.reason == f"cheaper by estimate: {plan.estimates}"


def test_explain_shows_both_estimates():
    plan = chosen(1000, Costs(BUILD, Cost(5.0, 1000)))
    assert "Estimate  refresh 5.0 s, rebuild 60.0 s" in explain(plan)


def test_small_sources_are_never_rebuilt_for_their_cost():
    dear = Costs(Cost(1.0, 1000), Cost(90.0, 10))
    assert chosen(10, dear, rows=1000).strategy is Strategy.INCREMENTAL


def test_asked_for_incremental_nothing_is_weighed():
    dear = Costs(BUILD, Cost(90.0, 1000))
    plan = chosen(1000, dear, refresh=Refresh.INCREMENTAL)
    assert plan.strategy is Strategy.INCREMENTAL


def test_a_large_change_is_what_the_model_says():
    assert chosen(ROWS // 10).strategy is Strategy.INCREMENTAL
    limit = {"max_change_ratio": 0.05}
    plan = chosen(ROWS // 10, **limit)
    assert plan.strategy is Strategy.FULL
    assert plan.reason == "changes of 10% of the source rows, more than ivm_max_change_ratio"
    assert chosen(ROWS // 100, **limit).strategy is Strategy.INCREMENTAL
    bold = OnLargeChange.INCREMENTAL
    assert chosen(ROWS // 10, on_large_change=bold, **limit).strategy is Strategy.INCREMENTAL
    with pytest.raises(IvmError, match=r"Model m meets changes of 10% .* --full-refresh"):
        chosen(ROWS // 10, on_large_change=OnLargeChange.ERROR, **limit)


@pytest.mark.parametrize("value", [0, -1, 2, True, "half"])
def test_a_share_is_a_number_up_to_one(value):
    with pytest.raises(IvmError, match=r"ivm_max_change_ratio is .*; allowed: a number"):
        read_settings({"ivm_max_change_ratio": value}, "m")


def commit(at: str) -> Commit:
    return Commit(3, at, "MERGE")


REFRESH = Effort("2026-01-01 10:00:00.5", False, 70)


def test_a_commit_tells_what_it_took():
    before = Costs(BUILD, Cost(9.0, 10))
    assert learned(before, REFRESH, commit("2026-01-01 10:00:03")) == Costs(BUILD, Cost(2.5, 70))


def test_a_rebuild_lets_a_slow_refresh_fade():
    rebuilt = learned(
        Costs(BUILD, Cost(10.0, 7)), replace(REFRESH, full=True), commit("2026-01-01 10:00:10.5")
    )
    assert rebuilt == Costs(Cost(10.0, 70), Cost(8.0, 7))


@pytest.mark.parametrize(
    ("effort", "at"),
    [
        (None, "2026-01-01 10:00:03"),
        (replace(REFRESH, rows=None), "2026-01-01 10:00:03"),
        (REFRESH, "2026-01-01 09:59:59"),
        (REFRESH, "2026-01-03 10:00:00"),
    ],
    ids=["unknown effort", "unknown rows", "clock behind", "clock ahead"],
)
def test_what_cannot_be_measured_teaches_nothing(effort, at):
    assert learned(Costs(BUILD), effort, commit(at)) == Costs(BUILD)


def test_a_plan_says_what_its_commit_is_about_to_do():
    plan = planned(MODEL, replace(told(1000), began="2026-01-01 10:00:00"))
    assert plan.watermark is not None
    assert plan.watermark.effort == Effort("2026-01-01 10:00:00", False, 1000)
    first = planned(MODEL, replace(facts(MODEL), heads={ORDERS: replace(head(ORDERS), rows=5)}))
    assert first.watermark is not None
    assert first.watermark.effort == Effort("", True, 5)
