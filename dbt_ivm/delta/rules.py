"""The dispatch of delta rules: `delta(node, changes)` is the signed change of a relation.

Every rule returns a plan with one more column, the weight, or None where nothing changed. Rules
register themselves here from one file per operator family; importing the package loads them all.
This is the sources' generic chain rule: the change of an operator is made of its inputs' states
and changes, whatever stands below them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import singledispatch

from sqlglot import exp

from dbt_ivm.algebra.nodes import Item, Net, Node, Project, Scan, State, TableName, UnionAll
from dbt_ivm.algebra.scalar import Scalar, column, ref
from dbt_ivm.algebra.sizes import Sizes
from dbt_ivm.algebra.types import can_net
from dbt_ivm.algebra.walk import scans
from dbt_ivm.errors import Unsupported
from dbt_ivm.names import WEIGHT
from dbt_ivm.sql.dialect import literal

_Memo = dict[int, tuple[Node, Node | None]]
"""By identity of a node: the node, to keep it alive, and what was derived of it."""


@dataclass(frozen=True)
class Changes:
    """Which tables changed since the watermark: only they produce terms (partial differencing).

    Deltas and old states are remembered, so that what two terms read is one node of the plan.
    """

    tables: frozenset[TableName]
    sizes: Sizes = field(default_factory=Sizes)
    """How large tables and changes are: what is read, and how, may depend on it, results never."""
    deltas: _Memo = field(default_factory=dict, compare=False, repr=False)
    olds: _Memo = field(default_factory=dict, compare=False, repr=False)

    def touch(self, node: Node) -> bool:
        return any(scan.table in self.tables for scan in scans(node))


@singledispatch
def rule(node: Node, changes: Changes) -> Node:
    """The delta of one operator whose input did change."""
    raise Unsupported(f"{type(node).__name__.upper()} below the top of the query")


def delta(node: Node, changes: Changes) -> Node | None:
    """ΔQ = Q_new − Q_old as signed rows; None when no table below has changed."""
    if id(node) not in changes.deltas:
        changes.deltas[id(node)] = (node, _delta(node, changes))
    return changes.deltas[id(node)][1]


def _delta(node: Node, changes: Changes) -> Node | None:
    if not changes.touch(node):
        return None
    result = rule(node, changes)
    if result.columns.count(WEIGHT) != 1 or set(result.columns) != {*node.columns, WEIGHT}:
        raise AssertionError(f"the rule of {type(node).__name__} must add exactly the weight")
    return result


def net_delta(node: Node, changes: Changes) -> Node | None:
    """The delta with equal rows added up, where their types can be compared.

    Netted before a join, an update of columns nobody reads costs no join.
    """
    changed = delta(node, changes)
    return netted(changed) if changed is not None else None


def netted(changed: Node) -> Node:
    """Equal rows added up, those that cancel dropped."""
    already = isinstance(changed, Net) or not can_net(changed)
    return changed if already else Net(changed)


def new(node: Node) -> Node:
    """The relation at the head versions."""
    return node


def old(node: Node, changes: Changes) -> Node:
    """The relation at the watermark; a table that did not change is read at its head."""
    known = changes.olds.get(id(node))
    if known is None:
        known = changes.olds[id(node)] = (node, _at_watermark(node, changes))
    if known[1] is None:
        raise AssertionError("every relation has an old state")
    return known[1]


def _at_watermark(node: Node, changes: Changes) -> Node:
    if isinstance(node, Scan):
        return replace(node, state=State.OLD) if node.table in changes.tables else node
    inputs = tuple(old(i, changes) for i in node.inputs)
    same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
    return node if same else node.with_inputs(inputs)


def weighted(node: Node, weight: int) -> Node:
    """Plain rows as signed ones: all of them came (+1), or all of them left (-1)."""
    items = tuple(Item(name, ref(name)) for name in node.columns)
    return Project(node, (*items, Item(WEIGHT, Scalar(literal(weight)))))


def negated(changed: Node, columns: tuple[str, ...]) -> Node:
    """−ΔR: what came is taken back, what left is given back."""
    items = tuple(Item(name, ref(name)) for name in columns)
    return Project(changed, (*items, Item(WEIGHT, Scalar(exp.Neg(this=column(WEIGHT))))))


def added(terms: list[Node], columns: tuple[str, ...]) -> Node:
    """Delta-union: the sum of terms with the same columns, in whatever order each has them."""
    names = (*columns, WEIGHT)
    ordered = tuple(
        term
        if term.columns == names
        else Project(term, tuple(Item(name, ref(name)) for name in names))
        for term in terms
    )
    return ordered[0] if len(ordered) == 1 else UnionAll(ordered, names)
