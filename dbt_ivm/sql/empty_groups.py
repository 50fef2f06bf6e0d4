"""What an aggregate without GROUP BY is when there is no row at all."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import AggregateCall
from dbt_ivm.algebra.scalar import Scalar, call, substitute
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.dialect import literal, spark_type

_ZERO = {"count", "count_if", "approx_count_distinct", "regr_count"}
_EMPTY_ARRAY = {"collect_list", "collect_set", "array_agg"}
_UNSURE = {"count_min_sketch", "hll_sketch_agg", "bitmap_construct_agg", "bitmap_or_agg"}


def over_no_rows(tree: exp.Expr, calls: list[AggregateCall]) -> Scalar:
    """The expression with every aggregate replaced by its value over no rows."""
    by_name = {c.name: c for c in calls}
    return Scalar(
        substitute(
            tree, lambda c: call_over_no_rows(by_name[c.name]) if c.name in by_name else None
        )
    )


def call_over_no_rows(aggregate: AggregateCall) -> exp.Expr:
    """One aggregate over no rows: 0, an empty array, mostly NULL."""
    function = aggregate.function
    if function in _ZERO:
        return exp.Cast(this=literal(0), to=spark_type("bigint"))
    if function in _EMPTY_ARRAY:
        return call("array")
    if function in _UNSURE:
        raise Unsupported(f"`{function}` of no rows")
    return exp.Null()
