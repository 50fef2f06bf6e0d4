"""FROM clauses to algebra: tables, inlined views, CTEs, derived tables, joins, lateral views."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Field,
    Join,
    Node,
    OneRow,
    Scan,
    Values,
)
from dbt_ivm.algebra.predicates import flat_conjuncts
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.sql.catalog import RelationFact, ViewFact
from dbt_ivm.sql.context import Context, Relation, ResolveQuery
from dbt_ivm.sql.dialect import parse_query
from dbt_ivm.sql.expressions import function_name, has_subquery, resolve
from dbt_ivm.sql.generators import generated, generator_call
from dbt_ivm.sql.joins import join_using, joined, kind_of, using_names
from dbt_ivm.sql.pivot import pivoted
from dbt_ivm.sql.scope import Output, Scope, Source
from dbt_ivm.sql.subqueries import Host, Subqueries, lateral_join


def resolve_from(select: exp.Select, context: Context, query: ResolveQuery) -> tuple[Node, Scope]:
    """The node of a FROM clause with its joins and lateral views, and the names it offers."""
    clause = select.args.get("from_")
    node: Node = OneRow()
    scope = Scope()
    if clause is not None:
        node, scope = _item(clause.this, context.alone(), query)
    for join in select.args.get("joins") or ():
        node, scope = _join(node, scope, join, context.alone(), query)
    for lateral in select.args.get("laterals") or ():
        node, scope = _lateral_view(node, scope, lateral, context)
    if context.outer:
        node = Join(node, context.outer.row)
        scope = replace(scope, outer=context.outer.scope)
    return node, scope


def _item(item: exp.Expr, context: Context, query: ResolveQuery) -> tuple[Node, Scope]:
    """A table, view, CTE, derived table, constant table or parenthesised join."""
    for clause, construct in (
        ("sample", "TABLESAMPLE"),
        ("version", "a table read at a fixed version"),
        ("when", "a table read at a fixed version"),
        ("laterals", "a lateral view inside a join"),
    ):
        if item.args.get(clause):
            raise context.unsupported(construct)
    if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table):
        return _parenthesised(item, context, query)
    if isinstance(item, exp.Table):
        relation, qualifier = _table(item, context, query)
    elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
        relation, qualifier = query(item.this, context), ()
    elif isinstance(item, exp.Values):
        relation, qualifier = values(item, context), ()
    else:
        raise context.unsupported(f"{item.key.upper()} in FROM")
    if item.args.get("joins"):
        raise context.unsupported("a parenthesised join")
    for pivot in item.args.get("pivots") or ():
        relation = pivoted(relation, pivot, context)
    alias = item.args.get("alias")
    outputs = _renamed(relation.outputs, alias, context)
    named = (alias.name,) if alias and alias.this else qualifier
    return relation.node, Scope((Source(named, outputs),))


def _parenthesised(item: exp.Subquery, context: Context, query: ResolveQuery) -> tuple[Node, Scope]:
    """`(a join b on …)`: the tables inside keep their names outside."""
    inner = item.this.copy()
    joins = inner.args.get("joins") or ()
    inner.set("joins", None)
    node, scope = _item(inner, context, query)
    for join in joins:
        node, scope = _join(node, scope, join, context, query)
    if item.args.get("alias"):
        raise context.unsupported("an alias for a parenthesised join")
    return node, scope


def values(item: exp.Values, context: Context) -> Relation:
    """`values (1, 'a'), (2, 'b')`: columns are called col1, col2, … unless an alias names them."""
    rows = tuple(
        tuple(
            Scalar(resolve(value, lambda parts: None, context.functions))
            for value in (row.expressions if isinstance(row, exp.Tuple) else [row])
        )
        for row in item.expressions
    )
    visible = [f"col{i + 1}" for i in range(len(rows[0]))]
    names = tuple(context.names.fresh(name) for name in visible)
    outputs = tuple(Output(v, n) for v, n in zip(visible, names, strict=True))
    return Relation(Values(rows, names), outputs)


def _renamed(
    outputs: tuple[Output, ...], alias: exp.TableAlias | None, context: Context
) -> tuple[Output, ...]:
    names = [c.name for c in alias.columns] if alias else []
    if not names:
        return outputs
    if len(names) != len(outputs):
        raise context.unsupported(f"the column list of `{alias.name if alias else ''}`")
    return tuple(Output(name, o.name) for name, o in zip(names, outputs, strict=True))


def _table(
    item: exp.Table, context: Context, query: ResolveQuery
) -> tuple[Relation, tuple[str, ...]]:
    if not all(isinstance(part, exp.Identifier) for part in item.parts):
        raise context.unsupported(f"the table function `{function_name(item.this)}`")
    name = tuple(part.name for part in item.parts)
    found = context.cte(name[0]) if len(name) == 1 else None
    if found:
        cte, outside = found
        inside = outside.inside(f"the CTE `{cte.alias}`")
        relation = context.once(("cte", id(cte)), lambda: query(cte.this, inside))
        outputs = _renamed(relation.outputs, cte.args.get("alias"), context)
        return Relation(relation.node, outputs), name
    if len(name) == 1:
        name = (*context.namespace, *name)
    fact = context.catalog.relation(name)
    if fact.view is not None:
        view = fact.view
        return context.once(fact.name, lambda: _inlined(fact, view, context, query)), name
    return _scan(fact, context), name


def _scan(fact: RelationFact, context: Context) -> Relation:
    fields = tuple(Field(context.names.fresh(c.name), c.name, c.type) for c in fact.columns)
    outputs = tuple(Output(field.source, field.name) for field in fields)
    return Relation(Scan(fact.name, fields), outputs)


def _inlined(fact: RelationFact, view: ViewFact, context: Context, query: ResolveQuery) -> Relation:
    """The query of a view, its columns picked by name as Spark does when it reads the view."""
    inner = Context(
        context.catalog,
        context.functions,
        context.names,
        f"the view `{'.'.join(fact.name)}`",
        view.namespace,
        resolved=context.resolved,
    )
    relation = query(parse_query(view.text), inner)
    by_name = {output.visible.lower(): output for output in relation.outputs}
    picked = [by_name.get(name.lower()) for name in view.query_columns]
    if (not picked or None in picked) and len(relation.outputs) == len(fact.columns):
        picked = list(relation.outputs)
    outputs = tuple(
        Output(c.name, output.name)
        for c, output in zip(fact.columns, picked, strict=False)
        if output is not None
    )
    if len(outputs) != len(fact.columns):
        raise context.unsupported(f"the view `{'.'.join(fact.name)}`, whose columns have changed,")
    return Relation(relation.node, outputs)


def _join(
    node: Node, scope: Scope, join: exp.Join, context: Context, query: ResolveQuery
) -> tuple[Node, Scope]:
    if isinstance(join.this, exp.Lateral):
        if isinstance(join.this.this, exp.Subquery):
            return lateral_join(node, scope, join, context, query)
        outer = (join.side or "").upper() == "LEFT"
        return _generated(node, scope, join.this, outer, context)
    kind = kind_of(join)
    right, right_scope = _item(join.this, context, query)
    if join.args.get("using") or join.method.upper() == "NATURAL":
        if len(right_scope.sources) != 1:
            raise context.unsupported("USING or NATURAL with a parenthesised join")
        source = right_scope.sources[0]
        names = using_names(join, scope, source)
        if names:
            return join_using(node, right, scope, source, names, kind, context)
    both = replace(scope, sources=(*scope.sources, *right_scope.sources))
    on = join.args.get("on")
    trees = flat_conjuncts(on) if on is not None else []
    plain = [tree for tree in trees if not has_subquery(tree)]
    nested = [tree for tree in trees if has_subquery(tree)]
    if nested and kind != "inner":
        raise context.unsupported(f"a subquery in the condition of a {kind} join")
    condition = resolve(exp.and_(*plain), both.find, context.functions) if plain else None
    host = Host(joined(node, right, condition, kind), both)
    for tree in nested:
        Subqueries(context, query).keep_where(tree, host)
    return host.node, scope if kind in ("semi", "anti") else both


def _lateral_view(
    node: Node, scope: Scope, lateral: exp.Lateral, context: Context
) -> tuple[Node, Scope]:
    return _generated(node, scope, lateral, bool(lateral.args.get("outer")), context)


def _generated(
    node: Node, scope: Scope, lateral: exp.Lateral, outer: bool, context: Context
) -> tuple[Node, Scope]:
    """`lateral view f(…) t as x` and `, lateral f(…) as t(x)`."""
    alias = lateral.args.get("alias")
    visible = [c.name for c in alias.columns] if alias else []
    call = generator_call(lateral.this, scope, context)
    made, outputs = generated(node, call, outer, visible, context)
    return made, scope.add(Source((alias.name,) if alias and alias.name else (), outputs))
