"""Inner joins are bilinear: one term per changed input, each driven by that input's delta.

    Δ(R₁ ⋈ … ⋈ Rₙ) = Σ over changed i of  R₁,old ⋈ … ⋈ Rᵢ₋₁,old ⋈ ΔRᵢ ⋈ Rᵢ₊₁,new ⋈ … ⋈ Rₙ,new

What stands to the right of several terms is joined once, to their sum:

    D₁ = ΔR₁        Dᵢ = Dᵢ₋₁ ⋈ Rᵢ,new + (ΔRᵢ ⋈ Rᵢ₋₁,old ⋈ … ⋈ R₁,old)

A tree of joins is taken apart for this, so that no term joins two whole tables with each other.
Old states are rolled back logically, R_old = R_new − ΔR: none is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from dbt_ivm.algebra.nodes import Filter, Item, Join, Node, Project, TableName, UnionAll
from dbt_ivm.algebra.predicates import all_of, conjuncts
from dbt_ivm.algebra.projections import select_columns
from dbt_ivm.algebra.scalar import Scalar, column, ref
from dbt_ivm.algebra.walk import scans
from dbt_ivm.delta.matching import only_matching
from dbt_ivm.delta.rules import Changes, added, negated, net_delta, new, rule, weighted
from dbt_ivm.names import WEIGHT

_WIDEST = 8
"""Inputs that one join is taken apart into; terms grow with their square."""


@rule.register
def _(node: Join, changes: Changes) -> Node:
    inputs, conditions = _taken_apart(node)
    every = _Conditions(tuple(conditions))
    ordered = _ordered(inputs, every, changes)
    total: Node | None = None
    for place, part in enumerate(ordered):
        terms: list[Node] = []
        if total is not None:
            terms.append(every.join(total, new(part)))
        if changes.touch(part):
            terms.append(_driven(ordered[:place], part, every, changes))
        if terms:
            names = tuple(name for known in ordered[: place + 1] for name in known.columns)
            total = added(terms, names)
    if total is None:
        raise AssertionError("a rule is only asked for an input that changed")
    return select_columns(total, (*node.columns, WEIGHT))


@dataclass(frozen=True)
class _Conditions:
    """The conjuncts of a whole join; each applies as soon as all its columns are there."""

    trees: tuple[exp.Expr, ...]

    def join(self, left: Node, right: Node) -> Join:
        """Join by the conjuncts that neither side could apply alone, the right side cut to them."""
        found = Join(left, right, all_of(self._of(left, right)))
        return replace(found, right=only_matching(found, left, right))

    def connect(self, left: Sequence[Node], right: Node) -> bool:
        """Whether some conjunct relates an input to others."""
        return any(self._of(other, right) for other in left)

    def _of(self, left: Node, right: Node) -> list[exp.Expr]:
        mine, theirs = set(left.columns), set(right.columns)
        used = ((tree, Scalar(tree).columns) for tree in self.trees)
        return [t for t, c in used if c <= mine | theirs and not (c <= mine or c <= theirs)]


def _taken_apart(node: Join) -> tuple[list[Node], list[exp.Expr]]:
    """The inputs of a tree of inner joins in their order, and the conditions between them."""
    inputs: list[Node] = [node]
    trees: list[exp.Expr] = []
    while len(inputs) < _WIDEST:
        place = next((i for i, part in enumerate(inputs) if _is_join(part)), None)
        if place is None:
            break
        part = _below(inputs[place])
        inputs[place : place + 1] = [part.left, part.right]
        trees += conjuncts(part.condition)
    between = []
    for tree in trees:
        alone = [i for i, part in enumerate(inputs) if Scalar(tree).columns <= {*part.columns}]
        if alone:
            inputs[alone[0]] = Filter(inputs[alone[0]], Scalar(tree))
        else:
            between.append(tree)
    return inputs, between


def _is_join(node: Node) -> bool:
    """A join, or columns picked from one: names are unique, so more of them do no harm."""
    if isinstance(node, Project):
        return all(i.value.column == i.name for i in node.items) and _is_join(node.input)
    return isinstance(node, Join)


def _below(node: Node) -> Join:
    while isinstance(node, Project):
        node = node.input
    if not isinstance(node, Join):
        raise AssertionError("asked for a join only")
    return node


def _driven(before: Sequence[Node], part: Node, conditions: _Conditions, changes: Changes) -> Node:
    """ΔRᵢ joined with the old states of the inputs before it, nearest and connected ones first."""
    term = net_delta(part, changes)
    if term is None:
        raise AssertionError("only a changed input drives a term")
    weights = [WEIGHT]
    rest = list(before)
    while rest:
        nearest = [other for other in reversed(rest) if conditions.connect([term], other)]
        other = nearest[0] if nearest else rest[-1]
        rest.remove(other)
        if changes.touch(other):
            weights.append(f"{WEIGHT}_{len(weights)}")
            term = conditions.join(term, new(other))
            term = replace(term, right=_rolled_back(term.right, other, weights[-1], changes))
        else:
            term = conditions.join(term, new(other))
    if len(weights) == 1:
        return term
    items = tuple(Item(name, ref(name)) for name in term.columns if name not in weights)
    return Project(term, (*items, Item(WEIGHT, _product(weights))))


def _rolled_back(found: Node, whole: Node, weight: str, changes: Changes) -> Node:
    """R_old = R_new − ΔR as signed rows; `found` is what is needed of R_new."""
    left = net_delta(whole, changes)
    if left is None:
        raise AssertionError("only what changed is rolled back")
    columns = whole.columns
    kept = weighted(select_columns(found, columns), 1)
    return UnionAll((kept, negated(left, columns)), (*columns, weight))


def _product(weights: Sequence[str]) -> Scalar:
    factors: list[exp.Expr] = [column(name) for name in weights]
    return Scalar(reduce(lambda a, b: exp.Mul(this=a, expression=b), factors))


def _ordered(inputs: list[Node], conditions: _Conditions, changes: Changes) -> list[Node]:
    """The order as written or its reverse: the one in which large inputs are read less often."""
    backwards = inputs[::-1]
    joined = all(
        conditions.connect(backwards[:place], part) for place, part in enumerate(backwards) if place
    )
    sizes = [_rows(part, changes.sizes.tables) for part in inputs]
    if not joined or None in sizes:
        return inputs
    return min(inputs, backwards, key=lambda order: _cost(order, changes))


def _cost(order: list[Node], changes: Changes) -> float:
    """Rows read: an input is read once for the terms before it and once per term after it."""
    touched = [changes.touch(part) for part in order]
    return sum(
        (_rows(part, changes.sizes.tables) or 0) * (any(touched[:i]) + sum(touched[i + 1 :]))
        for i, part in enumerate(order)
    )


def _rows(node: Node, tables: Mapping[TableName, int]) -> int | None:
    """Rows of all tables below a node."""
    known = [tables.get(scan.table) for scan in scans(node)]
    return None if None in known else sum(n for n in known if n is not None)
