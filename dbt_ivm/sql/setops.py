"""UNION, INTERSECT and EXCEPT, as bag unions and counts per row.

    S union T          δ(S ∪all T)
    S intersect T      rows with l > 0 and r > 0           intersect all   least(l, r) copies
    S except T         rows with l > 0 and r = 0           except all      greatest(l − r, 0) copies

where l and r count a row's occurrences on either side: γ_{all; l, r}(S × {0} ∪all T × {1}).
"""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    Generate,
    Item,
    Node,
    Project,
    UnionAll,
)
from dbt_ivm.algebra.scalar import Scalar, call, column, ref
from dbt_ivm.sql.context import Context, Relation, ResolveQuery
from dbt_ivm.sql.dialect import literal, spark_type
from dbt_ivm.sql.scope import Output


def set_operation(query: exp.SetOperation, context: Context, resolve: ResolveQuery) -> Relation:
    """A set operation of two queries, or of all the sides of a chain of UNION ALL."""
    if isinstance(query, exp.Union):
        united = _union_all(_sides(query), bool(query.args.get("by_name")), context, resolve)
        return distinct(united) if query.args.get("distinct") else united
    if query.args.get("by_name"):
        raise context.unsupported(f"{query.key.upper()} BY NAME")
    return _counted(query, context, resolve)


def distinct(relation: Relation) -> Relation:
    """δ(S): groups of equal rows, nothing else."""
    names = tuple(dict.fromkeys(o.name for o in relation.outputs))
    return Relation(Aggregate(_picked(relation.node, names), names, ()), relation.outputs)


def _sides(query: exp.Union) -> list[exp.Query]:
    clauses = ("with_", "order", "limit", "offset")
    sides: list[exp.Query] = []
    for side in (query.left, query.right):
        alike = isinstance(side, exp.Union) and not any(side.args.get(c) for c in clauses)
        kind = ("distinct", "by_name")
        same = alike and all(bool(side.args.get(k)) == bool(query.args.get(k)) for k in kind)
        sides.extend(_sides(side) if isinstance(side, exp.Union) and same else [side])
    return sides


def _union_all(
    sides: list[exp.Query], by_name: bool, context: Context, resolve: ResolveQuery
) -> Relation:
    branches = [resolve(side, context) for side in sides]
    first = branches[0]
    if by_name:
        branches = [_in_order(branch, first, context) for branch in branches]
    if any(len(b.outputs) != len(first.outputs) for b in branches):
        raise context.unsupported("a UNION of different widths")
    nodes = tuple(_shown(b, context) for b in branches)
    names = tuple(context.names.fresh(o.visible) for o in first.outputs)
    outputs = tuple(Output(o.visible, n) for o, n in zip(first.outputs, names, strict=True))
    return Relation(UnionAll(nodes, names), outputs)


def _in_order(branch: Relation, first: Relation, context: Context) -> Relation:
    by_name = {o.visible.lower(): o for o in branch.outputs}
    wanted = [o.visible.lower() for o in first.outputs]
    if sorted(by_name) != sorted(wanted):
        raise context.unsupported("UNION BY NAME of different columns")
    return Relation(branch.node, tuple(by_name[name] for name in wanted))


def _shown(relation: Relation, context: Context) -> Node:
    """Exactly the shown columns; one shown twice gets a second name."""
    items: list[Item] = []
    taken: set[str] = set()
    for output in relation.outputs:
        name = context.names.fresh(output.visible) if output.name in taken else output.name
        taken.add(name)
        items.append(Item(name, ref(output.name)))
    names = tuple(item.name for item in items)
    return relation.node if relation.node.columns == names else Project(relation.node, tuple(items))


def _picked(node: Node, names: tuple[str, ...]) -> Node:
    if node.columns == names:
        return node
    return Project(node, tuple(Item(name, ref(name)) for name in names))


def _counted(query: exp.SetOperation, context: Context, resolve: ResolveQuery) -> Relation:
    """INTERSECT and EXCEPT by how often a row stands on either side."""
    sides = [resolve(side, context) for side in (query.left, query.right)]
    first = sides[0]
    if len(sides[1].outputs) != len(first.outputs):
        raise context.unsupported(f"{query.key.upper()} of different widths")
    tag = context.names.fresh("side")
    names = tuple(context.names.fresh(o.visible) for o in first.outputs)
    tagged = []
    for number, side in enumerate(sides):
        shown = _shown(side, context)
        items = tuple(Item(c, ref(c)) for c in shown.columns)
        mark = Item(context.names.fresh("side"), Scalar(literal(number)))
        tagged.append(Project(shown, (*items, mark)))
    rows = UnionAll(tuple(tagged), (*names, tag))
    calls = tuple(_occurrences(side, tag, context) for side in (0, 1))
    groups = Aggregate(rows, names, calls)
    left, right = (column(c.name) for c in calls)
    outputs = tuple(Output(o.visible, n) for o, n in zip(first.outputs, names, strict=True))
    return Relation(_kept(query, groups, left, right, context), outputs)


def _occurrences(side: int, tag: str, context: Context) -> AggregateCall:
    here = exp.EQ(this=column(tag), expression=literal(side))
    written = Scalar(call("count_if", here))
    name = context.names.fresh("lefts" if side == 0 else "rights")
    return AggregateCall(name, "count_if", (Scalar(here.copy()),), None, True, written)


def _kept(
    query: exp.SetOperation, groups: Node, left: exp.Expr, right: exp.Expr, context: Context
) -> Node:
    intersect = isinstance(query, exp.Intersect)
    if query.args.get("distinct"):
        some = exp.GT(this=left, expression=literal(0))
        other = (exp.GT if intersect else exp.EQ)(this=right, expression=literal(0))
        return Filter(groups, Scalar(exp.and_(some, other)))
    if intersect:
        times: exp.Expr = call("least", left, right)
    else:
        rest = exp.Sub(this=left, expression=right)
        times = call("greatest", rest, exp.Cast(this=literal(0), to=spark_type("bigint")))
    count = exp.Cast(this=times, to=spark_type("int"))
    copies = call("explode", call("array_repeat", literal(0), count))
    return Generate(groups, Scalar(copies), False, (context.names.fresh("copy"),))
