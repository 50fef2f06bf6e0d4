"""Touched parts of a whole query: what changed is found in the sources, by columns it shows.

Where a column u of Q reaches every changed table T, so that a row of Q with u = k comes only from
rows of T whose column c has c = k, then with K = ∪ δ(π_c(ΔT)) over the changed tables

    ΔQ = Q_new ⋉ K − Q_old ⋉ K

At the top of a model Q_old ⋉ K is what the extent holds. No old state of any table is read, and
nothing is assumed about how Q answers twice about the same rows.
"""

from __future__ import annotations

from functools import singledispatch

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
    Scan,
    SemiJoin,
    UnionAll,
    Window,
)
from dbt_ivm.algebra.predicates import equal_columns
from dbt_ivm.algebra.projections import select_columns
from dbt_ivm.algebra.scalar import ref
from dbt_ivm.algebra.stability import makes_choices, unstable_columns
from dbt_ivm.algebra.walk import scans, walk
from dbt_ivm.delta.restrict import key_names, keys_of
from dbt_ivm.delta.rules import Changes, delta, net_delta, netted
from dbt_ivm.names import WEIGHT

Owners = dict[int, tuple[Scan, str | None]]
"""By identity of a scan: the scan and its column that a column of the query comes down to, or
None where rows of the scan take part whatever the value of that column."""


def is_stateful(node: Node) -> bool:
    """Whether the delta rule of an operator evaluates it in the old state."""
    return isinstance(node, Aggregate | Window | OuterJoin | SemiJoin)


def reads_old_states(node: Node, changes: Changes) -> bool:
    """Whether the delta rules of a query would evaluate parts of it in the old state."""
    return any(is_stateful(part) and changes.touch(part) for part in walk(node))


def touched_keys(node: Aggregate | Window, changes: Changes) -> Node:
    """δ(π_keys(ΔS)), the delta netted on the columns that the operator reads."""
    changed = delta(node.input, changes)
    if changed is None:
        raise AssertionError("nothing changed: no key is touched")
    columns = node.input.columns
    if isinstance(node, Aggregate):
        used = {name for call in node.calls for name in call.written.columns} | set(node.keys)
        columns = tuple(name for name in columns if name in used)
    return keys_of(netted(select_columns(changed, (*columns, WEIGHT))), node.keys)


def touched_parts(
    node: Node, columns: tuple[str, ...], changes: Changes
) -> tuple[tuple[str, ...], Node] | None:
    """Those of the columns that reach every changed table, and K over them, under key names."""
    changed = {id(s): s for s in scans(node) if s.table in changes.tables}
    owners = {u: _owners(node, u) for u in columns}
    reaching = tuple(u for u in columns if all(owners[u][s][1] for s in changed))
    if not reaching:
        return None
    keys = []
    for place, scan in changed.items():
        delta = net_delta(scan, changes)
        if delta is None:
            raise AssertionError("a changed table has a delta")
        items = tuple(Item(name, ref(owners[u][place][1] or "")) for u, name in key_names(reaching))
        keys.append(Project(delta, items))
    names = tuple(name for _, name in key_names(reaching))
    return reaching, Distinct(keys[0] if len(keys) == 1 else UnionAll(tuple(keys), names))


def touched_partitions(
    node: Node, columns: tuple[str, ...], changes: Changes
) -> tuple[tuple[str, ...], Node] | None:
    """The columns that show the keys of the topmost window, and the partitions that changed.

    As with groups, the old half of the rule is what the extent holds. A value below that was chosen
    among several could have changed unseen: then there is no telling which partitions did.
    """
    shown = {name: name for name in columns}
    while isinstance(node, Filter | Project | Generate):
        if isinstance(node, Project):
            passed = {item.name: item.value.column for item in node.items}
            shown = {c: passed[n] or "" for c, n in shown.items() if n in passed}
        node = node.input
    if not isinstance(node, Window) or not node.keys or makes_choices(node.input):
        return None
    found = {name: c for c, name in shown.items()}
    if not set(node.keys) <= found.keys() or unstable_columns(node.input) & set(node.keys):
        return None
    mine, theirs = dict(key_names(tuple(found[k] for k in node.keys))), dict(key_names(node.keys))
    items = tuple(Item(mine[found[k]], ref(theirs[k])) for k in node.keys)
    return tuple(found[k] for k in node.keys), Project(touched_keys(node, changes), items)


def reaches_every_table(node: Node, column: str) -> bool:
    """Whether a column comes down to a column of every table, so that it parts the whole query."""
    return all(name for _, name in _owners(node, column).values())


@singledispatch
def _owners(node: Node, column: str) -> Owners:
    """The scans below a node with what a column comes down to in each."""
    return _missed(node)


def _missed(node: Node) -> Owners:
    return {id(scan): (scan, None) for scan in scans(node)}


@_owners.register
def _(node: Scan, column: str) -> Owners:
    return {id(node): (node, column)}


@_owners.register
def _(node: Filter, column: str) -> Owners:
    return _owners(node.input, column)


@_owners.register
def _(node: Project, column: str) -> Owners:
    passed = next(item.value.column for item in node.items if item.name == column)
    return _owners(node.input, passed) if passed else _missed(node)


@_owners.register
def _(node: Generate, column: str) -> Owners:
    return _owners(node.input, column) if column in node.input.columns else _missed(node)


@_owners.register(Aggregate)
@_owners.register(Window)
def _(node: Aggregate | Window, column: str) -> Owners:
    return _owners(node.input, column) if column in node.keys else _missed(node)


@_owners.register
def _(node: UnionAll, column: str) -> Owners:
    place = node.names.index(column)
    return _merged([_owners(branch, branch.columns[place]) for branch in node.branches])


@_owners.register(Join)
@_owners.register(OuterJoin)
@_owners.register(SemiJoin)
def _(node: Join | OuterJoin | SemiJoin, column: str) -> Owners:
    """A side without the column is reached where the condition makes one of its own equal it."""
    equal = equal_columns(node)
    mine = column in node.left.columns
    if isinstance(node, OuterJoin) and (node.full or not mine):
        return _missed(node)
    left = column if mine else {b: a for a, b in equal}.get(column)
    right = dict(equal).get(column) if mine else column
    sides = ((node.left, left), (node.right, right))
    return _merged([_owners(side, name) if name else _missed(side) for side, name in sides])


def _merged(parts: list[Owners]) -> Owners:
    """A scan that is read twice, and reached by different columns or only once, is missed."""
    merged: Owners = {}
    for owners in parts:
        for key, (scan, name) in owners.items():
            differs = key in merged and merged[key][1] != name
            merged[key] = (scan, None if differs else name)
    return merged
