"""Scans as queries: the columns of a scan from any source of rows, with or without a weight."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Scan
from dbt_ivm.algebra.scalar import column
from dbt_ivm.names import WEIGHT
from dbt_ivm.sql.dialect import literal


def rows(scan: Scan, source: exp.Expr) -> exp.Select:
    """`select source_name as name, … from source`."""
    items = [exp.alias_(column(field.source), field.name, quoted=True) for field in scan.fields]
    return exp.select(*items).from_(source)


def weighted(scan: Scan, source: exp.Expr, weight: exp.Expr) -> exp.Select:
    """The rows with a weight: `select …, 1 as __ivm_weight from source`."""
    return rows(scan, source).select(exp.alias_(weight, WEIGHT, quoted=True))


def came_or_left(came: exp.Expr) -> exp.Expr:
    """`case when came then 1 else -1 end`."""
    return exp.Case().when(came, literal(1)).else_(exp.Neg(this=literal(1)))
