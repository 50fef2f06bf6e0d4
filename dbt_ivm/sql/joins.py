"""JOIN clauses to algebra: every kind, with ON, USING, NATURAL or nothing."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import Item, Join, Node, OuterJoin, Project, SemiJoin
from dbt_ivm.algebra.scalar import Scalar, call, column, ref
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.context import Context
from dbt_ivm.sql.scope import Output, Scope, Source

_KINDS = {
    "": "inner",
    "INNER": "inner",
    "CROSS": "inner",
    "LEFT": "left",
    "LEFT OUTER": "left",
    "RIGHT": "right",
    "RIGHT OUTER": "right",
    "FULL": "full",
    "FULL OUTER": "full",
    "SEMI": "semi",
    "LEFT SEMI": "semi",
    "ANTI": "anti",
    "LEFT ANTI": "anti",
}


def kind_of(join: exp.Join) -> str:
    """inner, left, right, full, semi or anti."""
    words = " ".join(filter(None, (join.side, join.kind))).upper()
    if words not in _KINDS:
        raise Unsupported(f"a {words} join")
    return _KINDS[words]


def joined(left: Node, right: Node, condition: exp.Expr | None, kind: str) -> Node:
    """The node of one join; a right outer join is a left one with its inputs exchanged."""
    on = Scalar(condition) if condition is not None else None
    if kind == "inner":
        return Join(left, right, on)
    if kind == "right":
        return OuterJoin(right, left, on)
    if kind in ("semi", "anti"):
        return SemiJoin(left, right, on, anti=kind == "anti")
    return OuterJoin(left, right, on, full=kind == "full")


def using_names(join: exp.Join, scope: Scope, source: Source) -> list[str]:
    """The shared columns of USING, or those that NATURAL finds on both sides."""
    if join.method.upper() != "NATURAL":
        return [identifier.name for identifier in join.args.get("using") or ()]
    mine = {o.visible.lower(): o.visible for o in scope.star()}
    theirs = {o.visible.lower() for o in source.outputs}
    return [visible for name, visible in mine.items() if name in theirs]


def join_using(
    left: Node,
    right: Node,
    scope: Scope,
    source: Source,
    names: list[str],
    kind: str,
    where: Context,
) -> tuple[Node, Scope]:
    """`l join r using (k)`: `*` shows k once and first; `l.k` and `r.k` can still be named.

    k is the left column, of a right join the right one, of a full join the one that is there.
    """
    pairs = [(name, _side(scope, name), _side(Scope((source,)), name)) for name in names]
    condition = exp.and_(*(exp.EQ(this=column(a), expression=column(b)) for _, a, b in pairs))
    node = joined(left, right, condition, kind)
    if kind in ("semi", "anti"):
        return node, scope
    shared = []
    for name, a, b in pairs:
        shown = b if kind == "right" else a
        if kind == "full":
            shown = where.names.fresh(name)
            passed = tuple(Item(c, ref(c)) for c in node.columns)
            either = Scalar(call("coalesce", column(a), column(b)))
            node = Project(node, (*passed, Item(shown, either)))
        shared.append(Output(name, shown))
    hidden = frozenset(name.lower() for name in names)
    sources = tuple(replace(s, hidden=s.hidden | hidden) for s in (*scope.sources, source))
    return node, replace(scope, sources=(Source((), tuple(shared)), *sources))


def _side(scope: Scope, name: str) -> str:
    found = Scope(scope.sources).find((name,))
    if not isinstance(found, exp.Column):
        raise Unsupported(f"USING (`{name}`), which one side does not have,")
    return found.name
