"""Projections pushed down: every node cut to the columns that are used above it.

This is the sources' "projections cascade and are pushed below join and union": netting a delta on
fewer columns makes changes to any other column disappear before they cost anything.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Generate,
    Item,
    Node,
    Project,
    Scan,
    UnionAll,
    Values,
    Window,
)
from dbt_ivm.algebra.scalar import Scalar, ref, substitute
from dbt_ivm.algebra.walk import uses, walk


def prune(node: Node, used: frozenset[str]) -> Node:
    """The plan with only the columns in `used` (and what each node needs itself) left below it.

    A node that stands in several places keeps what any of them uses.
    """
    needs = needed(node, used)
    done: dict[int, Node] = {}
    for part in walk(node):
        inputs = tuple(done[id(i)] for i in part.inputs)
        done[id(part)] = _narrowed(part, needs[id(part)], inputs)
    return done[id(node)]


def needed(node: Node, used: frozenset[str]) -> dict[int, frozenset[str]]:
    """By identity, the columns of every node that anything above it reads."""
    parts = tuple(walk(node))
    needs: dict[int, frozenset[str]] = {id(part): frozenset() for part in parts}
    needs[id(node)] = used
    for part in reversed(parts):
        for i, wanted in zip(part.inputs, _wanted(part, needs[id(part)]), strict=True):
            needs[id(i)] |= wanted
    return needs


def cascade(node: Node) -> Node:
    """π_A(π_B(S)) as one projection, and none at all where it changes nothing."""
    counted = uses(node)
    done: dict[int, Node] = {}
    for part in walk(node):
        inputs = tuple(done[id(i)] for i in part.inputs)
        same = all(a is b for a, b in zip(inputs, part.inputs, strict=True))
        rebuilt = part if same else part.with_inputs(inputs)
        if isinstance(rebuilt, Project):
            alone = counted[id(part.inputs[0])] == 1
            rebuilt = _composed(rebuilt, rebuilt.input) if alone else rebuilt
            rebuilt = rebuilt.input if _is_identity(rebuilt) else rebuilt
        done[id(part)] = rebuilt
    return done[id(node)]


def _composed(outer: Project, inner: Node) -> Project:
    """The two as one, unless an expression would be computed twice."""
    if not isinstance(inner, Project):
        return outer
    values = {item.name: item.value for item in inner.items}
    read = [c.name for item in outer.items for c in item.value.tree.find_all(exp.Column)]
    if any(read.count(n) > 1 and value.column is None for n, value in values.items()):
        return outer
    items = []
    for item in outer.items:
        name, tree = item.value.column, item.value.tree
        value = values[name] if name else Scalar(substitute(tree, lambda c: _atom(values[c.name])))
        items.append(Item(item.name, value))
    return Project(inner.input, tuple(items))


def _atom(value: Scalar) -> exp.Expr:
    tree = value.tree
    return tree if isinstance(tree, exp.Column | exp.Literal | exp.Null) else exp.Paren(this=tree)


def _is_identity(node: Project) -> bool:
    return node.columns == node.input.columns and all(
        item.value.column == item.name for item in node.items
    )


def _columns(scalars: tuple[Scalar, ...]) -> frozenset[str]:
    return frozenset(name for scalar in scalars for name in scalar.columns)


@singledispatch
def _wanted(node: Node, used: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Per input, the columns a node needs of it when only `used` is needed of the node."""
    needed = used | _columns(node.scalars)
    return tuple(needed & frozenset(i.columns) for i in node.inputs)


@_wanted.register
def _(node: Project, used: frozenset[str]) -> tuple[frozenset[str], ...]:
    return (_columns(tuple(item.value for item in _kept(node.items, used))),)


@_wanted.register
def _(node: Aggregate, used: frozenset[str]) -> tuple[frozenset[str], ...]:
    return (_columns(tuple(c.written for c in _counted(node, used))) | set(node.keys),)


@_wanted.register
def _(node: Window, used: frozenset[str]) -> tuple[frozenset[str], ...]:
    called = _columns(tuple(item.value for item in node.items if item.name in used))
    return ((used | called | set(node.keys)) & frozenset(node.input.columns),)


@_wanted.register
def _(node: UnionAll, used: frozenset[str]) -> tuple[frozenset[str], ...]:
    kept = _positions(node, used)
    return tuple(frozenset(b.columns[i] for i in kept) for b in node.branches)


@singledispatch
def _narrowed(node: Node, used: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    """The node on its narrowed inputs."""
    return node.with_inputs(inputs)


@_narrowed.register
def _(node: Scan, used: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    # By name: a table whose columns change places is the same table to the query.
    fields = sorted(node.fields, key=lambda field: field.source.lower())
    kept = tuple(field for field in fields if field.name in used)
    # count(*) uses no column at all, but rows still need something to be counted by.
    return replace(node, fields=kept or node.fields[:1])


@_narrowed.register
def _(node: Values, used: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    kept = [i for i, name in enumerate(node.names) if name in used] or [0]
    rows = tuple(tuple(row[i] for i in kept) for row in node.rows)
    return Values(rows, tuple(node.names[i] for i in kept))


@_narrowed.register
def _(node: Project, used: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    return Project(inputs[0], _kept(node.items, used))


@_narrowed.register
def _(node: Generate, used: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    return replace(node, input=inputs[0])


@_narrowed.register
def _(node: Aggregate, used: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    return replace(node, input=inputs[0], calls=_counted(node, used))


@_narrowed.register
def _(node: Window, used: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    items = tuple(item for item in node.items if item.name in used)
    return replace(node, input=inputs[0], items=items) if items else inputs[0]


@_narrowed.register
def _(node: UnionAll, used: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    kept = _positions(node, used)
    branches = []
    for branch, pruned in zip(node.branches, inputs, strict=True):
        columns = tuple(branch.columns[i] for i in kept)
        branches.append(pruned if pruned.columns == columns else select_columns(pruned, columns))
    return UnionAll(tuple(branches), tuple(node.names[i] for i in kept))


def _kept(items: tuple[Item, ...], used: frozenset[str]) -> tuple[Item, ...]:
    return tuple(item for item in items if item.name in used) or items[:1]


def _counted(node: Aggregate, used: frozenset[str]) -> tuple[AggregateCall, ...]:
    """The calls that are used; the one row of an aggregate without keys has a column at least."""
    calls = tuple(c for c in node.calls if c.name in used)
    return calls if calls or node.keys else node.calls[:1]


def _positions(node: UnionAll, used: frozenset[str]) -> list[int]:
    return [i for i, name in enumerate(node.names) if name in used] or [0]


def select_columns(node: Node, columns: tuple[str, ...]) -> Node:
    """Exactly these columns, in this order."""
    return Project(node, tuple(Item(name, ref(name)) for name in columns))
