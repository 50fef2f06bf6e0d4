"""Linear operators: the delta is the operator applied to the delta.

Δσp(S) = σp(ΔS)      Δπe(S) = πe(ΔS)      Δ(S ∪all T) = ΔS + ΔT      Δexplode(S) = explode(ΔS)
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Filter,
    Generate,
    Item,
    Node,
    Project,
    Scan,
    State,
    UnionAll,
)
from dbt_ivm.algebra.scalar import Scalar, ref
from dbt_ivm.delta.rules import Changes, delta, rule
from dbt_ivm.names import WEIGHT
from dbt_ivm.sql.dialect import literal


@rule.register
def _(node: Scan, changes: Changes) -> Node:
    return replace(node, state=State.DELTA)


@rule.register
def _(node: Filter, changes: Changes) -> Node:
    return replace(node, input=_of(node.input, changes))


@rule.register
def _(node: Project, changes: Changes) -> Node:
    items = (*node.items, Item(WEIGHT, ref(WEIGHT)))
    return replace(node, input=_of(node.input, changes), items=items)


@rule.register
def _(node: Generate, changes: Changes) -> Node:
    return replace(node, input=_of(node.input, changes))


@rule.register
def _(node: UnionAll, changes: Changes) -> Node:
    """An unchanged branch stays as an empty one, so that Spark still widens the column types."""
    branches = []
    for branch in node.branches:
        changed = delta(branch, changes)
        if changed is None:
            nothing = Filter(branch, Scalar(exp.false()))
            weightless = tuple(Item(name, ref(name)) for name in branch.columns)
            changed = Project(nothing, (*weightless, Item(WEIGHT, Scalar(literal(0)))))
        else:
            changed = _weight_last(changed)
        branches.append(changed)
    return UnionAll(tuple(branches), (*node.names, WEIGHT))


def _of(node: Node, changes: Changes) -> Node:
    changed = delta(node, changes)
    if changed is None:
        raise AssertionError("a rule is only asked for an input that changed")
    return changed


def _weight_last(node: Node) -> Node:
    if node.columns[-1] == WEIGHT:
        return node
    columns = [name for name in node.columns if name != WEIGHT]
    return Project(node, tuple(Item(name, ref(name)) for name in (*columns, WEIGHT)))
