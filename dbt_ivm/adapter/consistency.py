"""The judge: a model's stored rows against its own SQL at the versions it claims to stand at."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.adapter.runner import Request, Runner
from dbt_ivm.algebra.nodes import TableName, is_comparable
from dbt_ivm.algebra.scalar import call, column
from dbt_ivm.errors import IvmError
from dbt_ivm.plan.changes import changes_since, lost, standing
from dbt_ivm.sql.catalog import ColumnFact
from dbt_ivm.sql.dialect import literal, render, table, verbatim
from dbt_ivm.sql.pin import pin

SIGN = "__ivm_sign"
"""+1: the model has the row and its SQL has not; -1: the other way round."""


def consistency_query(runner: Runner, request: Request) -> str:
    """`(view except all query) union all (query except all view)`, signed."""
    target = runner.target(request)
    if target.watermark is None:
        why = target.problem or "it was not built by an ordinary run"
        raise IvmError(
            f"Model {request.model} has no watermark to compare at ({why}); run it first."
        )
    analysis = runner.analyze(request)
    heads = runner.heads(analysis, target.watermark)
    changes = changes_since(analysis, heads, target.watermark)
    if lost(changes):
        raise IvmError(
            f"Model {request.model} cannot be compared at its watermark: {lost(changes)};"
            " run it first."
        )
    versions = {change.head.table: standing(change).version for change in changes}
    judge = pin(request.sql, runner.facts, versions.get)
    stamps = analysis.maintainable.stamps if analysis.maintainable else frozenset[str]()
    compared = [c for c in target.watermark.types.outputs if c.name not in stamps]
    return render(_difference(request.view, compared, verbatim(judge + "\n")))


def _difference(view: TableName, outputs: list[ColumnFact], judge: exp.Expr) -> exp.Query:
    """The signed difference of these columns, bag-exact."""
    items = [
        column(c.name)
        if is_comparable(c.type)
        else exp.alias_(call("to_json", column(c.name)), c.name, quoted=True)
        for c in outputs
    ]

    def side(source: exp.Expr) -> exp.Select:
        return exp.select(*(item.copy() for item in items)).from_(source)

    def minus(sign: int, first: exp.Select, second: exp.Select) -> exp.Select:
        rows = exp.Except(this=first, expression=second, distinct=False)
        number = literal(1) if sign > 0 else exp.Neg(this=literal(1))
        names = [column(c.name) for c in outputs]
        return exp.select(*names, exp.alias_(number, SIGN, quoted=True)).from_(_derived(rows, "r"))

    stored = side(table(view))
    expected = side(_derived(judge, "q"))
    extra = minus(1, stored, expected)
    missing = minus(-1, expected.copy(), stored.copy())
    return exp.Union(this=extra, expression=missing, distinct=False)


def _derived(body: exp.Expr, alias: str) -> exp.Subquery:
    return exp.Subquery(this=body, alias=exp.TableAlias(this=exp.to_identifier(alias)))
