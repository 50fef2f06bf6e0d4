"""Repair from facts alone: what it compares, what it writes, and when it must rebuild."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_ivm.plan.model import Facts, Target
from dbt_ivm.plan.repair import plan_repair, why_rebuild
from dbt_ivm.sql.dialect import render
from tests.planner.facts import NEW, OLD, ShopCatalog, analyzed, built, columns, facts, head

MODEL = analyzed("select customer_id, count(*) as n from orders group by customer_id")
BUILT = built(MODEL, facts(MODEL))
ZONED = built(MODEL, facts(MODEL, zone="UTC"))
STORED = columns("customer_id int, `__ivm_count` bigint")


def test_the_extent_is_compared_at_its_watermark():
    probe, plan = plan_repair(MODEL, BUILT, ShopCatalog())
    (merge,) = plan.steps
    for text in (render(probe), merge.sql):
        assert f"`shop`.`orders` VERSION AS OF {OLD}" in text
    assert merge.commits
    assert "WHEN MATCHED AND NOT `d`.`__ivm_kept` THEN DELETE" in merge.sql
    before = BUILT.target.watermark
    assert plan.watermark == replace(before, generation=before.generation + 1, writer=BUILT.writer)


def test_a_source_that_did_not_change_is_read_at_its_head():
    told = replace(BUILT, heads={name: head(name, operation="OPTIMIZE") for name in BUILT.heads})
    probe, _ = plan_repair(MODEL, told, ShopCatalog())
    assert f"`shop`.`orders` VERSION AS OF {NEW}" in render(probe)


def test_a_global_aggregate_has_one_group():
    model = analyzed("select count(*) as n from orders")
    probe, plan = plan_repair(model, built(model, facts(model)), ShopCatalog())
    assert "LIMIT 1" in render(probe)
    assert "ON TRUE" in plan.steps[0].sql


def test_a_missing_view_is_made_again():
    told = replace(BUILT, target=replace(BUILT.target, kind=None))
    assert [s.title for s in plan_repair(MODEL, told, ShopCatalog())[1].steps] == [
        "put the groups right",
        "create the view",
    ]


@pytest.mark.parametrize(
    ("told", "stored", "reason"),
    [
        (BUILT, STORED, ""),
        (replace(BUILT, target=Target("view", head(("a",)))), STORED, "no watermark to compare at"),
        (BUILT, columns("customer_id int, m map<string,int>"), "`m` cannot be compared"),
        (
            replace(BUILT, heads={n: replace(h, history=()) for n, h in BUILT.heads.items()}),
            STORED,
            "`shop.orders` has no history back to version 5 any more",
        ),
        (replace(ZONED, zone="Asia/Tokyo"), STORED, "the time zone of the session changed"),
    ],
)
def test_what_cannot_be_compared_is_rebuilt(told: Facts, stored, reason):
    found = why_rebuild(MODEL, told, stored)
    assert reason in found
    assert bool(found) == bool(reason)


def test_another_definition_is_rebuilt():
    other = analyzed("select customer_id, max(id) as n from orders group by customer_id")
    assert why_rebuild(other, BUILT, STORED) == "the definition changed"
