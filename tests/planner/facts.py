"""A shop in a dict: the catalog, table heads and marks that planner tests plan against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import Aggregate, Node, Project, Scan, TableName, UnionAll
from dbt_ivm.errors import Unsupported
from dbt_ivm.names import CLOCK
from dbt_ivm.plan.analysis import Analysis, analyze
from dbt_ivm.plan.model import Facts, RefreshPlan, Target
from dbt_ivm.plan.refresh import plan_refresh
from dbt_ivm.plan.settings import Settings
from dbt_ivm.plan.watermark import Types
from dbt_ivm.sources.clock import Clock
from dbt_ivm.sources.facts import Commit, Head
from dbt_ivm.sql.catalog import ColumnFact, RelationFact, ViewFact
from dbt_ivm.sql.functions import Functions

VIEW, EXTENT = ("shop", "m"), ("shop", "m__ivm")
TABLES = {
    "orders": "id bigint, customer_id int, status string, price decimal(10,2), weight double",
    "customers": "id int, name string, segment string, address struct<city:string,zip:int>",
    "events": "id int, tags array<string>, attributes map<string,string>, payload string",
    "readings": "id int, at timestamp, body variant",
    "Mixed": "Id int, `Order No` string, `select` int, `tick``ed` int",
}
VIEWS = {
    "big_orders": (
        "id bigint, customer_id int, price decimal(10,2)",
        "select id, customer_id, price from orders where price > 100",
    ),
    "named_customers": ("customer int, who string", "select id, upper(name) from customers"),
    "chained": ("id bigint", "select id from big_orders where customer_id is not null"),
    "counted": ("n bigint", "select count(*) as n from orders"),
}
QUERY_COLUMNS = {"named_customers": ("id", "upper(name)"), "counted": ()}
"""What a view's query calls its columns, where not as the view does; () where nobody knows."""
OLD, NEW = 5, 7


def columns(text: str) -> tuple[ColumnFact, ...]:
    """`a int, b array<string>` as facts."""
    tree = exp.maybe_parse(f"struct<{text}>", into=exp.DataType, dialect="spark")
    return tuple(
        ColumnFact(field.name, field.args["kind"].sql("spark").lower().replace(", ", ","))
        for field in tree.expressions
    )


class ShopCatalog:
    """Looks the shop's relations up as Spark would: without regard to case."""

    def __init__(self, unique: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._unique = unique or {}

    def relation(self, name: TableName) -> RelationFact:
        key = name[-1].lower()
        for known, text in TABLES.items():
            if known.lower() == key:
                return RelationFact(("shop", key), columns(text), unique=self._unique.get(key))
        if key in VIEWS:
            shown, text = VIEWS[key]
            known_ = columns(shown)
            queried = QUERY_COLUMNS.get(key, tuple(c.name for c in known_))
            return RelationFact(("shop", key), known_, "view", ViewFact(text, queried, ("shop",)))
        raise Unsupported(f"`{'.'.join(name)}`, which keeps no versions,")


def analyzed(sql: str, functions: Functions | None = None) -> Analysis:
    """A model of the shop as the planner sees it."""
    return analyze(sql, ShopCatalog(), functions or Functions())


def head(
    name: TableName, version: int = NEW, operation: str = "WRITE", rows: int | None = None
) -> Head:
    """A table with a change data feed that stands at a version; `rows` in each of its commits."""
    if name[0] == CLOCK:
        return Clock().head(name[-1], version)
    history = tuple(Commit(v, f"t{v}", operation, rows=rows) for v in range(version, -1, -1))
    return Head(name, f"id-{name[-1]}", version, f"t{version}", True, history)


def types_of(analysis: Analysis, outputs: Iterable[ColumnFact] = ()) -> Types:
    """The types Spark would derive, where they follow from the tables; anything else is an int."""
    model = analysis.maintainable
    if model is None:
        return Types((), tuple(outputs))
    known = _known(model.core)
    core = model.core
    for call in core.calls if isinstance(core, Aggregate) else ():
        argument = call.arguments[0].column if call.arguments else None
        known[call.name] = known.get(argument or "", "int")
    shown = tuple(outputs) or tuple(
        ColumnFact(o.visible, known.get(o.name, "int")) for o in model.outputs
    )
    return Types(tuple(ColumnFact(n, t) for n, t in known.items()), shown)


def _known(node: Node) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in node.inputs:
        found |= _known(part)
    if isinstance(node, Scan):
        return {field.name: field.type for field in node.fields}
    if isinstance(node, UnionAll):
        first = node.branches[0].columns
        return {n: found.get(c, "int") for n, c in zip(node.names, first, strict=True)}
    if isinstance(node, Project):
        return {i.name: _made(i.value.tree, found) for i in node.items}
    return found


def _made(tree: exp.Expr, known: Mapping[str, str]) -> str:
    """Columns keep their types; what is made of `map` and `array` looks like it."""
    if isinstance(tree, exp.Array):
        return f"array<{_made(tree.expressions[0], known)}>"
    if isinstance(tree, exp.Map | exp.VarMap):
        return "map<string,int>"
    return known.get(tree.name if isinstance(tree, exp.Column) else "", "int")


def facts(analysis: Analysis, outputs: Iterable[ColumnFact] = (), **changes: object) -> Facts:
    """A model that does not exist yet, every table at its newest version."""
    heads = {name: head(name) for name in analysis.tables or ()}
    types = types_of(analysis, outputs)
    first = Facts("m", VIEW, EXTENT, Settings(), heads, types, Target(), package="1")
    return replace(first, clock=1, **changes)


def planned(analysis: Analysis, told: Facts) -> RefreshPlan:
    return plan_refresh(analysis, told, ShopCatalog())


def built(analysis: Analysis, told: Facts) -> Facts:
    """The same facts after a first build at the old versions."""
    before = replace(told, heads={name: head(name, OLD) for name in told.heads}, target=Target())
    plan = planned(analysis, before)
    mark = re.search(r"'dbt_ivm.view'='(\w+)'", plan.steps[-1].sql)
    assert mark is not None
    return replace(told, target=Target("view", head(EXTENT), plan.watermark, view=mark[1]))
