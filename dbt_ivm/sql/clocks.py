"""Functions of the time: an input that changes, or the stamp of a row.

where day >= current_date() - 30      σ_{day >= today − 30}(S × {today}): a table of one row,
                                      whose change between two refreshes is {+new, −old}
select datediff(current_date(), day)  the same: what depends on both changes with both
select id, now() as loaded_at         the time at which the row was written
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt_ivm.algebra.base import Field
from dbt_ivm.algebra.nodes import Join, Scan
from dbt_ivm.algebra.scalar import column
from dbt_ivm.names import CLOCK, STAMP
from dbt_ivm.sql.clock_values import as_asked, grain_of
from dbt_ivm.sql.context import Context
from dbt_ivm.sql.dialect import spark_type
from dbt_ivm.sql.expressions import aggregate_of, ancestors, bound, function_name, is_subquery
from dbt_ivm.sql.functions import Functions, Kind
from dbt_ivm.sql.subqueries import Host

_GRAINS = {"date": "today", "timestamp": "now"}


def lift_clocks(tree: exp.Expr, host: Host, context: Context) -> exp.Expr:
    """The expression with the time read from a column that is joined to the host."""

    def read(function: str) -> exp.Expr:
        grain = grain_of(function)
        if grain not in host.clocks:
            host.clocks[grain] = name = context.names.fresh(_GRAINS[grain])
            field = Field(name, _GRAINS[grain], grain)
            host.node = Join(host.node, Scan((CLOCK, grain), (field,)))
        return as_asked(function, column(host.clocks[grain]))

    return _replaced(tree, read, context.functions)


def stamped(tree: exp.Expr, functions: Functions) -> exp.Expr:
    """The expression with the time of writing instead of the time of the query."""

    def read(function: str) -> exp.Expr:
        stamp = column(STAMP)
        if grain_of(function) == "date":
            return exp.Cast(this=stamp, to=spark_type("date"))
        return as_asked(function, stamp)

    return _replaced(tree, read, functions)


def is_stamped(tree: exp.Expr) -> bool:
    """Whether an expression shows when its row was written."""
    return any(node.name == STAMP for node in tree.find_all(exp.Column))


def is_clock(node: exp.Expr, functions: Functions) -> bool:
    """Whether a node asks for the time; `unix_timestamp(x)` is a function of x."""
    if not isinstance(node, exp.Func) or list(node.iter_expressions()):
        return False
    return functions.kind(function_name(node)) is Kind.CLOCK


def is_time_alone(tree: exp.Expr, functions: Functions) -> bool:
    """Whether a value is made of the time and constants: no column, group or subquery."""
    others = (exp.Column, exp.Query)
    return not any(isinstance(n, others) or aggregate_of(n, functions) for n in tree.walk())


def _replaced(tree: exp.Expr, read: Callable[[str], exp.Expr], functions: Functions) -> exp.Expr:
    copy = exp.Paren(this=tree.copy())
    for node in list(copy.find_all(exp.Func)):
        # What stands in a subquery belongs to the subquery.
        if is_clock(node, functions) and not any(is_subquery(a) for a in ancestors(node)):
            node.replace(bound(read(function_name(node))))
    result: exp.Expr = copy.this
    return result
