"""Queries to algebra: SELECT, UNION ALL, CTEs, and what stands above them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Filter,
    Generate,
    Item,
    Limit,
    Node,
    Project,
    Sort,
    SortKey,
    UnionAll,
)
from dbt_ivm.algebra.scalar import Scalar, column, ref
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.catalog import Catalog
from dbt_ivm.sql.dialect import parse_query
from dbt_ivm.sql.expressions import has_aggregate, resolve
from dbt_ivm.sql.functions import Functions, Kind
from dbt_ivm.sql.grouping import Grouping
from dbt_ivm.sql.relations import Context, Relation, generator_call, resolve_from
from dbt_ivm.sql.scope import Aliases, Names, Output, Scope

_REFUSED_CLAUSES = {
    "distinct": "DISTINCT",
    "qualify": "QUALIFY",
    "windows": "a WINDOW clause",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "sort": "SORT BY",
    "match": "MATCH_RECOGNIZE",
    "pivots": "PIVOT or UNPIVOT",
    "sample": "TABLESAMPLE",
}


def resolve_model(text: str, catalog: Catalog, functions: Functions) -> Relation:
    """The algebra of a model's SQL; `Unsupported` names the construct that has no rule."""
    context = Context(catalog, functions, Names(), "the model")
    try:
        return _query(parse_query(text), context, top=True)
    except Unsupported as refusal:
        raise refusal if refusal.where else context.unsupported(refusal.construct) from refusal


def resolve_query(query: exp.Query, context: Context) -> Relation:
    """A query somewhere below the top of a model."""
    try:
        return _query(query, context, top=False)
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
        return _parenthesised(query, context, top)
    if isinstance(query, exp.Union):
        return _ordered(query, _union(query, context), context, top)
    if isinstance(query, exp.Select):
        return _select(query, context, top)
    raise context.unsupported(query.key.upper())


def _parenthesised(query: exp.Subquery, context: Context, top: bool) -> Relation:
    if not isinstance(query.this, exp.Query):
        raise context.unsupported("a parenthesised table")
    relation = _query(query.this, context, top and not query.args.get("limit"))
    return _ordered(query, relation, context, top)


def _union(query: exp.Union, context: Context) -> Relation:
    if query.args.get("distinct") or query.args.get("by_name"):
        raise context.unsupported("UNION (only UNION ALL is maintained)")
    branches = [resolve_query(side, context) for side in _union_sides(query)]
    first = branches[0]
    if any(len(b.outputs) != len(first.outputs) for b in branches):
        raise context.unsupported("a UNION of different widths")
    nodes = tuple(_picked(b.node, b.outputs) for b in branches)
    names = tuple(context.names.fresh(o.visible) for o in first.outputs)
    outputs = tuple(Output(o.visible, n) for o, n in zip(first.outputs, names, strict=True))
    return Relation(UnionAll(nodes, names), outputs)


def _union_sides(query: exp.Union) -> list[exp.Query]:
    sides: list[exp.Query] = []
    for side in (query.left, query.right):
        clauses = ("with_", "order", "limit", "offset", "distinct", "by_name")
        nested = not any(side.args.get(clause) for clause in clauses)
        sides.extend(_union_sides(side) if isinstance(side, exp.Union) and nested else [side])
    return sides


def _picked(node: Node, outputs: tuple[Output, ...]) -> Node:
    """Exactly the shown columns; one shown twice gets a second name."""
    names = tuple(o.name for o in outputs)
    if node.columns == names:
        return node
    if len(set(names)) == len(names):
        return Project(node, tuple(Item(n, ref(n)) for n in names))
    raise Unsupported("a column selected twice below a UNION")


@dataclass
class _Items:
    """The select list, resolved: what each item is called and what it computes."""

    node: Node
    outputs: list[tuple[str, exp.Expr]]
    aliases: Aliases


def _select(select: exp.Select, context: Context, top: bool) -> Relation:
    for clause, construct in _REFUSED_CLAUSES.items():
        if select.args.get(clause):
            raise context.unsupported(construct)
    node, scope = resolve_from(select, context, resolve_query)
    where = select.args.get("where")
    if where:
        predicate = resolve(where.this, scope.find, context.functions)
        if has_aggregate(predicate, context.functions):
            raise context.unsupported("an aggregate in WHERE")
        node = Filter(node, Scalar(predicate))
    items = _select_list(select, node, scope, context)
    grouped = select.args.get("group") or select.args.get("having")
    if grouped or any(has_aggregate(value, context.functions) for _, value in items.outputs):
        return _grouped(select, items, scope, context, top)
    relation = _projected(items.node, items.outputs, context)
    return _ordered(select, relation, context, top)


def _select_list(select: exp.Select, node: Node, scope: Scope, context: Context) -> _Items:
    found = _Items(node, [], Aliases())

    def lookup(parts: tuple[str, ...]) -> exp.Expr | None:
        bound = scope.find(parts)
        return bound if bound is not None else found.aliases.find(parts)

    for item in select.expressions:
        star = _expanded(item, scope, context)
        if star is not None:
            found.outputs.extend((o.visible, column(o.name)) for o in star)
        elif _is_generator(item, context.functions):
            _generate(item, found, scope, context)
        else:
            value = resolve(item.unalias(), lookup, context.functions)
            name = item.alias_or_name or f"col{len(found.outputs) + 1}"
            found.outputs.append((name, value))
            if isinstance(item, exp.Alias):
                found.aliases.add(name, value)
    return found


