"""Joins are bilinear: one term per changed input, each driven by that input's delta.

    Δ(S ⋈ T) = ΔS ⋈ T_new + S_old ⋈ ΔT

Applied to nested joins this telescopes to one term per changed input of the whole join. Where only
one side changed no old state is read at all.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_ivm.algebra.nodes import Join, Node
from dbt_ivm.delta.matching import only_matching
from dbt_ivm.delta.rules import Changes, added, net_delta, new, old, rule


@rule.register
def _(node: Join, changes: Changes) -> Node:
    terms: list[Node] = []
    left, right = net_delta(node.left, changes), net_delta(node.right, changes)
    if left is not None:
        terms.append(replace(node, left=left, right=only_matching(node, left, new(node.right))))
    if right is not None:
        before = only_matching(node, right, old(node.left, changes))
        terms.append(replace(node, left=before, right=right))
    return added(terms, node.columns)
