"""Derived property: columns that may differ when they are computed twice from the same rows.

Sums of doubles depend on the order of their terms in the last digit, `first` on the order of rows.
Where such a value was stored, recomputing it from the old state need not give what is stored. A
value that was chosen among several can even look unchanged to an old state that chooses otherwise.
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
from dbt_ivm.algebra.walk import walk

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
_ROUNDED = frozenset(
    """
    corr covar_pop covar_samp kurtosis regr_avgx regr_avgy regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy skewness std stddev stddev_pop stddev_samp var_pop var_samp variance
    """.split()
)
"""Floats of whatever type."""
_NEVER_FLOATS = frozenset(
    """
    add_months array_size bigint btrim cardinality char_length concat concat_ws contains count
    count_if crc32 date date_add date_diff date_format date_from_unix_date date_sub
    date_trunc dateadd datediff day dayofmonth dayofweek dayofyear decimal dense_rank endswith hash
    hour instr int isnotnull isnull last_day lcase left length locate lower ltrim md5 minute month
    ntile position quarter rank regexp_extract regexp_replace replace right row_number rtrim second
    sha2 size smallint split_part startswith string substr substring timestampadd timestampdiff
    to_date to_timestamp trim trunc ucase unix_date unix_timestamp upper weekday weekofyear xxhash64
    year
    """.split()
)
_KEEPS_TYPE = frozenset("abs coalesce greatest if ifnull least negative nullif nvl nvl2".split())


def unstable_columns(node: Node) -> frozenset[str]:
    """The columns of a relation that are not a function of the bag of rows below it."""
    unstable, _ = _derived(node)
    return unstable


def makes_choices(node: Node) -> bool:
    """Whether a relation has values that were chosen among several, by an order nobody fixed."""
    return any(_chooses(part) for part in walk(node))


def _chooses(node: Node) -> bool:
    calls: tuple[Scalar, ...] = ()
    if isinstance(node, Aggregate):
        calls = tuple(call.written for call in node.calls if not call.settled)
    elif isinstance(node, Window):
        calls = node.scalars
        if not can_net(node.input) and any(depends_on_place(call.tree) for call in calls):
            return True
    return any(_is_shaky(call, frozenset(), None) for call in calls)


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
        i.name for i in node.items if _may_be_float(i.value.tree, floats)
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
    loose = frozenset(c.name for c in node.calls if _may_be_float(_argument(c).tree, floats))
    return calls | rows, loose | (floats & set(node.keys))


@_derived.register
def _(node: Window) -> _Derived:
    unstable, floats = _derived(node.input)
    shaky = frozenset(i.name for i in node.items if _is_shaky(i.value, unstable, floats))
    if not can_net(node.input):  # ties could not be broken by all columns
        shaky |= frozenset(i.name for i in node.items if depends_on_place(i.value.tree))
    loose = frozenset(i.name for i in node.items if _may_be_float(i.value.tree, floats))
    return unstable | shaky, floats | loose


@_derived.register
def _(node: Filter) -> _Derived:
    unstable, floats = _derived(node.input)
    return (unstable | {ROWS} if node.predicate.columns & unstable else unstable), floats


def _argument(call: AggregateCall) -> Scalar:
    return call.arguments[0] if call.arguments and call.function != "count" else Scalar(exp.true())


def _is_shaky(scalar: Scalar, unstable: frozenset[str], floats: frozenset[str] | None) -> bool:
    """Whether a call may have another value the next time; without floats, by choice alone."""
    if scalar.columns & unstable:
        return True
    for call in scalar.tree.find_all(exp.Anonymous):
        name = call.name.lower()
        if name in _ADDING:
            if floats is not None and any(_may_be_float(a, floats) for a in call.expressions):
                return True
        elif name in _ROUNDED:
            if floats is not None:
                return True
        elif name not in _EXACT_FUNCTIONS and name not in _KEEPS_TYPE:
            return not _is_scalar_call(call)
    return False


def _is_scalar_call(call: exp.Anonymous) -> bool:
    """A function inside the arguments of an aggregate, not the aggregate itself."""
    return call.find_ancestor(exp.Anonymous) is not None


def _may_be_float(tree: exp.Expr, floats: frozenset[str]) -> bool:
    """Whether a value can be a float: on the safe side where a function is not known."""
    if isinstance(tree, exp.Predicate | exp.Connector | exp.Not | exp.Extract | exp.DataType):
        return False
    if isinstance(tree, exp.Column):
        return tree.name in floats
    if isinstance(tree, exp.Literal):
        return not tree.is_string and not tree.name.replace(".", "").isdigit()
    if isinstance(tree, exp.Cast):
        return any(word in tree.to.sql().upper() for word in ("DOUBLE", "FLOAT"))
    parts: list[exp.Expr] = list(tree.iter_expressions())
    if isinstance(tree, exp.Case):
        parts = [branch.args["true"] for branch in tree.args["ifs"]]
        parts += [tree.args["default"]] if tree.args.get("default") else []
    elif isinstance(tree, exp.Window):
        parts = [tree.this]
    elif isinstance(tree, exp.Anonymous):
        name = tree.name.lower()
        if name in _NEVER_FLOATS:
            return False
        if name not in _KEEPS_TYPE | _EXACT_FUNCTIONS | _ADDING:
            return True
    return isinstance(tree, exp.Div) or any(_may_be_float(part, floats) for part in parts)
