"""Queries to algebra: WITH, SELECT, set operations, and what stands above them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import Filter, Item, Node, Project, Stamped
from dbt_ivm.algebra.predicates import flat_conjuncts
from dbt_ivm.algebra.scalar import Scalar, column
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.catalog import Catalog
from dbt_ivm.sql.clocks import is_stamped, lift_clocks
from dbt_ivm.sql.context import Context, Relation
from dbt_ivm.sql.dialect import parse_query
from dbt_ivm.sql.expressions import has_aggregate, has_subquery, resolve
from dbt_ivm.sql.functions import Functions
from dbt_ivm.sql.grouping import grouped
from dbt_ivm.sql.ordering import ordering
from dbt_ivm.sql.relations import resolve_from, values
from dbt_ivm.sql.scope import Aliases, Names, Output
from dbt_ivm.sql.select_list import SelectList, Shown, select_list
from dbt_ivm.sql.setops import distinct, set_operation
from dbt_ivm.sql.subqueries import Host, Subqueries
from dbt_ivm.sql.windows import Windows, with_named_windows

_REFUSED_CLAUSES = {
    "qualify": "QUALIFY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "sort": "SORT BY",
    "match": "MATCH_RECOGNIZE",
    "sample": "TABLESAMPLE",
}


def resolve_model(text: str, catalog: Catalog, functions: Functions) -> Relation:
    """The algebra of a model's SQL; `Unsupported` names the construct that has no rule."""
    return _placed(text, Context(catalog, functions, Names(), "the model"), top=True)


def resolve_query(query: exp.Query, context: Context) -> Relation:
    """A query somewhere below the top of a model."""
    return _placed(query, context, top=False)


def _placed(query: exp.Query | str, context: Context, top: bool) -> Relation:
    """Resolve a query; a refusal that does not say where it is gets its place here."""
    try:
        return _query(parse_query(query) if isinstance(query, str) else query, context, top)
    except Unsupported as refusal:
        raise refusal if refusal.where else context.unsupported(refusal.construct) from refusal


def _query(query: exp.Query, context: Context, top: bool) -> Relation:
    with_ = query.args.get("with_")
    if with_:
        if with_.args.get("recursive"):
            raise context.unsupported("a recursive CTE")
        for cte in with_.expressions:
            context = context.with_cte(cte)
    if isinstance(query, exp.Subquery):
        inner = query.this
        if isinstance(inner, exp.Values):
            return _ordered(query, values(inner, context), context, top)
        if not isinstance(inner, exp.Query):
            raise context.unsupported("a parenthesised table")
        bare = not any(query.args.get(clause) for clause in ("order", "limit", "offset"))
        return _ordered(query, _query(inner, context, top and bare), context, top)
    if isinstance(query, exp.SetOperation):
        return _ordered(query, set_operation(query, context, resolve_query), context, top)
    if isinstance(query, exp.Select):
        return _select(query, context, top)
    raise context.unsupported(query.key.upper())


@dataclass(frozen=True)
class Block:
    """A SELECT before its windows, order and projection: rows, shown values, order keys."""

    node: Node
    shown: list[Shown]
    order_key: Callable[[exp.Expr], exp.Expr]
    """An `order by` item over the columns of `node`."""
    empty: tuple[Scalar, ...] = ()


def _select(select: exp.Select, context: Context, top: bool) -> Relation:
    for clause, construct in _REFUSED_CLAUSES.items():
        if select.args.get(clause):
            raise context.unsupported(construct)
    select = with_named_windows(select)
    host = Host(*resolve_from(select, context, resolve_query))
    subqueries = Subqueries(context, resolve_query)
    _where(select, host, subqueries, context)
    items = select_list(select, host, subqueries, context, top)
    if items.is_grouped:
        node, shown, order_key, empty = grouped(select, items, host, subqueries, context)
        block = Block(node, shown, order_key, empty)
    else:
        block = Block(host.node, items.shown, _plain_order(items, host, context))
    return _finished(select, block, context, top)


def _where(select: exp.Select, host: Host, subqueries: Subqueries, context: Context) -> None:
    """Plain conjuncts first, then those with a subquery, each as a join of its own."""
    where = select.args.get("where")
    trees = flat_conjuncts(where.this) if where else []
    plain = [tree for tree in trees if not has_subquery(tree)]
    nested = [tree for tree in trees if has_subquery(tree)]
    for tree in ([exp.and_(*plain)] if plain else []) + nested:
        if subqueries.filter(tree, host):
            continue
        lifted = lift_clocks(subqueries.lift(tree, host), host, context)
        predicate = resolve(lifted, host.scope.find, context.functions)
        if has_aggregate(predicate, context.functions):
            raise context.unsupported("an aggregate in WHERE")
        host.node = Filter(host.node, Scalar(predicate))


def _plain_order(items: SelectList, host: Host, context: Context) -> Callable[..., exp.Expr]:
    """ORDER BY of a SELECT without groups: an alias of the select list first, then a column."""
    shown = Aliases()
    for visible, value in items.shown:
        shown.add(visible, value)

    def lookup(parts: tuple[str, ...]) -> exp.Expr | None:
        found = shown.find(parts) if len(parts) == 1 else None
        return found if found is not None else host.scope.find(parts)

    return lambda item: resolve(item, lookup, context.functions)


def _finished(select: exp.Select, block: Block, context: Context, top: bool) -> Relation:
    """Windows, DISTINCT, ORDER BY and LIMIT over a block, then its projection."""
    has_stamps = any(is_stamped(value) for _, value in block.shown)
    windows = Windows(block.node, context.names)
    shown = [(visible, windows.column_for(value)) for visible, value in block.shown]
    if select.args.get("distinct"):
        relation = distinct(_projected(windows.node(), shown, context))
        return _ordered(select, relation, context, top)
    order = ordering(
        select, block.shown, lambda item: windows.column_for(block.order_key(item)), top
    )
    rows = Stamped(windows.node()) if has_stamps else windows.node()
    relation = _projected(order.over(rows, context, top), shown, context)
    empty = () if order.is_bounded else block.empty
    return replace(relation, empty=empty, single=bool(block.empty) or order.is_one_row)


def _ordered(query: exp.Query, relation: Relation, context: Context, top: bool) -> Relation:
    """ORDER BY and LIMIT behind a set operation, a parenthesis or DISTINCT: over what is shown."""
    outputs: list[Shown] = [(o.visible, column(o.name)) for o in relation.outputs]
    shown = Aliases()
    for visible, value in outputs:
        shown.add(visible, value)

    def key(item: exp.Expr) -> exp.Expr:
        return resolve(item, lambda parts: shown.find(parts[-1:]), context.functions)

    order = ordering(query, outputs, key, top)
    node = order.over(relation.node, context, top)
    return replace(relation, node=node, single=relation.single or order.is_one_row)


def _projected(node: Node, shown: list[Shown], context: Context) -> Relation:
    items: list[Item] = []
    outputs: list[Output] = []
    taken: set[str] = set()
    for visible, value in shown:
        passed = isinstance(value, exp.Column) and value.name not in taken
        name = value.name if passed else context.names.fresh(visible)
        taken.add(name)
        items.append(Item(name, Scalar(value)))
        outputs.append(Output(visible, name))
    if tuple(item.name for item in items) == node.columns and all(
        item.value.column == item.name for item in items
    ):
        return Relation(node, tuple(outputs))
    return Relation(Project(node, tuple(items)), tuple(outputs))
