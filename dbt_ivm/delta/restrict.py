"""Touched keys: `Q ⋉ K`, with the restriction pushed down to the scans that own the keys.

    σp(S) ⋉ K = σp(S ⋉ K)         γ_G(S) ⋉ K = γ_G(S ⋉ K)   where the keys of K are among G
    (S ⋈ T) ⋉ K = (S ⋉ K) ⋈ T     and T ⋉ K too, where the join makes a column of T equal the key

What is recomputed for a few groups then reads only the rows of these groups, however deep the
operators between them and the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import singledispatchmethod

from dbt_ivm.algebra.joins import Conditional
from dbt_ivm.algebra.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
    UnionAll,
    Window,
)
from dbt_ivm.algebra.predicates import equal_columns, same_columns
from dbt_ivm.algebra.scalar import ref
from dbt_ivm.names import HIDDEN_PREFIX

KEY_PREFIX = HIDDEN_PREFIX + "k_"
_LARGEST = 400
"""Nodes that one restriction may make: beyond it a plan would grow with the paths through it."""

Pairs = tuple[tuple[str, str], ...]
"""Columns of a relation, each with the column of the touched keys it must equal."""


def key_names(columns: tuple[str, ...]) -> Pairs:
    """The name each key column has among the touched keys."""
    return tuple((name, KEY_PREFIX + name) for name in columns)


def keys_of(node: Node, columns: tuple[str, ...]) -> Node:
    """K = δ(π_columns(S)), under names of its own."""
    items = tuple(Item(name, ref(source)) for source, name in key_names(columns))
    return Distinct(Project(node, items))


def restrict(node: Node, pairs: Pairs, keys: Node) -> Node:
    """The rows of a relation whose key columns occur (`<=>`) among the touched keys."""
    return _Restriction(keys).push(node, pairs)


@dataclass
class _Restriction:
    keys: Node
    done: dict[tuple[int, Pairs], Node] = field(default_factory=dict)

    def push(self, node: Node, pairs: Pairs) -> Node:
        if not pairs:
            return node
        place = (id(node), pairs)
        if place not in self.done:
            full = len(self.done) >= _LARGEST
            self.done[place] = self._here(node, pairs) if full else self._pushed(node, pairs)
        return self.done[place]

    def _here(self, node: Node, pairs: Pairs) -> Node:
        return SemiJoin(node, self.keys, same_columns(pairs))

    @singledispatchmethod
    def _pushed(self, node: Node, pairs: Pairs) -> Node:
        return self._here(node, pairs)

    @_pushed.register
    def _(self, node: Filter, pairs: Pairs) -> Node:
        return replace(node, input=self.push(node.input, pairs))

    @_pushed.register
    def _(self, node: Project, pairs: Pairs) -> Node:
        passed = {item.name: item.value.column for item in node.items}
        below = tuple((passed[a] or "", b) for a, b in pairs)
        if not all(a for a, _ in below):
            return self._here(node, pairs)
        return replace(node, input=self.push(node.input, below))

    @_pushed.register
    def _(self, node: Generate, pairs: Pairs) -> Node:
        if not _among(pairs, node.input.columns):
            return self._here(node, pairs)
        return replace(node, input=self.push(node.input, pairs))

    @_pushed.register(Aggregate)
    @_pushed.register(Window)
    def _(self, node: Aggregate | Window, pairs: Pairs) -> Node:
        if not _among(pairs, node.keys):
            return self._here(node, pairs)
        return replace(node, input=self.push(node.input, pairs))

    @_pushed.register
    def _(self, node: UnionAll, pairs: Pairs) -> Node:
        places = [node.names.index(a) for a, _ in pairs]
        keys = [key for _, key in pairs]
        branches = tuple(
            self.push(b, tuple(zip((b.columns[i] for i in places), keys, strict=True)))
            for b in node.branches
        )
        return replace(node, branches=branches)

    @_pushed.register
    def _(self, node: Join, pairs: Pairs) -> Node:
        left, right = _sides(node, pairs)
        cut = replace(node, left=self.push(node.left, left), right=self.push(node.right, right))
        return cut if len(pairs) in (len(left), len(right)) else self._here(cut, pairs)

    @_pushed.register(OuterJoin)
    @_pushed.register(SemiJoin)
    def _(self, node: OuterJoin | SemiJoin, pairs: Pairs) -> Node:
        if not _among(pairs, node.left.columns) or (isinstance(node, OuterJoin) and node.full):
            return self._here(node, pairs)
        _, right = _sides(node, pairs)
        return replace(node, left=self.push(node.left, pairs), right=self.push(node.right, right))


def _among(pairs: Pairs, columns: tuple[str, ...]) -> bool:
    return all(a in columns for a, _ in pairs)


def _sides(node: Conditional, pairs: Pairs) -> tuple[Pairs, Pairs]:
    """The pairs in columns of the left input alone, and of the right one: those there are."""
    equal = equal_columns(node)
    to_left = {b: a for a, b in equal}
    to_right = dict(equal)

    def on(side: Node, other: dict[str, str]) -> Pairs:
        found = ((a if a in side.columns else other.get(a, ""), key) for a, key in pairs)
        return tuple((a, key) for a, key in found if a)

    return on(node.left, to_left), on(node.right, to_right)
