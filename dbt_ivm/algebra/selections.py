"""Selections pushed down: the sources' transformations of IncrSelect, on the query itself.

    σp(σq(S)) = σ(p ∧ q)(S)                  σp(π(S)) = π(σp(S))       p over columns passed through
    σp(S ⋈θ T) = σp₁(S) ⋈(θ ∧ p₁₂) σp₂(T)    each conjunct to its side, the rest to the condition
    σp(S ∪all T) = σp(S) ∪all σp(T)          σp(γ_G(S)) = γ_G(σp(S))   p over keys

It runs once, before deltas are derived: a row that is filtered out is filtered out of the changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import singledispatchmethod

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Aggregate,
    Filter,
    Generate,
    Join,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
    Sort,
    UnionAll,
    Window,
)
from dbt_ivm.algebra.predicates import all_of, conjuncts
from dbt_ivm.algebra.scalar import Scalar, column, substitute
from dbt_ivm.algebra.walk import uses

Trees = list[exp.Expr]


def push_selections(node: Node) -> Node:
    """The same relation with every selection as far down as it can go."""
    return _Pushing(node).place(node, [])


class _Pushing:
    def __init__(self, root: Node) -> None:
        self._uses = uses(root)
        self._done: dict[int, Node] = {}

    def place(self, node: Node, trees: Trees) -> Node:
        """The node with conjuncts applied to it; what several places read is not changed."""
        if not trees:
            if id(node) not in self._done:
                self._done[id(node)] = self._below(node, [])
            return self._done[id(node)]
        if self._uses[id(node)] > 1:
            return _filtered(self.place(node, []), trees)
        return self._below(node, trees)

    @singledispatchmethod
    def _below(self, node: Node, trees: Trees) -> Node:
        inputs = tuple(self.place(i, []) for i in node.inputs)
        same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
        return _filtered(node if same else node.with_inputs(inputs), trees)

    @_below.register
    def _(self, node: Filter, trees: Trees) -> Node:
        return self.place(node.input, [*conjuncts(node.predicate), *trees])

    @_below.register
    def _(self, node: Project, trees: Trees) -> Node:
        passed = {i.name: i.value.column for i in node.items if i.value.column}
        mine, rest = _split(trees, tuple(passed))
        below = [_renamed(t, passed) for t in mine]
        return _filtered(replace(node, input=self.place(node.input, below)), rest)

    @_below.register(Generate)
    @_below.register(Sort)
    def _(self, node: Generate | Sort, trees: Trees) -> Node:
        mine, rest = _split(trees, node.input.columns)
        return _filtered(replace(node, input=self.place(node.input, mine)), rest)

    @_below.register(Aggregate)
    @_below.register(Window)
    def _(self, node: Aggregate | Window, trees: Trees) -> Node:
        mine, rest = _split(trees, node.keys)
        return _filtered(replace(node, input=self.place(node.input, mine)), rest)

    @_below.register
    def _(self, node: UnionAll, trees: Trees) -> Node:
        mine, rest = _split(trees, node.names)
        branches = []
        for branch in node.branches:
            names = dict(zip(node.names, branch.columns, strict=True))
            branches.append(self.place(branch, [_renamed(t, names) for t in mine]))
        return _filtered(replace(node, branches=tuple(branches)), rest)

    @_below.register
    def _(self, node: Join, trees: Trees) -> Node:
        every = [*conjuncts(node.condition), *trees]
        left, rest = _split(every, node.left.columns)
        right, rest = _split(rest, node.right.columns)
        both, constant = _split(rest, node.columns)
        joined = Join(self.place(node.left, left), self.place(node.right, right), all_of(both))
        return _filtered(joined, constant)

    @_below.register
    def _(self, node: OuterJoin, trees: Trees) -> Node:
        """What ON asks of the right side alone decides which of its rows there are to match."""
        if node.full:
            inputs = self.place(node.left, []), self.place(node.right, [])
            return _filtered(node.with_inputs(inputs), trees)
        left, rest = _split(trees, node.left.columns)
        right, on = _split(conjuncts(node.condition), node.right.columns)
        inputs = self.place(node.left, left), self.place(node.right, right)
        return _filtered(OuterJoin(*inputs, all_of(on)), rest)

    @_below.register
    def _(self, node: SemiJoin, trees: Trees) -> Node:
        left, rest = _split(trees, node.left.columns)
        right, on = _split(conjuncts(node.condition), node.right.columns)
        if not node.anti:
            more, on = _split(on, node.left.columns)
            left = [*left, *more]
        inputs = self.place(node.left, left), self.place(node.right, right)
        return _filtered(SemiJoin(*inputs, all_of(on), anti=node.anti), rest)


def _split(trees: Trees, columns: tuple[str, ...]) -> tuple[Trees, Trees]:
    """Conjuncts over some of these columns alone, and the rest."""
    mine = [t for t in trees if _over(t) and _over(t) <= set(columns)]
    return mine, [t for t in trees if t not in mine]


def _renamed(tree: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    return substitute(tree, lambda c: column(names[c.name]))


def _over(tree: exp.Expr) -> frozenset[str]:
    return Scalar(tree).columns


def _filtered(node: Node, trees: Trees) -> Node:
    condition = all_of(trees)
    return Filter(node, condition) if condition else node
