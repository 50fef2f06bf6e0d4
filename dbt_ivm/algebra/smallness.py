"""Results that are no larger than the changes they are made from.

Spark knows nothing about the size of a change data feed and takes it for huge: it would sort and
move the whole of a table to join it with a handful of changed rows. The planner knows better.
"""

from __future__ import annotations

from collections.abc import Set

from dbt_ivm.algebra.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Named,
    Net,
    Node,
    Project,
    Scan,
    SemiJoin,
    State,
    TableName,
    UnionAll,
    Window,
)
from dbt_ivm.algebra.walk import walk

_NEVER_GROW = (Aggregate, Distinct, Filter, Named, Net, Project, UnionAll, Window)


def small_parts(root: Node, tables: Set[TableName]) -> frozenset[int]:
    """Parts of a plan, by identity, with at most a row per changed row of `tables`.

    Joins and generators may multiply rows, so what stands above them is not counted.
    """
    found: set[int] = set()
    for part in walk(root):
        if isinstance(part, Scan):
            small = part.state is State.DELTA and part.table in tables
        elif isinstance(part, SemiJoin):
            small = id(part.left) in found
        else:
            small = isinstance(part, _NEVER_GROW) and all(id(i) in found for i in part.inputs)
        if small:
            found.add(id(part))
    return frozenset(found)