def _expanded(item: exp.Expr, scope: Scope, context: Context) -> list[Output] | None:
    star = item.this if isinstance(item, exp.Column) else item
    if not isinstance(star, exp.Star):
        return None
    if any(star.args.get(k) for k in ("replace", "rename", "replace_", "rename_")):
        raise context.unsupported("`*` with REPLACE or RENAME")
    qualifier = tuple(p.name for p in item.parts[:-1]) if isinstance(item, exp.Column) else ()
    excluded = star.args.get("except_") or star.args.get("except") or ()
    dropped = {e.name.lower() for e in excluded}
    return [o for o in scope.star(qualifier) if o.visible.lower() not in dropped]


def _is_generator(item: exp.Expr, functions: Functions) -> bool:
    call = item.unalias() if isinstance(item, exp.Alias) else item
    call = call.this if isinstance(call, exp.Aliases) else call
    return isinstance(call, exp.Anonymous) and functions.kind(call.name) is Kind.GENERATOR


def _generate(item: exp.Expr, found: _Items, scope: Scope, context: Context) -> None:
    """`select explode(xs) as x from t` is `lateral view explode(xs) as x`."""
    if isinstance(item, exp.Aliases):
        call, visible = item.this, [name.name for name in item.expressions]
    elif isinstance(item, exp.Alias):
        call, visible = item.this, [item.alias]
    else:
        raise context.unsupported("a generator without a column name")
    names = tuple(context.names.fresh(name) for name in visible)
    generator = generator_call(call, scope, context)
    found.node = Generate(found.node, generator, outer=False, names=names)
    found.outputs.extend((v, column(n)) for v, n in zip(visible, names, strict=True))


def _projected(node: Node, outputs: list[tuple[str, exp.Expr]], context: Context) -> Relation:
    items: list[Item] = []
    shown: list[Output] = []
    taken: set[str] = set()
    for visible, value in outputs:
        passed = isinstance(value, exp.Column) and value.name not in taken
        name = value.name if passed else context.names.fresh(visible)
        taken.add(name)
        items.append(Item(name, Scalar(value)))
        shown.append(Output(visible, name))
    if tuple(item.name for item in items) == node.columns and all(
        item.value.column == item.name for item in items
    ):
        return Relation(node, tuple(shown))
    return Relation(Project(node, tuple(items)), tuple(shown))


def _grouped(
    select: exp.Select, items: _Items, scope: Scope, context: Context, top: bool
) -> Relation:
    """SELECT … GROUP BY … HAVING … ORDER BY … LIMIT: projection over what stands above gamma."""
    grouping = Grouping(items.node, scope, items.aliases, items.outputs, context)
    grouping.add_keys(select.args.get("group"))
    outputs = [(visible, grouping.above(value)) for visible, value in items.outputs]
    having, limit = select.args.get("having"), _bounds(select)
    predicate = grouping.above(grouping.resolve_having(having.this)) if having else None
    # Without LIMIT an order below the top of the model means nothing.
    order = _order_items(select.args.get("order"), outputs) if top or any(limit) else []
    sort_keys = tuple(
        SortKey(Scalar(grouping.above(grouping.resolve_having(item)))) for item in order
    )
    node: Node = grouping.aggregate()
    if predicate is not None:
        node = Filter(node, Scalar(predicate))
    if sort_keys:
        node = Sort(node, sort_keys)
    if any(limit):
        node = Limit(node, *limit)
    return _projected(node, outputs, context)


def _order_items(order: exp.Order | None, outputs: list[tuple[str, exp.Expr]]) -> list[exp.Expr]:
    items = [] if order is None else [item.copy() for item in order.expressions]
    for item in items:
        if isinstance(item.this, exp.Literal) and item.this.is_int:
            visible = outputs[int(item.this.name) - 1][0]
            item.set("this", column(visible))
    return items


def _ordered(query: exp.Query, relation: Relation, context: Context, top: bool) -> Relation:
    """ORDER BY and LIMIT of a query that is not grouped; without LIMIT an order means nothing."""
    limit, offset = _bounds(query)
    order = query.args.get("order")
    if not (limit or offset):
        if order is None or not top:
            return relation
        try:
            return Relation(_sorted(order, relation, context), relation.outputs)
        except Unsupported:
            return relation
    node = _sorted(order, relation, context) if order else relation.node
    return Relation(Limit(node, limit, offset), relation.outputs)


def _sorted(order: exp.Order, relation: Relation, context: Context) -> Node:
    outputs: list[tuple[str, exp.Expr]] = [(o.visible, column(o.name)) for o in relation.outputs]
    shown = Aliases()
    for visible, value in outputs:
        shown.add(visible, value)
    items = _order_items(order, outputs)
    for item in items:
        for name in item.find_all(exp.Column):
            if shown.find((name.name,)) is None:
                raise context.unsupported(f"ORDER BY `{name.name}`, which is not selected,")
    keys = (
        resolve(item, lambda parts: shown.find(parts[-1:]), context.functions) for item in items
    )
    return Sort(relation.node, tuple(SortKey(Scalar(key)) for key in keys))


def _bounds(query: exp.Query) -> tuple[Scalar | None, Scalar | None]:
    limit, offset = query.args.get("limit"), query.args.get("offset")
    value = limit.expression if limit else None
    if isinstance(value, exp.Var):  # LIMIT ALL
        value = None
    return (
        Scalar(value.copy()) if value is not None else None,
        Scalar(offset.expression.copy()) if offset else None,
    )
