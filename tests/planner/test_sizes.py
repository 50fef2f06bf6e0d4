"""What the planner takes results to be as large as, and what it makes of that."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dbt_ivm.algebra.nodes import Aggregate, Field, Filter, Generate, Join, Scan, State
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.algebra.sizes import FEW, Estimate, Sizes
from dbt_ivm.sources.format import Trouble
from dbt_ivm.sql.dialect import parse_query
from tests.planner.facts import OLD, analyzed, built, facts, head, planned

SIZES = Sizes({("orders",): 1000, ("customers",): 100, ("lines",): 4000}, {("orders",): 10})


def scan(table: str, *columns: str, state: State = State.NEW) -> Scan:
    return Scan((table,), tuple(Field(c, c, "int") for c in columns), state)


def on(text: str) -> Scalar:
    return Scalar(parse_query(f"select {text}").selects[0])


CHANGED = scan("orders", "id", "c", state=State.DELTA)
LINES = scan("lines", "o", "p")
CUSTOMERS = scan("customers", "k")


@pytest.mark.parametrize(
    ("node", "rows"),
    [
        (CHANGED, 10),
        (Filter(LINES, on("`p` > 1")), 4000),
        (Join(CHANGED, LINES, on("`id` = `o`")), 40),
        (Join(CHANGED, CUSTOMERS, on("`c` = `k`")), 10),
        (Join(Join(CHANGED, LINES, on("`id` = `o`")), CUSTOMERS, on("`c` = `k`")), 40),
        (Join(CHANGED, CUSTOMERS, on("`c` > `k`")), 1000),
        (Aggregate(Join(CHANGED, LINES, on("`id` = `o`")), ("c",), ()), 40),
        (Join(CHANGED, scan("unheard_of", "x"), on("`id` = `x`")), None),
        (Generate(CHANGED, on("explode(array(1, 2))"), False, ("e",)), 100),
    ],
)
def test_rows(node, rows):
    assert Estimate(SIZES).rows(node) == rows


def merge(sql: str, sizes: dict[str, int], *changed: str, **told: object) -> str:
    """The MERGE after changes of ten rows in tables of these sizes."""
    analysis = analyzed(sql)
    later = built(analysis, facts(analysis))
    heads = {
        name: replace(
            head(name, rows=10) if name[-1] in changed else head(name, OLD),
            rows=sizes.get(name[-1]),
        )
        for name in later.heads
    }
    steps = planned(analysis, replace(later, heads=heads, **told)).steps
    return next(step.sql for step in steps if step.commits)


JOIN = "select o.id, c.name from orders o join customers c on c.id = o.customer_id"


def states(text: str) -> list[str]:
    """The tables read as they are, in order."""
    return re.findall(r"FROM `shop`\.`(\w+)` VERSION AS OF 7", text)


def test_what_is_on_the_right_is_the_larger_table():
    """Each changed table drives a term; the one that is last is read once, for all of them."""
    three = (
        "select o.id, c.name, e.id as e from orders o join customers c on c.id = o.customer_id"
        " join events e on e.id = c.id"
    )
    every = ("orders", "customers", "events")
    small_last = merge(three, {"orders": 10**6, "customers": 1000, "events": 100}, *every)
    large_last = merge(three, {"orders": 100, "customers": 1000, "events": 10**6}, *every)
    assert states(small_last).count("orders") == 1
    assert states(large_last).count("events") == 1


def test_a_join_of_few_rows_is_sent_as_a_whole():
    three = JOIN.replace("c.name", "c.name, e.id as e") + " join events e on e.id = c.id"
    sizes = {"orders": 1000, "customers": 1000, "events": 1000}
    assert merge(three, sizes, "orders").count("BROADCAST") == 2
    assert merge(three, {}, "orders").count("BROADCAST") == 1


def test_many_rows_are_not_sent():
    """Ten customers have all of the orders: what they are joined to is not small any more."""
    three = JOIN.replace("c.name", "c.name, e.id as e") + " join events e on e.id = o.id"
    few = {"orders": 1000, "customers": 10, "events": 10**6}
    assert merge(three, few, "customers").count("BROADCAST") == 2
    assert merge(three, few | {"orders": 100 * FEW}, "customers").count("BROADCAST") == 1


def test_after_a_refused_broadcast_nothing_is_sent():
    sizes = {"orders": 1000, "customers": 1000}
    assert "BROADCAST" in merge(JOIN, sizes, "orders")
    setbacks = frozenset({Trouble.TOO_LARGE})
    assert "BROADCAST" not in merge(JOIN, sizes, "orders", setbacks=setbacks)
