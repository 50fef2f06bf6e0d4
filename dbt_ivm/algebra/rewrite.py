"""Normalisation on the algebra: cut every node to the columns that are used above it.

This is the sources' "projections cascade and are pushed below join and union": netting a delta on
fewer columns makes changes to any other column disappear before they cost anything.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from dbt_ivm.algebra.nodes import (
    Aggregate,
    Generate,
    Item,
    Join,
    Node,
    OneRow,
    Project,
    Scan,
    Unary,
    UnionAll,
)
from dbt_ivm.algebra.scalar import ref


@singledispatch
def prune(node: Node, used: frozenset[str]) -> Node:
    """The node with only the columns in `used` (and what it needs itself) left below it."""
    raise TypeError(f"no pruning rule for {type(node).__name__}")


def _needed(node: Node, used: frozenset[str]) -> frozenset[str]:
    return used | {name for scalar in node.scalars for name in scalar.columns}


@prune.register
def _(node: Scan, used: frozenset[str]) -> Node:
    kept = tuple(field for field in node.fields if field.name in used)
    # count(*) uses no column at all, but rows still need something to be counted by.
    return replace(node, fields=kept or node.fields[:1])


@prune.register
def _(node: OneRow, used: frozenset[str]) -> Node:
    return node


@prune.register
def _(node: Unary, used: frozenset[str]) -> Node:
    return node.with_inputs((prune(node.input, _needed(node, used)),))


@prune.register
def _(node: Project, used: frozenset[str]) -> Node:
    items = tuple(item for item in node.items if item.name in used) or node.items[:1]
    columns = frozenset(name for item in items for name in item.value.columns)
    return replace(node, input=prune(node.input, columns), items=items)


@prune.register
def _(node: Generate, used: frozenset[str]) -> Node:
    needed = _needed(node, used) - set(node.names)
    return replace(node, input=prune(node.input, needed))


@prune.register
def _(node: Aggregate, used: frozenset[str]) -> Node:
    calls = tuple(c for c in node.calls if c.name in used)
    needed = {name for c in calls for name in c.written.columns} | set(node.keys)
    return replace(node, input=prune(node.input, frozenset(needed)), calls=calls)


@prune.register
def _(node: Join, used: frozenset[str]) -> Node:
    needed = _needed(node, used)
    return replace(node, left=prune(node.left, needed), right=prune(node.right, needed))


@prune.register
def _(node: UnionAll, used: frozenset[str]) -> Node:
    kept = [i for i, name in enumerate(node.names) if name in used] or [0]
    branches = []
    for branch in node.branches:
        pruned = prune(branch, frozenset(branch.columns[i] for i in kept))
        columns = tuple(branch.columns[i] for i in kept)
        branches.append(pruned if pruned.columns == columns else select_columns(pruned, columns))
    return UnionAll(tuple(branches), tuple(node.names[i] for i in kept))


def select_columns(node: Node, columns: tuple[str, ...]) -> Node:
    """Exactly these columns, in this order."""
    return Project(node, tuple(Item(name, ref(name)) for name in columns))
