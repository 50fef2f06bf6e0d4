"""Derived property: column sets whose values no two rows of a relation share."""

from __future__ import annotations

from functools import singledispatch

from dbt_ivm.algebra.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Node,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    Sort,
    TableName,
    Window,
)

UniqueColumns = dict[TableName, frozenset[str]]
"""Per table, the columns known to be unique together: the key of an upstream extent."""


def is_unique(node: Node, known: UniqueColumns) -> bool:
    """Whether the planner can prove that no row of the relation occurs twice."""
    return bool(_unique(node, known))


@singledispatch
def _unique(node: Node, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    return ()


@_unique.register
def _(node: Scan, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    names = {field.source.lower(): field.name for field in node.fields}
    key = known.get(node.table)
    if key is None or not key <= names.keys():
        return ()
    return (frozenset(names[source] for source in key),)


@_unique.register
def _(node: OneRow, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    return (frozenset(),)


@_unique.register(Filter)
@_unique.register(SemiJoin)
@_unique.register(Sort)
@_unique.register(Limit)
@_unique.register(Window)
def _(node: Node, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    return _unique(node.inputs[0], known)


@_unique.register
def _(node: Project, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    passed = {item.value.column: item.name for item in node.items if item.value.column}
    keys = _unique(node.input, known)
    return tuple(frozenset(passed[c] for c in key) for key in keys if key <= passed.keys())


@_unique.register
def _(node: Aggregate, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    return (frozenset(node.keys),)


@_unique.register
def _(node: Distinct, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    return (frozenset(node.columns),)


@_unique.register
def _(node: Join, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    left, right = _unique(node.left, known), _unique(node.right, known)
    return tuple(a | b for a in left for b in right)


@_unique.register
def _(node: OuterJoin, known: UniqueColumns) -> tuple[frozenset[str], ...]:
    """A left row without a match stands there once; a full join could show two rows of NULLs."""
    if node.full:
        return ()
    left, right = _unique(node.left, known), _unique(node.right, known)
    return tuple(a | b for a in left for b in right)
