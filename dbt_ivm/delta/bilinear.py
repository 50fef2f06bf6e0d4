"""Joins are bilinear: one term per changed input, each driven by that input's delta.

    Δ(S ⋈ T) = ΔS ⋈ T_new + S_old ⋈ ΔT

Applied to nested joins this telescopes to one term per changed input of the whole join. Where only
one side changed no old state is read at all.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_ivm.algebra.nodes import (
    Item,
    Join,
    Net,
    Node,
    Project,
    UnionAll,
    is_comparable,
    scans,
)
from dbt_ivm.algebra.scalar import ref
from dbt_ivm.delta.rules import Changes, delta, new, old, rule
from dbt_ivm.names import WEIGHT


@rule.register
def _(node: Join, changes: Changes) -> Node:
    terms = []
    left, right = delta(node.left, changes), delta(node.right, changes)
    columns = (*node.columns, WEIGHT)
    if left is not None:
        terms.append(_term(replace(node, left=_net(left), right=new(node.right)), columns))
    if right is not None:
        terms.append(_term(replace(node, left=old(node.left, changes), right=_net(right)), columns))
    return terms[0] if len(terms) == 1 else UnionAll(tuple(terms), columns)


def _net(changed: Node) -> Node:
    """Net before joining: an update of columns nobody reads must not cost a join."""
    comparable = all(is_comparable(f.type) for scan in scans(changed) for f in scan.fields)
    return Net(changed) if comparable else changed


def _term(joined: Node, columns: tuple[str, ...]) -> Node:
    return Project(joined, tuple(Item(name, ref(name)) for name in columns))
