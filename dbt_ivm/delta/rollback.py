"""Logical rollback: the part of an old state that a refresh looks up, made from the new one.

    R_old ⋉ K = (R_new ⋉ K) − (ΔR ⋉ K)

To open an old version costs Spark more than to open the newest one, whatever is read of it, and
its files may be gone. The new version is open for other terms anyhow.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Generate,
    Net,
    Node,
    Scan,
    SemiJoin,
    State,
    UnionAll,
)
from dbt_ivm.algebra.projections import select_columns
from dbt_ivm.algebra.scalar import Scalar, call, column
from dbt_ivm.algebra.sizes import is_few
from dbt_ivm.algebra.types import can_net
from dbt_ivm.algebra.walk import transform
from dbt_ivm.delta.rules import Changes, negated, net_delta, weighted
from dbt_ivm.names import HIDDEN_PREFIX, WEIGHT
from dbt_ivm.sql.dialect import literal, spark_type


def rolled_back(plan: Node, changes: Changes) -> Node:
    """The plan with old states made from new ones wherever few rows of them are looked up."""

    def change(node: Node) -> Node:
        if not isinstance(node, SemiJoin) or node.anti or not isinstance(node.left, Scan):
            return node
        small = node.left.state is State.OLD and is_few(node.right, changes.sizes)
        return _looked_up(node, node.left, changes) if small and can_net(node.left) else node

    return transform(plan, change)


def _looked_up(node: SemiJoin, before: Scan, changes: Changes) -> Node:
    """Rows of the new state count, changes count against them; what is left is repeated."""
    now = next(new for new, old in changes.olds.values() if old is before)
    changed = net_delta(now, changes)
    if changed is None:
        return replace(node, left=now)
    names = before.columns
    undone = negated(replace(node, left=changed), names)
    kept = weighted(replace(node, left=now), 1)
    signed = Net(UnionAll((kept, undone), (*names, WEIGHT)))
    times = exp.Cast(this=column(WEIGHT), to=spark_type("int"))
    copies = Scalar(call("explode", call("array_repeat", literal(0), times)))
    return select_columns(Generate(signed, copies, False, (HIDDEN_PREFIX + "copy",)), names)
