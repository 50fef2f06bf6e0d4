"""Algebra to Spark SQL trees: one SELECT block per operator, named results as CTEs."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatchmethod

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Lookup,
    Named,
    Net,
    Node,
    OneRow,
    Project,
    Scan,
    SemiJoin,
    Sort,
    UnionAll,
)
from dbt_ivm.algebra.scalar import Scalar, call, column
from dbt_ivm.names import HIDDEN_PREFIX, WEIGHT
from dbt_ivm.sql.dialect import literal

ReadScan = Callable[[Scan], exp.Query]


def to_query(node: Node, read_scan: ReadScan) -> exp.Query:
    """The query of a tree; `read_scan` says how a table's state or changes are read."""
    renderer = _Renderer(read_scan)
    query = renderer.query(node)
    for name, body in renderer.named.items():
        query = query.with_(exp.to_identifier(name, quoted=True), body, copy=False)
    return query


class _Renderer:
    def __init__(self, read_scan: ReadScan) -> None:
        self.named: dict[str, exp.Query] = {}
        self._read_scan = read_scan
        self._aliases = 0

    @singledispatchmethod
    def query(self, node: Node) -> exp.Query:
        raise TypeError(f"no SQL for {type(node).__name__}")

    @query.register
    def _(self, node: Scan) -> exp.Query:
        return self._read_scan(node)

    @query.register
    def _(self, node: OneRow) -> exp.Query:
        return exp.select(exp.alias_(literal(1), "one", quoted=True))

    @query.register
    def _(self, node: Named) -> exp.Query:
        return self._block(node, node.columns)

    @query.register
    def _(self, node: Filter) -> exp.Query:
        return self._block(node.input, node.columns).where(node.predicate.tree, copy=False)

    @query.register
    def _(self, node: Project) -> exp.Query:
        items = [_aliased(item.name, item.value) for item in node.items]
        if isinstance(node.input, Filter):  # both read the same input: one block
            block = exp.select(*items).from_(self._from(node.input.input), copy=False)
            return block.where(node.input.predicate.tree, copy=False)
        if isinstance(node.input, OneRow):
            return exp.select(*items)
        return self._over(exp.select(*items), node.input)

    @query.register
    def _(self, node: Join) -> exp.Query:
        return self._block(node, node.columns)

    @query.register
    def _(self, node: SemiJoin) -> exp.Query:
        block = exp.select(*(column(name, "l") for name in node.columns))
        return self._matched(block, node, "SEMI")

    @query.register
    def _(self, node: Lookup) -> exp.Query:
        left = [column(name, "l") for name in node.left.columns]
        right = [column(name, "r") for name in node.right.columns]
        return self._matched(exp.select(*left, *right), node, None)

    def _matched(self, block: exp.Select, node: SemiJoin | Lookup, kind: str | None) -> exp.Query:
        pairs = [
            exp.NullSafeEQ(this=column(a, "l"), expression=column(b, "r")) for a, b in node.keys
        ]
        on = exp.and_(*pairs) if pairs else exp.true()
        block = block.from_(self._from(node.left, "l"), copy=False)
        right = self._from(node.right, "r")
        block.append("joins", exp.Join(this=right, side="LEFT", kind=kind, on=on))
        return block

    @query.register
    def _(self, node: UnionAll) -> exp.Query:
        blocks = []
        for branch in node.branches:
            renamed = [_aliased(n, c) for n, c in zip(node.names, branch.columns, strict=True)]
            blocks.append(self._over(exp.select(*renamed), branch))
        union: exp.Query = blocks[0]
        for block in blocks[1:]:
            union = exp.Union(this=union, expression=block, distinct=False)
        return union

    @query.register
    def _(self, node: Generate) -> exp.Query:
        block = self._block(node.input, node.columns)
        self._aliases += 1
        names = [exp.to_identifier(name, quoted=True) for name in node.names]
        alias = exp.TableAlias(
            this=exp.to_identifier(f"{HIDDEN_PREFIX}g{self._aliases}", quoted=True), columns=names
        )
        lateral = exp.Lateral(this=node.generator.tree, view=True, outer=node.outer, alias=alias)
        block.append("laterals", lateral)
        return block

    @query.register
    def _(self, node: Aggregate) -> exp.Query:
        calls = [_aliased(c.name, c.written) for c in node.calls]
        keys = [column(key) for key in node.keys]
        block = self._over(exp.select(*keys, *calls), node.input)
        return block.group_by(*(key.copy() for key in keys), copy=False) if keys else block

    @query.register
    def _(self, node: Net) -> exp.Query:
        keys = [column(name) for name in node.columns if name != WEIGHT]
        total = call("sum", column(WEIGHT))
        items = [
            exp.alias_(total.copy(), WEIGHT, quoted=True) if name == WEIGHT else column(name)
            for name in node.columns
        ]
        block = self._over(exp.select(*items), node.input)
        block = block.group_by(*keys, copy=False)
        return block.having(exp.NEQ(this=total, expression=literal(0)), copy=False)

    @query.register
    def _(self, node: Distinct) -> exp.Query:
        return self._block(node.input, node.columns).distinct(copy=False)

    @query.register
    def _(self, node: Sort) -> exp.Query:
        keys = [key.value.tree for key in node.keys]
        return self._block(node.input, node.columns).order_by(*keys, copy=False)

    @query.register
    def _(self, node: Limit) -> exp.Query:
        block = (
            self.query(node.input)
            if isinstance(node.input, Sort)
            else self._block(node.input, node.columns)
        )
        if node.limit:
            block = block.limit(node.limit.tree, copy=False)
        return block.offset(node.offset.tree, copy=False) if node.offset else block

    def _block(self, source: Node, columns: tuple[str, ...]) -> exp.Select:
        return self._over(exp.select(*(column(name) for name in columns)), source)

    def _over(self, block: exp.Select, source: Node) -> exp.Select:
        """Put a FROM under a select list; an inner join keeps its inputs in one block."""
        if not isinstance(source, Join):
            return block.from_(self._from(source), copy=False)
        block = self._over(block, source.left)
        condition = source.condition.tree if source.condition else None
        kind = None if condition is not None else "CROSS"
        block.append("joins", exp.Join(this=self._from(source.right), kind=kind, on=condition))
        return block

    def _from(self, node: Node, alias: str | None = None) -> exp.Expr:
        if isinstance(node, Named):
            if node.name not in self.named:
                body = self.query(node.input)
                self.named[node.name] = body
            reference = exp.to_table(node.name)
            reference.this.set("quoted", True)
            return exp.alias_(reference, alias, table=True) if alias else reference
        if alias is None:
            self._aliases += 1
            alias = f"{HIDDEN_PREFIX}q{self._aliases}"
        return exp.Subquery(
            this=self.query(node), alias=exp.TableAlias(this=exp.to_identifier(alias))
        )


def _aliased(name: str, value: Scalar | str) -> exp.Expr:
    if isinstance(value, str):
        value = Scalar(column(value))
    return value.tree if value.column == name else exp.alias_(value.tree, name, quoted=True)
