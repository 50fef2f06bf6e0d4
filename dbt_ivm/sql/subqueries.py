"""Subquery expressions to joins: EXISTS and IN to semi joins, values to joins with an aggregate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_ivm.algebra.base import OuterRow
from dbt_ivm.algebra.decorrelate import Unnested, plain_filter, unnest
from dbt_ivm.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
)
from dbt_ivm.algebra.predicates import all_of
from dbt_ivm.algebra.scalar import Scalar, call, column, ref, substitute
from dbt_ivm.sql.context import Context, Outer, Relation, ResolveQuery
from dbt_ivm.sql.dialect import literal
from dbt_ivm.sql.empty_groups import call_over_no_rows
from dbt_ivm.sql.expressions import bound, is_subquery, resolve
from dbt_ivm.sql.membership import Membership, membership
from dbt_ivm.sql.scope import Output, Scope, Source

TOO_MANY = "a subquery used as a value returned more than one row"


@dataclass
class Host:
    """The query around: it grows by a join for every subquery it uses."""

    node: Node
    scope: Scope
    clocks: dict[str, str] = field(default_factory=dict)
    """The columns that hold the time, by grain, once they are joined to it."""


@dataclass(frozen=True)
class _Inner:
    """A resolved subquery, its outer row still in it."""

    relation: Relation
    row: OuterRow
    names: dict[str, str]
    """Column of the outer row -> column of the query around."""

    def unnested(self, host: Host, spared: Node | None = None) -> Unnested:
        shown = frozenset(o.name for o in self.relation.outputs)
        return unnest(
            self.relation.node, shown, self.row, host.node, self.names, call_over_no_rows, spared
        )

    def outside(self, tree: exp.Expr) -> exp.Expr:
        """An expression over the outer row, over the query around instead."""
        names = self.names
        return substitute(tree, lambda c: column(names[c.name]) if c.name in names else None)


class Subqueries:
    """Resolves the subquery expressions of one SELECT."""

    def __init__(self, context: Context, query: ResolveQuery) -> None:
        self._context = context
        self._query = query

    def filter(self, tree: exp.Expr, host: Host) -> bool:
        """A conjunct that is nothing but a subquery test becomes a semi or anti join."""
        negated = False
        tree = tree.unnest()
        while isinstance(tree, exp.Not):
            negated, tree = not negated, tree.this.unnest()
        test = membership(tree)
        if test is None:
            return False
        self._semi_join(test, host, negated != test.negated)
        return True

    def keep_where(self, tree: exp.Expr, host: Host) -> None:
        """The rows of the host for which a condition with subqueries holds."""
        if not self.filter(tree, host):
            lifted = self.lift(tree, host)
            predicate = resolve(lifted, host.scope.find, self._context.functions)
            host.node = Filter(host.node, Scalar(predicate))

    def lift(self, tree: exp.Expr, host: Host) -> exp.Expr:
        """The expression with every subquery in it replaced by columns joined to the host."""
        copy = exp.Paren(this=tree.copy())
        for node in _outermost(copy):
            node.replace(exp.Paren(this=self.value(node, host)))
        lifted: exp.Expr = copy.this
        return lifted

    def value(self, node: exp.Expr, host: Host) -> exp.Expr:
        """The value of one subquery expression, from columns that are joined to the host for it."""
        return bound(self._value(node, host))

    def _value(self, node: exp.Expr, host: Host) -> exp.Expr:
        test = membership(node)
        if test is None:
            return self._scalar(node.unnest(), host)
        found = self._is_member(test, host) if test.left else self._exists(test.query, host)
        return exp.Not(this=exp.Paren(this=found)) if test.negated else found

    def _resolved(self, query: exp.Query, host: Host) -> _Inner:
        names = {name: self._context.names.fresh(name) for name in host.scope.columns()}
        row = OuterRow(tuple(names.values()))
        outer = Outer(row, host.scope.renamed(names))
        inner = self._context.inside("a subquery").below(outer)
        relation = self._query(query, inner)
        return _Inner(relation, row, {new: old for old, new in names.items()})

    def _semi_join(self, test: Membership, host: Host, negated: bool) -> None:
        """x in (select y …) -> S ⋉ T on x = y; not in -> S ▷ T on x = y or (x = y) is null."""
        inner = self._resolved(test.query, host)
        right, trees, values = self._match(inner, host, exists=not test.left)
        if test.left:
            mine = [resolve(x, host.scope.find, self._context.functions) for x in test.left]
            same = test.equals(mine, values)
            unknown = exp.Is(this=exp.Paren(this=same.copy()), expression=exp.Null())
            trees.append(exp.Paren(this=exp.or_(same, unknown)) if negated else same)
        host.node = SemiJoin(host.node, right, all_of(trees), anti=negated)

    def _match(
        self, inner: _Inner, host: Host, exists: bool
    ) -> tuple[Node, list[exp.Expr], list[exp.Expr]]:
        """What to join with, on which conditions, and the columns it shows as expressions."""
        node = inner.relation.node
        values: list[exp.Expr] = [column(o.name) for o in inner.relation.outputs]
        top = node
        while exists and isinstance(top, Project):
            top = top.input
        if isinstance(top, Project):
            items = {item.name: item.value.tree for item in top.items}
            values = [items[v.name] for v in values]
            top = top.input
        plain = plain_filter(top, inner.row)
        if plain:
            source, trees = plain
            own = set(source.columns)
            mine = all_of([t for t in trees if Scalar(t).columns <= own])
            others = [inner.outside(t) for t in trees if not Scalar(t).columns <= own]
            right = Filter(source, mine) if mine else source
            return right, others, [inner.outside(v) for v in values]
        shown: list[exp.Expr] = [column(o.name) for o in inner.relation.outputs]
        unnested = inner.unnested(host)
        return unnested.node, _matches(unnested, inner), shown

    def _exists(self, query: exp.Query, host: Host) -> exp.Expr:
        """exists (…) as a value: whether the count that is joined to the row is above 0."""
        inner = self._resolved(query, host)
        rows = self._fresh_call("count", exp.Star())
        self._join_groups(inner, host, (), (rows,))
        return _any(rows)

    def _is_member(self, test: Membership, host: Host) -> exp.Expr:
        """x in (…) as a value: true, else unknown if a NULL was compared, else false."""
        if len(test.left) != 1:
            raise self._context.unsupported("a tuple IN a subquery used as a value")
        x = resolve(test.left[0], host.scope.find, self._context.functions)
        inner = self._resolved(test.query, host)
        value = inner.relation.outputs[0].name
        rows = self._fresh_call("count", exp.Star())
        present = self._fresh_call("count", column(value))
        self._join_groups(inner, host, (), (rows, present))
        again = self._resolved(test.query, host)
        hits = self._fresh_call("count", exp.Star())
        shown = again.relation.outputs[0].name
        equal = exp.EQ(this=x.copy(), expression=column(shown))
        self._join_groups(again, host, (shown,), (hits,), equal)
        nulls = exp.GT(this=column(rows.name), expression=column(present.name))
        no_value = exp.Is(this=exp.Paren(this=x), expression=exp.Null())
        unknown = exp.and_(_any(rows), exp.Paren(this=exp.or_(no_value, nulls)))
        return exp.Case().when(_any(hits), exp.true()).when(unknown, exp.Null()).else_(exp.false())

    def _scalar(self, query: exp.Expr, host: Host) -> exp.Expr:
        """(select v …) as a value: NULL without a row, an error with two."""
        if not isinstance(query, exp.Query):
            raise self._context.unsupported(f"a subquery with {query.key.upper()}")
        inner = self._resolved(query, host)
        relation = inner.relation
        if len(relation.outputs) != 1:
            raise self._context.unsupported("a subquery of several columns used as a value")
        value = relation.outputs[0].name
        if relation.empty:
            return self._joined_value(inner, host, value, relation.empty[0])
        if relation.single:
            return self._joined_value(inner, host, value, None)
        rows = self._fresh_call("count", exp.Star())
        only = replace(self._fresh_call("any_value", column(value)), settled=True)
        self._join_groups(inner, host, (), (rows, only))
        several = exp.GT(this=column(rows.name), expression=literal(1))
        error = call("raise_error", literal(TOO_MANY))
        return exp.Case().when(several, error).else_(column(only.name))

    def _joined_value(
        self, inner: _Inner, host: Host, value: str, empty: Scalar | None
    ) -> exp.Expr:
        """The column of a subquery that has one row at most for every outer row."""
        total = inner.relation.node
        while isinstance(total, Project):
            total = total.input
        unnested = inner.unnested(host, total if empty is not None else None)
        if not unnested.columns and empty is not None:
            host.node = Join(host.node, unnested.node)
            return column(value)
        if empty is None or isinstance(empty.tree, exp.Null):
            host.node = OuterJoin(host.node, unnested.node, all_of(_matches(unnested, inner)))
            return column(value)
        found = self._context.names.fresh("found")
        passed = tuple(Item(c, ref(c)) for c in unnested.node.columns)
        flagged = Project(unnested.node, (*passed, Item(found, Scalar(exp.true()))))
        host.node = OuterJoin(host.node, flagged, all_of(_matches(unnested, inner)))
        return exp.Case().when(column(found), column(value)).else_(inner.outside(empty.tree))

    def _join_groups(
        self,
        inner: _Inner,
        host: Host,
        keys: tuple[str, ...],
        calls: tuple[AggregateCall, ...],
        condition: exp.Expr | None = None,
    ) -> None:
        """S ⟕ γ_{d, keys; calls}(subquery); without any key there is exactly one row to join."""
        unnested = inner.unnested(host)
        groups = Aggregate(unnested.node, (*unnested.columns, *keys), calls)
        trees = _matches(unnested, inner) + ([condition] if condition is not None else [])
        kind = OuterJoin if groups.keys else Join
        host.node = kind(host.node, groups, all_of(trees))

    def _fresh_call(self, function: str, argument: exp.Expr) -> AggregateCall:
        name = self._context.names.fresh(function)
        written = Scalar(call(function, argument))
        return AggregateCall(name, function, (Scalar(argument),), None, True, written)


def lateral_join(
    node: Node, scope: Scope, join: exp.Join, context: Context, query: ResolveQuery
) -> tuple[Node, Scope]:
    """`from s, lateral (select … where t.k = s.k)`: the subquery's rows beside their outer row."""
    lateral = join.this
    left = (join.side or "").upper() == "LEFT"
    host = Host(node, scope)
    inner = Subqueries(context, query)._resolved(lateral.this.this, host)
    unnested = inner.unnested(host)
    relation, alias = inner.relation, lateral.args.get("alias")
    visible = [c.name for c in alias.columns] if alias and alias.columns else []
    names = visible or [o.visible for o in relation.outputs]
    outputs = tuple(Output(v, o.name) for v, o in zip(names, relation.outputs, strict=True))
    both = scope.add(Source((alias.name,) if alias and alias.name else (), outputs))
    trees = _matches(unnested, inner)
    on = join.args.get("on")
    if on is not None and on != exp.true():
        trees.append(resolve(on, both.find, context.functions))
    kind = OuterJoin if left else Join
    return kind(node, unnested.node, all_of(trees)), both


def _matches(unnested: Unnested, inner: _Inner) -> list[exp.Expr]:
    """`outer column = d` for every column by which the subquery belongs to an outer row."""
    return [
        (exp.NullSafeEQ if name in unnested.null_safe else exp.EQ)(
            this=column(inner.names[name]), expression=column(name)
        )
        for name in unnested.columns
    ]


def _any(rows: AggregateCall) -> exp.Expr:
    count = call("coalesce", column(rows.name), literal(0))
    return exp.GT(this=count, expression=literal(0))


def _outermost(tree: exp.Expr) -> list[exp.Expr]:
    """The subquery expressions of a tree, none of them inside another."""
    if is_subquery(tree):
        return [tree]
    return [found for child in tree.iter_expressions() for found in _outermost(child)]
