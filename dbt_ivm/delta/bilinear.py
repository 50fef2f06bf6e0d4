"""Joins are bilinear: one term per changed input, each driven by that input's delta.

    Δ(S ⋈ T) = ΔS ⋈ T_new + S_old ⋈ ΔT = ΔS ⋈ T_new + S_new ⋈ ΔT − ΔS ⋈ ΔT

The second form rolls S back logically, S_old = S_new − ΔS: no old state is read. Applied to nested
joins it has one term per changed input, and small ones of deltas alone.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import Item, Join, Node, Project
from dbt_ivm.algebra.scalar import Scalar, column, ref
from dbt_ivm.delta.matching import only_matching
from dbt_ivm.delta.rules import Changes, added, net_delta, new, rule
from dbt_ivm.names import HIDDEN_PREFIX, WEIGHT

_OTHER_WEIGHT = HIDDEN_PREFIX + "other_weight"


@rule.register
def _(node: Join, changes: Changes) -> Node:
    terms: list[Node] = []
    left, right = net_delta(node.left, changes), net_delta(node.right, changes)
    if left is not None:
        terms.append(replace(node, left=left, right=only_matching(node, left, new(node.right))))
    if right is not None:
        terms.append(replace(node, left=only_matching(node, right, new(node.left)), right=right))
    if left is not None and right is not None:
        terms.append(_rolled_back(node, left, right))
    return added(terms, node.columns)


def _rolled_back(node: Join, left: Node, right: Node) -> Node:
    """−(ΔS ⋈ ΔT): weights multiply."""
    items = tuple(Item(name, ref(name)) for name in node.right.columns)
    other = Project(right, (*items, Item(_OTHER_WEIGHT, ref(WEIGHT))))
    product = exp.Mul(this=column(WEIGHT), expression=column(_OTHER_WEIGHT))
    weight = Item(WEIGHT, Scalar(exp.Neg(this=exp.Paren(this=product))))
    shown = tuple(Item(name, ref(name)) for name in node.columns)
    return Project(Join(left, other, node.condition), (*shown, weight))
