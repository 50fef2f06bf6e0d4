"""The dispatch of delta rules: `delta(node, changed)` is the signed change of a relation.

Every rule returns a tree with one more column, the weight, or None where nothing changed. Rules
register themselves here from one file per operator family; importing the package loads them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

from dbt_ivm.algebra.nodes import Node, Scan, State, TableName, transform
from dbt_ivm.errors import Unsupported
from dbt_ivm.names import WEIGHT


@dataclass(frozen=True)
class Changes:
    """Which tables changed since the watermark: only they produce terms (partial differencing)."""

    tables: frozenset[TableName]

    def touch(self, node: Node) -> bool:
        if isinstance(node, Scan):
            return node.table in self.tables
        return any(self.touch(i) for i in node.inputs)


@singledispatch
def rule(node: Node, changes: Changes) -> Node:
    """The delta of one operator whose input did change."""
    raise Unsupported(f"{type(node).__name__.upper()} below the top of the query")


def delta(node: Node, changes: Changes) -> Node | None:
    """ΔQ = Q_new − Q_old as signed rows; None when no table below has changed."""
    if not changes.touch(node):
        return None
    result = rule(node, changes)
    if result.columns.count(WEIGHT) != 1 or set(result.columns) != {*node.columns, WEIGHT}:
        raise AssertionError(f"the rule of {type(node).__name__} must add exactly the weight")
    return result


def new(node: Node) -> Node:
    """The relation at the head versions."""
    return node


def old(node: Node, changes: Changes) -> Node:
    """The relation at the watermark; a table that did not change is read at its head."""

    def at_watermark(part: Node) -> Node:
        if isinstance(part, Scan) and part.table in changes.tables:
            return replace(part, state=State.OLD)
        return part

    return transform(node, at_watermark)
