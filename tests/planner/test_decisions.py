"""Strategy and reason of a refresh, from facts alone; the plan and its explanation agree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_ivm.errors import IvmError
from dbt_ivm.plan.explain import explain
from dbt_ivm.plan.model import Strategy, Target
from dbt_ivm.plan.settings import OnUnsupported, Refresh, Settings
from dbt_ivm.plan.watermark import Types, decode
from dbt_ivm.sources.facts import Reading
from dbt_ivm.sources.format import Trouble
from tests.planner.facts import EXTENT, OLD, analyzed, built, columns, facts, head, planned

SQL = "select o.id, c.name from orders o join customers c on c.id = o.customer_id"
MODEL = analyzed(SQL)
BUILT = built(MODEL, facts(MODEL))
HEADS_THEN = {name: head(name, OLD) for name in BUILT.heads}


def changed_target(**changes: object) -> Target:
    return replace(BUILT.target, watermark=replace(BUILT.target.watermark, **changes))


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (facts(MODEL), "first build"),
        (replace(BUILT, full_refresh=True), "asked for with --full-refresh"),
        (
            replace(BUILT, target=Target("view", head(EXTENT), None, "someone wrote to it")),
            "someone wrote to it",
        ),
        (replace(BUILT, target=Target("view", head(EXTENT))), "the extent carries no watermark"),
        (replace(BUILT, target=Target("view", view="hash")), "the extent is gone"),
        (
            replace(BUILT, settings=Settings(partition_by=("id",))),
            "the setting partition_by changed",
        ),
        (
            replace(BUILT, setbacks=frozenset({Trouble.HISTORY_LOST})),
            "a source lost history that the refresh needs, by vacuum or log clean-up",
        ),
        (replace(BUILT, target=changed_target(format=0)), "the stored format changed"),
        (replace(BUILT, target=changed_target(fingerprint="x")), "the definition changed"),
        (
            replace(BUILT, settings=Settings(refresh=Refresh.FULL)),
            "the model sets ivm_refresh: full",
        ),
        (
            replace(BUILT, target=changed_target(marks=BUILT.target.watermark.marks[:1])),
            "`shop.customers` is new to the model",
        ),
        (
            replace(BUILT, heads={n: replace(h, history=()) for n, h in BUILT.heads.items()}),
            "`shop.orders` has no history back to version 5 any more",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_full_with_its_reason(told, reason):
    plan = planned(MODEL, told)
    assert (plan.strategy, plan.reason) == (Strategy.FULL, reason)
    has_view = told.target.view == BUILT.target.view
    titles = ["build the extent"] if has_view else ["build the extent", "create the view"]
    assert [step.title for step in plan.steps] == titles
    assert [step.commits for step in plan.steps] == [True, False][: len(titles)]


def test_a_refused_feed_is_replaced_by_the_difference():
    assert {c.reading for c in planned(MODEL, BUILT).changes} == {Reading.FEED}
    plan = planned(MODEL, replace(BUILT, setbacks=frozenset({Trouble.FEED_REFUSED})))
    assert plan.strategy is Strategy.INCREMENTAL
    assert {c.reading for c in plan.changes} == {Reading.DIFFERENCE}
    assert "the change data feed cannot be read" in explain(plan)


def test_storage_settings_are_kept_with_the_extent():
    """Whatever the settings were at the build: the same ones later change nothing."""
    settings = Settings(cluster_by=("id",), properties=(("a", "b"),))
    kept = '{"clustered_by": ["id"], "tblproperties": {"a": "b"}}'
    statement = planned(MODEL, facts(MODEL, settings=settings)).steps[0].sql
    assert f"'dbt_ivm.storage'='{kept}'" in statement
    properties = {"dbt_ivm.storage": kept}
    later = replace(BUILT, settings=settings, target=replace(BUILT.target, properties=properties))
    assert planned(MODEL, later).strategy is Strategy.INCREMENTAL
    assert planned(MODEL, replace(later, settings=Settings())).reason == (
        "the setting clustered_by, tblproperties changed"
    )


def test_a_schema_of_its_own_is_made_with_the_first_extent():
    told = facts(MODEL, settings=Settings(schema="state"), extent=("state", "shop__m__ivm"))
    plan = planned(MODEL, told)
    assert plan.steps[0].sql == "CREATE SCHEMA IF NOT EXISTS `state`"
    assert "SCHEMA" not in planned(MODEL, built(MODEL, told)).steps[0].sql


def test_a_model_without_rules_notices_its_columns():
    model = analyzed("select id, status from orders qualify row_number() over (order by id) = 1")
    told = facts(model, columns("id bigint, status string"))
    later = replace(built(model, told), heads={n: head(n, OLD) for n in told.heads})
    assert planned(model, later).strategy is Strategy.NOOP
    wider = replace(later, types=Types((), columns("id bigint, status string, more int")))
    plan = planned(model, wider)
    assert (plan.strategy, plan.reason) == (Strategy.FULL, "the model's columns changed")


def test_noop_when_nothing_changed():
    plan = planned(MODEL, replace(BUILT, heads=HEADS_THEN))
    assert (plan.strategy, plan.reason) == (Strategy.NOOP, "nothing changed")
    assert (plan.steps, plan.watermark) == ((), None)


def test_noop_when_only_files_were_rewritten():
    heads = {name: head(name, operation="OPTIMIZE") for name in BUILT.heads}
    assert planned(MODEL, replace(BUILT, heads=heads)).strategy is Strategy.NOOP


def test_incremental_names_what_changed():
    heads = HEADS_THEN | {("shop", "orders"): head(("shop", "orders"))}
    plan = planned(MODEL, replace(BUILT, heads=heads))
    assert (plan.strategy, plan.reason) == (Strategy.INCREMENTAL, "changed: shop.orders")
    assert [step.title for step in plan.steps] == ["apply the change"]
    assert "shop`.`customers` VERSION AS OF 5" in plan.steps[0].sql
    assert "table_changes('`shop`.`customers`'" not in plan.steps[0].sql.lower()


def test_the_watermark_moves_on_to_the_heads():
    plan = planned(MODEL, BUILT)
    assert plan.watermark is not None
    assert plan.watermark.generation == BUILT.target.watermark.generation + 1
    assert {m.table: m.version for m in plan.watermark.marks} == {
        ("shop", "orders"): 7,
        ("shop", "customers"): 7,
    }
    assert decode(plan.watermark.encode()) == plan.watermark


def test_a_view_that_changed_is_written_without_touching_the_extent():
    counts = analyzed("select status, count(*) as n from orders group by status")
    later = analyzed("select status, count(*) as n from orders group by status having n > 1")
    before = built(counts, facts(counts))
    now = replace(before, heads={name: head(name, OLD) for name in before.heads})
    plan = planned(later, now)
    assert plan.strategy is Strategy.NOOP
    assert [step.title for step in plan.steps] == ["create the view"]


def test_a_table_under_the_models_name_makes_way():
    plan = planned(MODEL, facts(MODEL, target=Target("table")))
    titles = [step.title for step in plan.steps]
    assert titles == ["build the extent", "drop the table", "create the view"]


REFUSED = analyzed("select id from orders qualify row_number() over (order by id) = 1")


def test_a_refused_model_is_rebuilt_only_when_its_sources_changed():
    before = built(REFUSED, facts(REFUSED))
    plan = planned(REFUSED, before)
    assert (plan.strategy, plan.reason) == (Strategy.FULL, "QUALIFY in the model has no rule")
    assert "VERSION AS OF 7" in plan.steps[0].sql
    heads = {name: head(name, OLD) for name in before.heads}
    assert planned(REFUSED, replace(before, heads=heads)).strategy is Strategy.NOOP


def test_a_model_that_drifts_by_itself_is_always_rebuilt():
    drifting = analyzed("select id, rand() as r from orders")
    before = built(drifting, facts(drifting))
    heads = {name: head(name, OLD) for name in before.heads}
    assert planned(drifting, replace(before, heads=heads)).strategy is Strategy.FULL


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        (Settings(on_unsupported=OnUnsupported.ERROR), "`ivm_on_unsupported: error`"),
        (Settings(refresh=Refresh.INCREMENTAL), "`ivm_refresh: incremental`"),
    ],
    ids=["error", "incremental"],
)
def test_a_refused_model_stops_the_run_where_asked(settings, asked):
    with pytest.raises(IvmError, match=f"QUALIFY in the model has no rule.*{asked}"):
        planned(REFUSED, facts(REFUSED, settings=settings))


def test_a_column_shown_twice_is_an_error():
    twice = analyzed("select id, id from orders")
    with pytest.raises(IvmError, match="selects `id` twice"):
        planned(twice, facts(twice))


def test_a_partition_column_must_be_stored():
    model = analyzed("select status as state, count(*) as n from orders group by status")
    plan = planned(model, facts(model, settings=Settings(partition_by=("State",))))
    assert "PARTITIONED BY" in plan.steps[0].sql
    with pytest.raises(IvmError, match="partition_by names `n`, which is not stored as such"):
        planned(model, facts(model, settings=Settings(partition_by=("n",))))


def test_explain_says_what_the_plan_does():
    plan = planned(MODEL, BUILT)
    text = explain(plan)
    assert "Strategy  incremental (changed: shop.orders, shop.customers)" in text
    assert "shop.orders: versions 5 -> 7, change data feed" in text
    for step in plan.steps:
        assert step.title in text
        assert all(line in text for line in step.sql.splitlines())


@pytest.mark.parametrize(
    ("sql", "doubtful"),
    [
        ("select status, first(price) as p from orders group by status", ["first"]),
        ("select status, collect_list(id) as ids from orders group by status", ["collect_list"]),
        (
            "select id, first_value(price) over (partition by status order by id) as p from orders",
            [],
        ),
        ("select status, max(price) as p from orders group by status", []),
    ],
)
def test_what_spark_may_answer_in_more_than_one_way_is_said(sql, doubtful):
    model = analyzed(sql)
    plan = planned(model, facts(model))
    assert [doubt.split("`")[1] for doubt in plan.doubts] == doubtful
