"""Joins that ask whether there is a match: semi, anti and outer.

    Δ(S ⋉ T) = ΔS ⋉ T_new + [(C ⋉ T_new) − (C ⋉ T_old)]     C = rows of S_old that match a row of ΔT
    Δ(S ▷ T) = ΔS ▷ T_new + [(C ▷ T_new) − (C ▷ T_old)]
    Δ(S ⟕ T) = ΔS ⟕ T_new + S_old ⋈ ΔT + [(C ▷ T_new) − (C ▷ T_old)] × NULLs
    Δ(S ⟗ T) = Δ(S ⟕ T) + Δ(T ▷ S) × NULLs

Any condition will do: only rows of C can have gained their first match or lost their last.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.joins import Conditional
from dbt_ivm.algebra.nodes import (
    Aggregate,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
    Window,
)
from dbt_ivm.algebra.predicates import equal_columns
from dbt_ivm.algebra.scalar import Scalar, ref
from dbt_ivm.algebra.sizes import is_few
from dbt_ivm.algebra.walk import walk
from dbt_ivm.delta.restrict import key_names, keys_of, restrict
from dbt_ivm.delta.rules import Changes, added, net_delta, new, old, rule, weighted
from dbt_ivm.names import WEIGHT


@rule.register
def _(node: SemiJoin, changes: Changes) -> Node:
    terms: list[Node] = []
    left = net_delta(node.left, changes)
    if left is not None:
        terms.append(replace(node, left=left, right=_looked_up(node, left, new(node.right))))
    terms += _flipped(node, changes)
    return added(terms, node.columns)


@rule.register
def _(node: OuterJoin, changes: Changes) -> Node:
    terms: list[Node] = []
    left, right = net_delta(node.left, changes), net_delta(node.right, changes)
    condition = node.condition
    if left is not None:
        # Rows that stay on the left cannot be sent to the right, but their keys can.
        terms.append(OuterJoin(left, _cut(node, left, new(node.right), changes), condition))
    if right is not None:
        before = _cut(node, right, old(node.left, changes), changes)
        terms.append(Join(before, right, condition))
    unmatched = SemiJoin(node.left, node.right, condition, anti=True)
    terms += [_beside_nulls(t, node) for t in _flipped(unmatched, changes)]
    if node.full:
        added_right = rule(SemiJoin(node.right, node.left, condition, anti=True), changes)
        terms.append(_beside_nulls(added_right, node))
    return added(terms, node.columns)


def _flipped(node: SemiJoin, changes: Changes) -> list[Node]:
    """(C ⋉ T_new) − (C ⋉ T_old): rows that stayed and whose answer may have changed."""
    right = net_delta(node.right, changes)
    if right is None:
        return []
    before = _cut(node, right, old(node.left, changes), changes)
    candidates = SemiJoin(before, right, node.condition)
    names = tuple(dict.fromkeys(theirs for _, theirs in equal_columns(node)))
    pairs, keys = key_names(names), keys_of(right, names)
    sides = ((new(node.right), 1), (old(node.right, changes), -1))
    return [
        weighted(replace(node, left=candidates, right=restrict(side, pairs, keys)), sign)
        for side, sign in sides
    ]


def _beside_nulls(term: Node, node: OuterJoin) -> Node:
    items = tuple(
        Item(name, ref(name) if name in term.columns else Scalar(exp.Null()))
        for name in (*node.columns, WEIGHT)
    )
    return Project(term, items)


def _cut(node: Conditional, driver: Node, other: Node, changes: Changes) -> Node:
    """The other input of a join, looked up by the keys of a driver with few rows."""
    cut = _looked_up if is_few(driver, changes.sizes) else only_matching
    return cut(node, driver, other)


def only_matching(node: Conditional, driver: Node, other: Node) -> Node:
    """The other input of a join, cut to the keys of the changed rows that drive the term.

    Spark would join just as well without it, except where groups or partitions would have
    to be computed that no changed row meets.
    """
    stateful = any(isinstance(part, Aggregate | Window) for part in walk(other))
    return _looked_up(node, driver, other) if stateful else other


def _looked_up(node: Conditional, driver: Node, other: Node) -> Node:
    pairs = equal_columns(node)
    if set(other.columns) & set(node.right.columns):
        pairs = [(b, a) for a, b in pairs]
    keys = dict(pairs)  # column of the other input -> column of the driver
    if not keys:
        return other
    names = dict(key_names(tuple(dict.fromkeys(keys.values()))))
    restriction = tuple((mine, names[theirs]) for mine, theirs in keys.items())
    return restrict(other, restriction, keys_of(driver, tuple(names)))
