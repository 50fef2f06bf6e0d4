"""Derived property: columns that may differ when they are computed twice from the same rows.

Sums of doubles depend on the order of their terms in the last digit, `first` on the order of rows.
Where such a value was stored, recomputing it from the old state need not give what is stored.
"""

from __future__ import annotations

from functools import singledispatch

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    Generate,
    Node,
    Project,
    Scan,
    UnionAll,
    Window,
)
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.algebra.ties import depends_on_place
from dbt_ivm.algebra.types import can_net

ROWS = "*"
"""Stands for the rows themselves: whether they are there depends on such a value."""

_EXACT_FUNCTIONS = frozenset(
    """
    count count_if min max bool_and bool_or every any some bit_and bit_or bit_xor
    approx_count_distinct collect_set regr_count rank dense_rank percent_rank cume_dist row_number
    ntile lag lead percentile percentile_disc median
    """.split()
)
"""Functions of the bag of their arguments, whatever its order."""
_ADDING = frozenset("sum avg mean try_sum try_avg".split())
"""Exact for integers and decimals, not for floats."""
_KEEPS_TYPE = frozenset("abs coalesce greatest if ifnull least negative nullif nvl nvl2".split())


def unstable_columns(node: Node) -> frozenset[str]:
    """The columns of a relation that are not a function of the bag of rows below it."""
    unstable, _ = _derived(node)
    return unstable


_Derived = tuple[frozenset[str], frozenset[str]]
"""Unstable columns, and columns that may be floats."""


@singledispatch
def _derived(node: Node) -> _Derived:
    parts = [_derived(i) for i in node.inputs]
    unstable = frozenset(name for part, _ in parts for name in part)
    if any(scalar.columns & unstable for scalar in node.scalars):
        unstable |= {ROWS}
    return unstable, frozenset(name for _, part in parts for name in part)


@_derived.register
def _(node: Scan) -> _Derived:
    floats = (f.name for f in node.fields if any(w in f.type.lower() for w in ("float", "double")))
    return frozenset(), frozenset(floats)


@_derived.register
def _(node: Project) -> _Derived:
    unstable, floats = _derived(node.input)
    shaky = frozenset(i.name for i in node.items if i.value.columns & unstable)
    return shaky | (unstable & {ROWS}), frozenset(
        i.name for i in node.items if _may_be_float(i.value, floats)
    )


@_derived.register
def _(node: Generate) -> _Derived:
    unstable, floats = _derived(node.input)
    shaky = frozenset(node.names) if node.generator.columns & unstable else frozenset()
    return unstable | shaky, floats | frozenset(node.names)


@_derived.register
def _(node: UnionAll) -> _Derived:
    unstable: set[str] = set()
    floats: set[str] = set()
    for branch in node.branches:
        shaky, loose = _derived(branch)
        names = dict(zip(branch.columns, node.names, strict=True))
        unstable |= {names.get(c, c) for c in shaky}
        floats |= {names[c] for c in loose if c in names}
    return frozenset(unstable), frozenset(floats)


@_derived.register
def _(node: Aggregate) -> _Derived:
    unstable, floats = _derived(node.input)
    rows = {ROWS} if (set(node.keys) | {ROWS}) & unstable else set()
    shaky = (c for c in node.calls if not c.settled or c.written.columns & unstable)
    calls = frozenset(c.name for c in shaky if _is_shaky(c.written, unstable, floats))
    loose = frozenset(c.name for c in node.calls if _may_be_float(_argument(c), floats))
    return calls | rows, loose | (floats & set(node.keys))


@_derived.register
def _(node: Window) -> _Derived:
    unstable, floats = _derived(node.input)
    shaky = frozenset(i.name for i in node.items if _is_shaky(i.value, unstable, floats))
    if not can_net(node.input):  # ties could not be broken by all columns
        shaky |= frozenset(i.name for i in node.items if depends_on_place(i.value.tree))
    loose = frozenset(i.name for i in node.items if _may_be_float(i.value, floats))
    return unstable | shaky, floats | loose


@_derived.register
def _(node: Filter) -> _Derived:
    unstable, floats = _derived(node.input)
    return (unstable | {ROWS} if node.predicate.columns & unstable else unstable), floats


def _argument(call: AggregateCall) -> Scalar:
    return call.arguments[0] if call.arguments and call.function != "count" else Scalar(exp.true())


def _is_shaky(scalar: Scalar, unstable: frozenset[str], floats: frozenset[str]) -> bool:
    if scalar.columns & unstable:
        return True
    for call in scalar.tree.find_all(exp.Anonymous):
        name = call.name.lower()
        if name in _ADDING:
            if any(_may_be_float(Scalar(a.copy()), floats) for a in call.expressions):
                return True
        elif name not in _EXACT_FUNCTIONS and name not in _KEEPS_TYPE:
            return not _is_scalar_call(call)
    return False


def _is_scalar_call(call: exp.Anonymous) -> bool:
    """A function inside the arguments of an aggregate, not the aggregate itself."""
    return call.find_ancestor(exp.Anonymous) is not None


def _may_be_float(scalar: Scalar, floats: frozenset[str]) -> bool:
    """Whether a value can be a float: on the safe side where a function is not known."""
    tree = scalar.tree
    if scalar.columns & floats or tree.find(exp.Div):
        return True
    if any("DOUBLE" in t.sql().upper() or "FLOAT" in t.sql().upper() for t in _types(tree)):
        return True
    if any("e" in n.name.lower() for n in tree.find_all(exp.Literal) if not n.is_string):
        return True
    known = _KEEPS_TYPE | _EXACT_FUNCTIONS | _ADDING
    return any(c.name.lower() not in known for c in tree.find_all(exp.Anonymous))


def _types(tree: exp.Expr) -> list[exp.Expr]:
    return list(tree.find_all(exp.DataType))
