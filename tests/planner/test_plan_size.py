"""Plans grow with the query, not with the number of paths through it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.planner.facts import analyzed, built, facts, planned


def merge_of(sql: str) -> str:
    """The MERGE of a model all of whose tables changed, with what is kept for it."""
    analysis = analyzed(sql)
    told = facts(analysis)
    plan = planned(analysis, replace(built(analysis, told), heads=told.heads))
    return "\n".join(step.sql for step in plan.steps if not step.tidies)


def joined(width: int) -> str:
    """A chain of joins of as many tables."""
    tables = " ".join(
        f"join orders o{n} on o{n}.id = o{n - 1}.customer_id" for n in range(1, width)
    )
    return f"select o0.id, o{width - 1}.price from orders o0 {tables}"


def nested(depth: int) -> str:
    """CTEs of which each reads the one before it twice."""
    ctes = ["q0 as (select customer_id as k, count(*) as n from orders group by customer_id)"]
    ctes += [
        f"q{i} as (select a.k, a.n + b.n as n from q{i - 1} a join q{i - 1} b on a.k = b.n)"
        for i in range(1, depth)
    ]
    return f"with {', '.join(ctes)} select k, n from q{depth - 1}"


@pytest.mark.parametrize("make", [joined, nested], ids=["join", "CTEs"])
def test_plans_grow_linearly(make):
    small, middle, large = (len(merge_of(make(n))) for n in (4, 8, 12))
    assert large - middle < 2 * (middle - small), "twice the query is not more than twice the plan"


def test_a_join_of_twelve_tables_has_no_cross_product():
    assert "CROSS JOIN" not in merge_of(joined(12))
