"""FROM clauses to algebra: tables, inlined views, CTEs, derived tables, joins, lateral views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Field,
    Generate,
    Join,
    Node,
    OneRow,
    Scan,
    TableName,
)
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.catalog import Catalog, RelationFact, ViewFact
from dbt_ivm.sql.dialect import parse_query
from dbt_ivm.sql.expressions import function_name, resolve
from dbt_ivm.sql.functions import Functions, Kind
from dbt_ivm.sql.scope import Names, Output, Scope, Source


@dataclass(frozen=True)
class Relation:
    """A resolved query: its algebra and the columns it shows."""

    node: Node
    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class Context:
    """Everything resolution needs beside the tree: catalog, functions, names, CTEs, the place."""

    catalog: Catalog
    functions: Functions
    names: Names
    place: str
    namespace: TableName = ()
    ctes: tuple[tuple[str, exp.CTE, Context], ...] = ()

    def inside(self, place: str) -> Context:
        return replace(self, place=place)

    def with_cte(self, cte: exp.CTE) -> Context:
        return replace(self, ctes=(*self.ctes, (cte.alias.lower(), cte, self)))

    def cte(self, name: str) -> tuple[exp.CTE, Context] | None:
        for known, cte, context in reversed(self.ctes):
            if known == name.lower():
                return cte, context
        return None

    def unsupported(self, construct: str) -> Unsupported:
        return Unsupported(construct, self.place)


ResolveQuery = Callable[[exp.Query, Context], Relation]


def resolve_from(select: exp.Select, context: Context, query: ResolveQuery) -> tuple[Node, Scope]:
    """The node of a FROM clause with its joins and lateral views, and the names it offers."""
    clause = select.args.get("from_")
    if clause is None:
        return OneRow(), Scope()
    node, source = _item(clause.this, context, query)
    scope = Scope((source,))
    for join in select.args.get("joins") or ():
        node, scope = _join(node, scope, join, context, query)
    for lateral in select.args.get("laterals") or ():
        node, scope = _lateral_view(node, scope, lateral, context)
    return node, scope


def _item(item: exp.Expr, context: Context, query: ResolveQuery) -> tuple[Node, Source]:
    for clause, construct in (
        ("pivots", "PIVOT or UNPIVOT"),
        ("sample", "TABLESAMPLE"),
        ("version", "a table read at a fixed version"),
        ("when", "a table read at a fixed version"),
        ("laterals", "a lateral view inside a join"),
    ):
        if item.args.get(clause):
            raise context.unsupported(construct)
    if isinstance(item, exp.Table):
        relation, qualifier = _table(item, context, query)
    elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
        relation, qualifier = query(item.this, context), ()
    else:
        raise context.unsupported(f"{item.key.upper()} in FROM")
    node, joins = relation.node, item.args.get("joins")
    if joins:
        raise context.unsupported("a parenthesised join")
    alias = item.args.get("alias")
    outputs = _renamed(relation.outputs, alias, context)
    return node, Source((alias.name,) if alias and alias.this else qualifier, outputs)


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
        cte, outer = found
        relation = query(cte.this, outer.inside(f"the CTE `{cte.alias}`"))
        outputs = _renamed(relation.outputs, cte.args.get("alias"), context)
        return Relation(relation.node, outputs), name
    if len(name) == 1:
        name = (*context.namespace, *name)
    fact = context.catalog.relation(name)
    if fact.view is not None:
        return _inlined(fact, fact.view, context, query), name
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
    words = " ".join(filter(None, (join.method, join.side, join.kind))).upper()
    if words not in ("", "INNER", "CROSS"):
        raise context.unsupported(f"a {words} join")
    right, source = _item(join.this, context, query)
    columns = [identifier.name for identifier in join.args.get("using") or ()]
    if columns:
        source = replace(source, merged=frozenset(name.lower() for name in columns))
        condition = _using(columns, scope, source)
        # Spark shows the shared columns of USING first; `*` would need to reorder them.
        return Join(node, right, Scalar(condition)), _using_first(scope.add(source), columns)
    scope = scope.add(source)
    on = join.args.get("on")
    if on is None:
        return Join(node, right), scope
    return Join(node, right, Scalar(resolve(on, scope.find, context.functions))), scope


def _using(columns: list[str], scope: Scope, source: Source) -> exp.Expr:
    pairs = []
    right = Scope((replace(source, merged=frozenset()),))
    for name in columns:
        a, b = scope.find((name,)), right.find((name,))
        if a is None or b is None:
            raise Unsupported(f"USING (`{name}`), which one side does not have,")
        pairs.append(exp.EQ(this=a, expression=b))
    return exp.and_(*pairs)


def _using_first(scope: Scope, columns: list[str]) -> Scope:
    wanted = [name.lower() for name in columns]
    first, *rest = scope.sources
    shared = [o for name in wanted for o in first.outputs if o.visible.lower() == name]
    others = [o for o in first.outputs if o.visible.lower() not in wanted]
    if len(shared) != len(wanted):
        raise Unsupported("USING over a column of a later table")
    return Scope((replace(first, outputs=(*shared, *others)), *rest))


def _lateral_view(
    node: Node, scope: Scope, lateral: exp.Lateral, context: Context
) -> tuple[Node, Scope]:
    alias = lateral.args.get("alias")
    visible = [c.name for c in alias.columns] if alias else []
    if not lateral.args.get("view") or not visible:
        raise context.unsupported("a lateral view without column names")
    generator = generator_call(lateral.this, scope, context)
    names = tuple(context.names.fresh(name) for name in visible)
    outputs = tuple(Output(v, n) for v, n in zip(visible, names, strict=True))
    made = Generate(node, generator, bool(lateral.args.get("outer")), names)
    return made, scope.add(Source((alias.name,) if alias and alias.name else (), outputs))


def generator_call(tree: exp.Expr, scope: Scope, context: Context) -> Scalar:
    """A generator applied to resolved arguments."""
    name = function_name(tree)
    if not isinstance(tree, exp.Anonymous) or context.functions.kind(name) is not Kind.GENERATOR:
        raise context.unsupported(f"the generator `{name or tree.key}`")
    arguments = [resolve(a, scope.find, context.functions) for a in tree.expressions]
    return Scalar(exp.Anonymous(this=name, expressions=arguments))
