"""GROUP BY: key columns, aggregate calls, and expressions over both."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt_ivm.algebra.nodes import Aggregate, AggregateCall, Filter, Item, Node, Project
from dbt_ivm.algebra.scalar import Scalar, column, ref, substitute
from dbt_ivm.names import STAMP
from dbt_ivm.sql.clocks import is_clock, is_stamped, lift_clocks
from dbt_ivm.sql.context import Context
from dbt_ivm.sql.empty_groups import over_no_rows
from dbt_ivm.sql.expressions import (
    aggregate_of,
    bound,
    function_name,
    has_aggregate,
    is_bound,
    is_subquery,
    is_windowed,
    resolve,
)
from dbt_ivm.sql.functions import GROUPING
from dbt_ivm.sql.grouping_sets import Sets, expanded, grouping_sets, grouping_value
from dbt_ivm.sql.scope import Scope
from dbt_ivm.sql.select_list import SelectList, Shown, set_aside
from dbt_ivm.sql.subqueries import Host, Subqueries

Grouped = tuple[Node, list[Shown], Callable[[exp.Expr], exp.Expr], tuple[Scalar, ...]]


def grouped(
    select: exp.Select, items: SelectList, host: Host, subqueries: Subqueries, context: Context
) -> Grouped:
    """The groups of a SELECT with HAVING; what is shown and ordered by, over their columns."""
    grouping = Grouping(host, items, subqueries, context)
    grouping.add_keys(select.args.get("group"))
    shown = [(visible, grouping.above(value)) for visible, value in items.shown]
    having = select.args.get("having")
    tested = None
    if having:
        tree = subqueries.lift(set_aside(having.this, items, context), host)
        tested = grouping.above(grouping.resolve_having(lift_clocks(tree, host, context)))
    order = select.args.get("order")
    ordered = {
        id(item): grouping.above(grouping.resolve_having(_by_position(item, items.shown)))
        for item in (order.expressions if order else ())
    }
    items.above |= {name: grouping.tested_above(tree) for name, tree in items.above.items()}
    above = Host(grouping.aggregate(), grouping.scope_above())
    values = {n: grouping.joined(tree, above) for n, tree in items.above.items()}
    if tested is not None:
        above.node = Filter(above.node, Scalar(_filled(tested, values)))
    shown = [(visible, _filled(value, values)) for visible, value in shown]
    empty: tuple[Scalar, ...] = ()
    if not grouping.has_keys and not values:
        empty = tuple(over_no_rows(value, grouping.calls) for _, value in shown)
        empty = () if having else empty

    def order_key(item: exp.Expr) -> exp.Expr:
        known = ordered.get(id(item))
        return known if known is not None else grouping.above(grouping.resolve_having(item))

    return above.node, shown, order_key, empty


def _by_position(item: exp.Expr, shown: list[Shown]) -> exp.Expr:
    """`order by 2` is the second column of the select list."""
    key = item.this
    if isinstance(key, exp.Literal) and key.is_int and 1 <= int(key.name) <= len(shown):
        copy = item.copy()
        copy.set("this", bound(shown[int(key.name) - 1][1].copy()))
        return copy
    return item


def _filled(tree: exp.Expr, values: dict[str, exp.Expr]) -> exp.Expr:
    """The expression with the columns that stand for subqueries replaced by their values."""
    return substitute(
        tree, lambda c: exp.Paren(this=values[c.name].copy()) if c.name in values else None
    )


class Grouping:
    """Collects the keys and calls of one grouped SELECT, then makes its gamma node."""

    def __init__(
        self, host: Host, items: SelectList, subqueries: Subqueries, context: Context
    ) -> None:
        self._host, self._scope = host, host.scope
        self._items, self._subqueries, self._context = items, subqueries, context
        self._keys: list[tuple[str, exp.Expr]] = []
        self._sets: Sets | None = None
        self.calls: list[AggregateCall] = []

    @property
    def has_keys(self) -> bool:
        return bool(self._keys) or self._sets is not None

    def add_keys(self, group: exp.Group | None) -> None:
        """Keys by expression, position, alias (where no column has the name), ALL, or sets."""
        if group is None:
            return
        if group.args.get("all"):
            for visible, value in self._items.shown:
                if not has_aggregate(value, self._context.functions) and not is_stamped(value):
                    self._add_key(visible, value)
        sets = grouping_sets(group, lambda item: self._add_key(*self._key(item)))
        if sets is None:
            for item in group.expressions:
                self._add_key(*self._key(item))
        else:
            self._sets = Sets.of(sets, tuple(n for n, _ in self._keys), self._context.names)

    def _key(self, item: exp.Expr) -> tuple[str, exp.Expr]:
        item = item.unnest()
        if isinstance(item, exp.Literal) and item.is_int:
            position = int(item.name)
            if not 1 <= position <= len(self._items.shown):
                raise self._context.unsupported(f"GROUP BY {position}, which has no such column,")
            return self._items.shown[position - 1]
        item_at = lift_clocks(item, self._host, self._context)
        value = resolve(item_at, self._column_then_alias, self._context.functions)
        named = [visible for visible, shown in self._items.shown if shown == value]
        return (named[0] if named else item.alias_or_name or "key"), value

    def _column_then_alias(self, parts: tuple[str, ...]) -> exp.Expr | None:
        found = self._scope.find(parts)
        return found if found is not None else self._items.aliases.find(parts)

    def _add_key(self, visible: str, value: exp.Expr) -> int:
        """The number of a key; the same expression twice is one key."""
        value = self._below(value)
        if has_aggregate(value, self._context.functions):
            raise self._context.unsupported("an aggregate in GROUP BY")
        for number, (_, known) in enumerate(self._keys):
            if known == value:
                return number
        passed = isinstance(value, exp.Column) and value.name.lower() == visible.lower()
        name = value.name if passed else self._context.names.fresh(visible)
        self._keys.append((name, value))
        return len(self._keys) - 1

    def _below(self, value: exp.Expr) -> exp.Expr:
        """A key whose subqueries are joined below the groups, in the select list too."""
        names = [c.name for c in value.find_all(exp.Column) if c.name in self._items.above]
        found = {
            name: self.joined(self._items.above.pop(name), self._host)
            for name in dict.fromkeys(names)
        }
        if found:
            self._items.shown[:] = [(v, _filled(tree, found)) for v, tree in self._items.shown]
        return _filled(value, found)

    def tested_above(self, tree: exp.Expr) -> exp.Expr:
        """`sum(x) in (…)` with its left side over keys and calls."""
        copy = tree.copy()
        if is_subquery(copy) and isinstance(copy, exp.In | exp.Binary):
            copy.set("this", bound(self.above(self.resolve_having(copy.this))))
        return copy

    def joined(self, tree: exp.Expr, host: Host) -> exp.Expr:
        """The value of a subquery, or the time, from columns that are joined to the host for it."""
        if is_clock(tree, self._context.functions):
            return lift_clocks(tree, host, self._context)
        return self._subqueries.value(tree, host)

    def resolve_having(self, tree: exp.Expr) -> exp.Expr:
        """HAVING and ORDER BY see select aliases first; inside an aggregate, input columns."""
        shown = dict(reversed([(v.lower(), value) for v, value in self._items.shown]))
        inside = {
            id(c)
            for node in tree.walk()
            if isinstance(node, exp.Anonymous) and aggregate_of(node, self._context.functions)
            for c in node.find_all(exp.Column)
        }
        copy = exp.Paren(this=tree.copy())  # `having ok`: a column on its own has no parent
        columns = zip(tree.find_all(exp.Column), list(copy.find_all(exp.Column)), strict=True)
        for original, node in columns:
            if is_bound(node):
                continue
            value = shown.get(node.name.lower()) if len(node.parts) == 1 else None
            if value is not None and id(original) not in inside:
                node.replace(exp.Paren(this=bound(value.copy())))
                continue
            found = self._column_then_alias(tuple(p.name for p in node.parts))
            if found is not None:
                node.replace(bound(found.copy()))
        return resolve(copy, lambda parts: None, self._context.functions)

    def above(self, tree: exp.Expr) -> exp.Expr:
        """The expression over gamma's output: keys and calls replaced by their columns."""
        for name, value in self._keys:
            if tree == value:
                return column(self._sets.keys[name] if self._sets else name)
        inner = None if is_windowed(tree) else aggregate_of(tree, self._context.functions)
        if inner is not None:
            return column(self._call(tree, inner))
        if isinstance(tree, exp.Anonymous) and tree.name.lower() in GROUPING:
            return grouping_value(tree, [value for _, value in self._keys], self._sets)
        if isinstance(tree, exp.Column):
            if tree.name in self._items.above or tree.name == STAMP:
                return tree.copy()
            raise self._context.unsupported(f"column `{tree.name}`, not grouped,")
        copy = tree.copy()
        for key, child in list(copy.args.items()):
            if isinstance(child, exp.Expr):
                copy.set(key, self.above(child))
            elif isinstance(child, list):
                copy.set(key, [self.above(c) if isinstance(c, exp.Expr) else c for c in child])
        return copy

    def _call(self, tree: exp.Expr, inner: exp.Anonymous) -> str:
        for argument in inner.expressions:
            if has_aggregate(argument, self._context.functions):
                raise self._context.unsupported("an aggregate inside an aggregate")
        written = Scalar(tree.copy())
        for known in self.calls:
            if known.written == written:
                return known.name
        condition, plain = None, True
        node = tree
        while node is not inner:
            if isinstance(node, exp.Filter) and condition is None:
                condition = Scalar(node.expression.this.copy())
            else:
                plain = False
            node = node.this
        plain = plain and not any(
            isinstance(a, exp.Distinct | exp.IgnoreNulls | exp.RespectNulls | exp.Order)
            for a in inner.expressions
        )
        arguments = tuple(Scalar(a.copy()) for a in inner.expressions)
        name = self._context.names.fresh(function_name(inner))
        self.calls.append(
            AggregateCall(name, function_name(inner), arguments, condition, plain, written)
        )
        return name

    def aggregate(self) -> Node:
        """gamma over a projection that exposes every key as a column, or over every set of them."""
        calls = tuple(self.calls)
        if self._sets is not None:
            rows = expanded(self._host.node, [value for _, value in self._keys], self._sets)
            return Aggregate(rows, rows.names, calls)
        computed = [(n, v) for n, v in self._keys if v != column(n)]
        node = self._host.node
        if computed:
            passed = tuple(Item(c, ref(c)) for c in node.columns)
            node = Project(node, (*passed, *(Item(n, Scalar(v)) for n, v in computed)))
        return Aggregate(node, tuple(n for n, _ in self._keys), calls)

    def scope_above(self) -> Scope:
        """What a subquery above the groups can refer to: columns that are keys."""
        keys = self._sets.keys if self._sets else {name: name for name, _ in self._keys}
        named = {v.name: keys[n] for n, v in self._keys if isinstance(v, exp.Column)}
        return self._scope.renamed(named)
