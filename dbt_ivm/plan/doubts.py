"""What a model asks that Spark may answer in more than one way.

    first(x)    row_number() over (order by t)    limit 10    … where rows tie

Such a model is maintained like any other, but a rebuild may answer differently without being wrong.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Aggregate, Node, Window
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.algebra.walk import walk

_BY_ORDER = {"any_value", "array_agg", "collect_list", "first", "first_value", "last", "last_value"}
"""Functions of the order in which rows arrive."""


def doubts(tree: Node) -> tuple[str, ...]:
    """One sentence per function whose value depends on an order that nobody fixed."""
    found: dict[str, None] = {}
    for part in walk(tree):
        calls: tuple[Scalar, ...] = ()
        if isinstance(part, Aggregate):
            calls = tuple(call.written for call in part.calls if not call.settled)
        elif isinstance(part, Window):
            calls = part.scalars
        for call in calls:
            found |= dict.fromkeys(_unordered(call))
    return tuple(
        f"`{name}` takes rows in the order they come, which Spark does not fix:"
        " a rebuild may give another value"
        for name in found
    )


def _unordered(scalar: Scalar) -> list[str]:
    tree = scalar.tree
    if isinstance(tree, exp.WithinGroup) or tree.find(exp.WithinGroup):
        return []
    calls = (node for node in tree.find_all(exp.Anonymous) if node.name.lower() in _BY_ORDER)
    return [node.name.lower() for node in calls if not _is_ordered(node)]


def _is_ordered(node: exp.Expr) -> bool:
    window = node.find_ancestor(exp.Window)
    return isinstance(window, exp.Window) and window.args.get("order") is not None
