"""Scalar SQL to resolved expressions: names bound, functions classified, the rest refused."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.functions import Functions, Kind

Lookup = Callable[[tuple[str, ...]], exp.Expr | None]

# Function-like syntax that depends on nothing but its arguments.
_SYNTAX = (
    exp.And,
    exp.Or,
    exp.Xor,
    exp.Case,
    exp.If,
    exp.Cast,
    exp.TryCast,
    exp.Array,
    exp.VarMap,
    exp.Map,
    exp.Struct,
    exp.Extract,
    exp.Trim,
    exp.Substring,
    exp.StrPosition,
    exp.Overlay,
    exp.Coalesce,
    exp.Concat,
    exp.RegexpLike,
    exp.Interval,
)
_TAKES_UNIT = {"timestampadd", "timestampdiff", "dateadd", "date_add", "datediff", "date_diff"}
_MODIFIERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def resolve(tree: exp.Expr, lookup: Lookup, functions: Functions) -> exp.Expr:
    """A copy with every column bound by `lookup` and every construct checked.

    Aggregate calls are left standing for the caller; anything without a rule raises `Unsupported`.
    """
    wrapper = exp.Paren(this=tree.copy())
    _refuse(wrapper, functions)
    _bind_units(wrapper)
    for node in list(wrapper.find_all(exp.Column)):
        if is_bound(node):
            continue
        found = lookup(tuple(part.name for part in node.parts))
        if found is None:
            raise Unsupported(f"column `{'.'.join(p.name for p in node.parts)}`, unknown here,")
        atomic = isinstance(found, exp.Column | exp.Dot | exp.Literal)
        node.replace(found.copy() if atomic else exp.Paren(this=found.copy()))
    for function in wrapper.find_all(exp.Anonymous):
        function.set("this", function.name.lower())
    for part in list(wrapper.find_all(exp.Expr)):
        part.comments = None
    return _unwrap(wrapper.this)


def _unwrap(tree: exp.Expr) -> exp.Expr:
    tree = tree.copy()
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _bind_units(wrapper: exp.Expr) -> None:
    """In `timestampdiff(day, a, b)` the first argument is a unit, not a column."""
    for call in wrapper.find_all(exp.Anonymous):
        unit = call.expressions[0] if len(call.expressions) == 3 else None
        if call.name.lower() in _TAKES_UNIT and isinstance(unit, exp.Column):
            unit.replace(exp.Var(this=unit.name.upper()))


def _refuse(wrapper: exp.Expr, functions: Functions) -> None:
    for node in wrapper.walk():
        if isinstance(node, exp.Query | exp.Subquery):
            raise Unsupported("a subquery expression in this place")
        if isinstance(node, exp.Placeholder | exp.Parameter | exp.SessionParameter):
            raise Unsupported("a query parameter")
        if isinstance(node, exp.Star) and not _is_counted_star(node):
            raise Unsupported("`*` inside an expression")
        if isinstance(node, exp.Func) and is_call(node) and not is_bound(node):
            _check_call(node, functions)


def bound(tree: exp.Expr) -> exp.Expr:
    """The tree with its columns and calls marked as resolved, not to be looked up again."""
    for node in tree.find_all(exp.Column, exp.Func):
        node.meta["bound"] = True
    return tree


def is_bound(node: exp.Expr) -> bool:
    """Whether a column is one of the algebra already, or a call one of the planner's own."""
    return bool(node.meta.get("bound"))


def is_subquery(node: exp.Expr) -> bool:
    """Whether an expression is a test or value of a subquery: EXISTS, IN, `= ANY`, a scalar one."""
    if isinstance(node, exp.EQ | exp.NEQ) and isinstance(node.expression, exp.Any | exp.All):
        return isinstance(node.expression.this.unnest(), exp.Query)
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Exists | exp.Subquery | exp.Query)


def has_subquery(tree: exp.Expr) -> bool:
    """Whether a subquery stands anywhere in the expression."""
    return any(is_subquery(node) for node in tree.walk())


def is_call(node: exp.Func) -> bool:
    """Whether a node is a function by name; CAST, CASE and their like depend on nothing else."""
    return not isinstance(node, _SYNTAX)


def _is_counted_star(node: exp.Star) -> bool:
    parent = node.parent
    return isinstance(parent, exp.Anonymous) and parent.name.lower() == "count"


def _check_call(node: exp.Func, functions: Functions) -> None:
    name = function_name(node)
    kind = functions.kind(name)
    if kind is Kind.CLOCK and getattr(node, "expressions", None):
        return  # unix_timestamp(x) is a function of x
    if kind is Kind.UNKNOWN:
        raise Unsupported(
            f"the function `{name}`, which is not Spark's own and not declared in"
            " `ivm_deterministic_functions` or `ivm_aggregate_functions`,"
        )
    if kind is Kind.WINDOW and node.find_ancestor(exp.Window):
        return
    if kind not in (Kind.SCALAR, Kind.AGGREGATE, Kind.GROUPING):
        raise Unsupported(f"`{name}()`, a {kind.value},")


def function_name(node: exp.Expr) -> str:
    """The name a call is known by to Spark."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def aggregate_of(node: exp.Expr, functions: Functions) -> exp.Anonymous | None:
    """The aggregate function inside a call with its modifiers, or None for anything else."""
    inner = node
    while isinstance(inner, _MODIFIERS):
        inner = inner.this
    if isinstance(inner, exp.Anonymous) and functions.kind(inner.name) is Kind.AGGREGATE:
        return inner
    return None


def has_aggregate(tree: exp.Expr, functions: Functions) -> bool:
    """Whether an aggregate is called anywhere in the expression, subqueries aside.

    In `sum(sum(x)) over (…)` the inner one is an aggregate, the outer one is not.
    """
    return any(
        functions.kind(node.name) is Kind.AGGREGATE and not is_windowed(node)
        for node in tree.find_all(exp.Anonymous)
    )


def ancestors(node: exp.Expr) -> list[exp.Expr]:
    """Everything that an expression stands in, innermost first."""
    found, parent = [], node.parent
    while parent is not None:
        found.append(parent)
        parent = parent.parent
    return found


def is_windowed(node: exp.Expr) -> bool:
    """Whether a call is the function of an OVER clause."""
    parent = node.parent
    while isinstance(parent, _MODIFIERS):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node
