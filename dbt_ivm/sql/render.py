"""Algebra to Spark SQL trees: one SELECT block per operator, named results as CTEs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import singledispatchmethod

from sqlglot import exp

from dbt_ivm.algebra.joins import Conditional
from dbt_ivm.algebra.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Named,
    Net,
    Node,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    Sort,
    Stamped,
    UnionAll,
    Values,
    Window,
)
from dbt_ivm.algebra.projections import cascade
from dbt_ivm.algebra.scalar import Scalar, call, column
from dbt_ivm.algebra.sharing import worth_keeping
from dbt_ivm.algebra.sizes import FEW, Estimate, Sizes
from dbt_ivm.algebra.walk import uses
from dbt_ivm.names import HIDDEN_PREFIX, WEIGHT
from dbt_ivm.sql.dialect import literal

ReadScan = Callable[[Scan], exp.Query]


def to_query(node: Node, read_scan: ReadScan) -> exp.Query:
    """The query of a plan; `read_scan` says how a table's state or changes are read.

    A result that is read in several places becomes a CTE, so the text grows with the plan.
    """
    return _query(cascade(node), read_scan, {})


@dataclass(frozen=True)
class Prepared:
    """A query, and the results it reads that are to be kept under a name while it runs."""

    query: exp.Query
    kept: tuple[tuple[str, exp.Query], ...]


def prepared(node: Node, read_scan: ReadScan, prefix: str, sizes: Sizes) -> Prepared:
    """The query of a plan, with what would be computed too often taken out of it.

    Joins with a result of few rows are hinted: the other side stays in place.
    """
    node = cascade(node)
    kept = worth_keeping(node)
    estimate = Estimate(sizes)
    names = {id(part): f"{prefix}_{number}" for number, part in enumerate(kept, 1)}
    queries = tuple((names[id(part)], _query(part, read_scan, names, estimate)) for part in kept)
    return Prepared(_query(node, read_scan, names, estimate), queries)


def _query(
    node: Node,
    read_scan: ReadScan,
    kept: Mapping[int, str],
    estimate: Estimate | None = None,
) -> exp.Query:
    renderer = _Renderer(node, read_scan, kept, estimate)
    query = renderer.query(node)
    for name, body in renderer.named.items():
        query = query.with_(exp.to_identifier(name, quoted=True), body, copy=False)
    return query


class _Renderer:
    def __init__(
        self,
        root: Node,
        read_scan: ReadScan,
        kept: Mapping[int, str],
        estimate: Estimate | None,
    ) -> None:
        self._kept = kept
        self._estimate = estimate
        self.named: dict[str, exp.Query] = {}
        self._uses = uses(root)
        self._shared: dict[int, str] = {}
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

    @query.register(Named)
    @query.register(Stamped)
    def _(self, node: Named | Stamped) -> exp.Query:
        return self._block(node.input, node.columns)

    @query.register
    def _(self, node: Filter) -> exp.Query:
        return self._block(node.input, node.columns).where(node.predicate.tree, copy=False)

    @query.register
    def _(self, node: Project) -> exp.Query:
        items = [_aliased(item.name, item.value) for item in node.items]
        if isinstance(node.input, OneRow):
            return exp.select(*items)
        if isinstance(node.input, Filter) and not self._is_shared(node.input):
            block = self._over(exp.select(*items), node.input.input)
            return block.where(node.input.predicate.tree, copy=False)
        return self._over(exp.select(*items), node.input)

    @query.register
    def _(self, node: Conditional) -> exp.Query:
        return self._joined(exp.select(*(column(name) for name in node.columns)), node)

    @query.register
    def _(self, node: Values) -> exp.Query:
        names = [exp.to_identifier(name, quoted=True) for name in node.names]
        rows = [exp.Tuple(expressions=[value.tree for value in row]) for row in node.rows]
        alias = exp.TableAlias(this=exp.to_identifier("v"), columns=names)
        values = exp.Values(expressions=rows, alias=alias)
        return exp.select(*(column(name) for name in node.names)).from_(values)

    @query.register
    def _(self, node: Window) -> exp.Query:
        passed = [column(name) for name in node.input.columns]
        calls = [_aliased(item.name, item.value) for item in node.items]
        return self._over(exp.select(*passed, *calls), node.input)

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
            if isinstance(node.input, Sort) and not self._is_shared(node.input)
            else self._block(node.input, node.columns)
        )
        if node.limit:
            block = block.limit(node.limit.tree, copy=False)
        return block.offset(node.offset.tree, copy=False) if node.offset else block

    def _block(self, source: Node, columns: tuple[str, ...]) -> exp.Select:
        return self._over(exp.select(*(column(name) for name in columns)), source)

    def _over(self, block: exp.Select, source: Node) -> exp.Select:
        """Put a FROM under a select list; joins keep their inputs in one block."""
        if isinstance(source, Conditional) and not self._is_shared(source):
            return self._joined(block, source)
        return block.from_(self._from(source), copy=False)

    def _joined(self, block: exp.Select, node: Conditional) -> exp.Select:
        """`from l [left | full | left semi | left anti] join r on …`; no condition matches all."""
        sent = self._sent(node)
        if sent is node.left and isinstance(node.left, Conditional):
            # A hint names a relation, so a join that is sent as a whole stands for itself.
            block = block.from_(self._from(node.left), copy=False)
        else:
            block = self._over(block, node.left)
        condition = node.condition.tree if node.condition else None
        side = kind = None
        if isinstance(node, OuterJoin):
            side = "FULL" if node.full else "LEFT"
        elif isinstance(node, SemiJoin):
            side, kind = "LEFT", "ANTI" if node.anti else "SEMI"
        elif condition is None:
            kind = "CROSS"
        if condition is None and kind != "CROSS":
            condition = exp.true()
        join = exp.Join(this=self._from(node.right), side=side, kind=kind, on=condition)
        block.append("joins", join)
        if sent is not None:
            _broadcast(block, (block.args["from_"] if sent is node.left else join).this)
        return block

    def _sent(self, node: Conditional) -> Node | None:
        """The side with few rows, which is sent to wherever rows of the other side are."""
        if self._estimate is None or (isinstance(node, OuterJoin) and node.full):
            return None
        sides = (node.right, node.left) if isinstance(node, Join) else (node.right,)
        rows = [(self._estimate.rows(side), side) for side in sides]
        few = [(n, side) for n, side in rows if n is not None and n <= FEW]
        return min(few, key=lambda pair: pair[0])[1] if few else None

    def _is_shared(self, node: Node) -> bool:
        """Whether a result is read in several places and so deserves a name of its own."""
        shared = self._uses.get(id(node), 0) > 1 and not isinstance(node, OneRow | Values)
        return shared or id(node) in self._kept

    def _from(self, node: Node) -> exp.Expr:
        if id(node) in self._kept:
            return exp.Table(this=exp.to_identifier(self._kept[id(node)], quoted=True))
        if isinstance(node, Named):
            return self._named(node.name, node.input)
        if self._is_shared(node):
            if id(node) not in self._shared:
                self._shared[id(node)] = f"{HIDDEN_PREFIX}{len(self._shared) + 1}"
            return self._named(self._shared[id(node)], node)
        self._aliases += 1
        alias = f"{HIDDEN_PREFIX}q{self._aliases}"
        return exp.Subquery(
            this=self.query(node), alias=exp.TableAlias(this=exp.to_identifier(alias))
        )

    def _named(self, name: str, node: Node) -> exp.Expr:
        if name not in self.named:
            self.named[name] = self.query(node)
        return exp.Table(this=exp.to_identifier(name, quoted=True))


def _broadcast(block: exp.Select, relation: exp.Expr) -> None:
    hint = block.args.get("hint") or exp.Hint(
        expressions=[exp.Anonymous(this="BROADCAST", expressions=[])]
    )
    hint.expressions[0].append(
        "expressions", exp.to_identifier(relation.alias_or_name, quoted=True)
    )
    block.set("hint", hint)


def _aliased(name: str, value: Scalar | str) -> exp.Expr:
    if isinstance(value, str):
        value = Scalar(column(value))
    return value.tree if value.column == name else exp.alias_(value.tree, name, quoted=True)
