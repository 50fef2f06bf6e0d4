"""How many rows the parts of a plan have, as far as tables and their commits tell.

Spark knows nothing about the size of a change data feed and takes it for huge: it would sort and
move the whole of a table to join it with a handful of changed rows. The planner knows better.

    |S ⋈ T on s = t| = |S| · |T| / min(|table of s|, |table of t|)

The smaller of two tables is taken for the one whose key the other one refers to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatchmethod

from dbt_ivm.algebra.joins import Conditional
from dbt_ivm.algebra.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Named,
    Net,
    Node,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    Sort,
    Stamped,
    State,
    TableName,
    UnionAll,
    Values,
    Window,
)
from dbt_ivm.algebra.predicates import equal_columns

FEW = 100_000
"""Rows that every worker can hold: some megabytes."""
_PER_ROW = 10
"""Rows that a generator makes of one, for want of a better guess."""


@dataclass(frozen=True)
class Sizes:
    """Rows of tables, and rows in their changes; what nobody knows is absent."""

    tables: Mapping[TableName, int] = field(default_factory=dict)
    changes: Mapping[TableName, int] = field(default_factory=dict)


class Estimate:
    """Rows per part of a plan; None where a size it depends on is not known."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._known: dict[int, tuple[Node, float | None]] = {}

    def rows(self, node: Node) -> float | None:
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._rows(node))
        return self._known[id(node)][1]

    @singledispatchmethod
    def _rows(self, node: Node) -> float | None:
        """Operators that keep rows or drop some."""
        return self._sum(node.inputs)

    @_rows.register
    def _(self, node: Scan) -> float | None:
        known = self._sizes.changes if node.state is State.DELTA else self._sizes.tables
        return known.get(node.table)

    @_rows.register
    def _(self, node: OneRow) -> float | None:
        return 1

    @_rows.register
    def _(self, node: Values) -> float | None:
        return len(node.rows)

    @_rows.register
    def _(self, node: Generate) -> float | None:
        rows = self.rows(node.input)
        return None if rows is None else rows * _PER_ROW

    @_rows.register
    def _(self, node: Join) -> float | None:
        return self._joined(node)

    @_rows.register
    def _(self, node: SemiJoin) -> float | None:
        left, joined = self.rows(node.left), self._joined(node)
        return left if joined is None or left is None or node.anti else min(left, joined)

    @_rows.register
    def _(self, node: OuterJoin) -> float | None:
        joined, alone = self._joined(node), self._sum(node.inputs if node.full else (node.left,))
        return None if joined is None or alone is None else joined + alone

    def _sum(self, nodes: tuple[Node, ...]) -> float | None:
        rows = [self.rows(node) for node in nodes]
        return None if None in rows else sum(n for n in rows if n is not None)

    def _joined(self, node: Conditional) -> float | None:
        left, right = self.rows(node.left), self.rows(node.right)
        if left is None or right is None:
            return None
        pairs = equal_columns(node)
        domains = [self._domain(node.left, a, node.right, b) for a, b in pairs]
        known = [domain for domain in domains if domain]
        if pairs and not known:
            return None
        return left * right / max(known, default=1)

    def _domain(self, left: Node, a: str, right: Node, b: str) -> int | None:
        """How many values two equal columns may have in common."""
        sizes = [
            self._sizes.tables.get(table or ()) for table in (_owner(left, a), _owner(right, b))
        ]
        known = [size for size in sizes if size is not None]
        return min(known) if len(known) == len(sizes) else None


def is_few(node: Node, sizes: Sizes) -> bool:
    """Whether a result is known to have few rows."""
    rows = Estimate(sizes).rows(node)
    return rows is not None and rows <= FEW


_PASSING = (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Named,
    Net,
    OuterJoin,
    SemiJoin,
    Sort,
    Stamped,
    Window,
)


def _owner(node: Node, column: str) -> TableName | None:
    """The table that a column is taken from as it is."""
    if isinstance(node, Scan):
        return node.table
    if isinstance(node, Project):
        passed = next((i.value.column for i in node.items if i.name == column), None)
        return _owner(node.input, passed) if passed else None
    if isinstance(node, UnionAll):
        branch = node.branches[0]
        return _owner(branch, branch.columns[node.names.index(column)])
    if isinstance(node, _PASSING):
        source = next((i for i in node.inputs if column in i.columns), None)
        return _owner(source, column) if source is not None else None
    return None
