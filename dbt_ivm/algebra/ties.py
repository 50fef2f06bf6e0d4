"""Windows made functions of their rows: what an ORDER BY leaves open is decided by all columns.

    row_number() over (partition by k order by t)  ->  … order by t, every other column read

Rows that are equal in all columns can change places unseen. Without this a window could answer
differently at the next refresh about rows that did not change. Spark allows any of the answers.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import Item, Node, Window
from dbt_ivm.algebra.scalar import Scalar, column
from dbt_ivm.algebra.types import can_net
from dbt_ivm.algebra.walk import transform

_BY_PLACE = {"row_number", "ntile", "lag", "lead"}
"""Functions of a row's place among the others, whatever its frame."""


def break_ties(node: Node) -> Node:
    """The same plan with the order of every window by place made complete."""
    return transform(node, _broken)


def _broken(node: Node) -> Node:
    if not isinstance(node, Window) or not can_net(node.input):
        return node
    return replace(node, items=tuple(_item(item, node) for item in node.items))


def _item(item: Item, node: Window) -> Item:
    tree = item.value.tree
    if not isinstance(tree, exp.Window) or not depends_on_place(tree):
        return item
    order = tree.args.get("order") or exp.Order(expressions=[])
    known = {key.this.name for key in order.expressions if isinstance(key.this, exp.Column)}
    more = [
        exp.Ordered(this=column(name))
        for name in node.input.columns
        if name not in known and name not in node.keys
    ]
    tree.set("order", exp.Order(expressions=[*order.expressions, *more]) if more else order)
    return Item(item.name, Scalar(tree))


def depends_on_place(tree: exp.Expr) -> bool:
    """Whether a function tells rows apart that its ORDER BY leaves equal."""
    spec = tree.args.get("spec")
    by_rows = spec is not None and str(spec.args.get("kind")).upper() == "ROWS"
    function = tree.this
    while not isinstance(function, exp.Anonymous) and isinstance(function.this, exp.Expr):
        function = function.this
    return by_rows or function.name.lower() in _BY_PLACE
