"""ORDER BY, LIMIT and OFFSET: kept for the view at the top, a ranking of rows below it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.nodes import Filter, Item, Limit, Node, Sort, SortKey, Window
from dbt_ivm.algebra.scalar import Scalar, call, column
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.context import Context
from dbt_ivm.sql.dialect import literal

Outputs = list[tuple[str, exp.Expr]]


@dataclass(frozen=True)
class Ordering:
    """What stands behind a query: an order over its columns, and how many rows of it."""

    keys: tuple[exp.Expr, ...]
    limit: Scalar | None
    offset: Scalar | None

    @property
    def is_bounded(self) -> bool:
        return self.limit is not None or self.offset is not None

    @property
    def is_one_row(self) -> bool:
        return self.limit is not None and self.limit.tree == literal(1)

    def over(self, node: Node, context: Context, top: bool) -> Node:
        """At the top the view sorts and cuts; below it a bounded order is a filter on a rank.

        limit n offset m   ->   σ_{m < r ≤ m + n}(row_number() over (order by …) as r)
        """
        if top:
            if self.keys:
                node = Sort(node, tuple(SortKey(Scalar(key)) for key in self.keys))
            return Limit(node, self.limit, self.offset) if self.is_bounded else node
        return self._ranked(node, context) if self.is_bounded else node

    def _ranked(self, node: Node, context: Context) -> Node:
        keys = [key.copy() for key in self.keys] or [exp.Ordered(this=column(node.columns[0]))]
        rank = exp.Window(this=call("row_number"), order=exp.Order(expressions=keys), over="OVER")
        name = context.names.fresh("rank")
        ranked = Window(node, (), (Item(name, Scalar(rank)),))
        first = self.offset.tree if self.offset else literal(0)
        tests: list[exp.Expr] = [exp.GT(this=column(name), expression=first)]
        if self.limit:
            last = exp.Add(this=exp.Paren(this=first.copy()), expression=self.limit.tree)
            tests.append(exp.LTE(this=column(name), expression=last))
        return Filter(ranked, Scalar(exp.and_(*tests)))


def ordering(
    query: exp.Query, outputs: Outputs, resolve: Callable[[exp.Expr], exp.Expr], top: bool
) -> Ordering:
    """The order and bounds of a query; without bounds an order below the top means nothing."""
    limit, offset = _bounds(query)
    order = query.args.get("order")
    keys: tuple[exp.Expr, ...] = ()
    if order is not None and (top or limit or offset):
        try:
            keys = tuple(resolve(item) for item in _items(order, outputs))
        except Unsupported:
            if limit or offset:
                raise
    return Ordering(keys, limit, offset)


def _items(order: exp.Order, outputs: Outputs) -> list[exp.Expr]:
    """The sort items; `order by 2` is the second column."""
    items = [item.copy() for item in order.expressions]
    for item in items:
        if isinstance(item.this, exp.Literal) and item.this.is_int:
            position = int(item.this.name)
            if not 1 <= position <= len(outputs):
                raise Unsupported(f"ORDER BY {position}, which has no such column,")
            item.set("this", column(outputs[position - 1][0]))
    return items


def _bounds(query: exp.Query) -> tuple[Scalar | None, Scalar | None]:
    limit, offset = query.args.get("limit"), query.args.get("offset")
    value = limit.expression if limit else None
    if isinstance(value, exp.Var):  # LIMIT ALL
        value = None
    return (
        Scalar(value.copy()) if value is not None else None,
        Scalar(offset.expression.copy()) if offset else None,
    )
