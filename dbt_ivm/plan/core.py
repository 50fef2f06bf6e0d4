"""Where a model is split: what the extent keeps, and what the view does above it."""

from __future__ import annotations

from dataclasses import replace

from dbt_ivm.algebra.nodes import (
    Aggregate,
    Filter,
    Generate,
    Item,
    Limit,
    Node,
    Project,
    Sort,
    Stamped,
    Window,
)
from dbt_ivm.algebra.projections import cascade
from dbt_ivm.algebra.scalar import ref
from dbt_ivm.sql.scope import Names, Output


def core_of(tree: Node) -> Node:
    """The topmost stateful operator: an aggregate under what the view can do, else the rows.

    Order, limit and windows over all rows have no key to be maintained by: they stay in the view,
    over the maintained rows below them.
    """
    node, bag = tree, tree
    above = (Filter, Project, Generate, Sort, Limit, Stamped)
    while isinstance(node, above) or _is_over_all_rows(node):
        if isinstance(node, Sort | Limit | Window | Stamped):
            bag = node.inputs[0]
        node = node.inputs[0]
    return node if isinstance(node, Aggregate) else bag


def _is_over_all_rows(node: Node) -> bool:
    return isinstance(node, Window) and not node.keys


def under_visible_names(tree: Node, outputs: tuple[Output, ...]) -> tuple[Node, tuple[Output, ...]]:
    """The rows of a bag, stored under the names the model gives them.

    What a window partitions by is stored too, shown or not: by it the rows of a touched partition
    are found in the extent.
    """
    keys = _partition_keys(tree)
    names = Names()
    stored = {o.name: names.fresh(o.visible) for o in outputs}
    stored |= {key: names.fresh(key) for key in keys if key not in stored}
    tree = _with_columns(tree, keys)
    if stored == {name: name for name in tree.columns}:
        return tree, outputs
    items = tuple(Item(name, ref(source)) for source, name in stored.items())
    return cascade(Project(tree, items)), tuple(Output(o.visible, stored[o.name]) for o in outputs)


def _partition_keys(tree: Node) -> tuple[str, ...]:
    """The keys of the window at the top, as the rows above it could show them."""
    node = tree
    while isinstance(node, Filter | Project | Generate):
        node = node.input
    return node.keys if isinstance(node, Window) else ()


def _with_columns(node: Node, columns: tuple[str, ...]) -> Node:
    """The same rows with more of the columns that lie below their projections."""
    missing = tuple(name for name in columns if name not in node.columns)
    if not missing or not isinstance(node, Filter | Project | Generate):
        return node
    below = _with_columns(node.input, missing)
    if not isinstance(node, Project):
        return replace(node, input=below)
    return Project(below, (*node.items, *(Item(name, ref(name)) for name in missing)))
