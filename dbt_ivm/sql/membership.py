"""Tests of membership in a subquery, read from their syntax: EXISTS, IN, `= ANY`, `<> ALL`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.errors import Unsupported


@dataclass(frozen=True)
class Membership:
    """`left in (query)`; EXISTS has no left side."""

    left: tuple[exp.Expr, ...]
    query: exp.Query
    negated: bool = False
    """`<> all` says that no row is equal."""

    def equals(self, left: list[exp.Expr], right: list[exp.Expr]) -> exp.Expr:
        """The comparison of the resolved left side with the columns of a row."""
        if len(left) != len(right):
            raise Unsupported("IN with a subquery of another width")
        pairs = zip(left, right, strict=True)
        return exp.and_(*(exp.EQ(this=_atom(a), expression=_atom(b)) for a, b in pairs))


def membership(tree: exp.Expr) -> Membership | None:
    """What a test asks of a subquery; None for anything else."""
    if isinstance(tree, exp.Exists) and isinstance(tree.this, exp.Query):
        return Membership((), tree.this)
    if isinstance(tree, exp.In) and tree.args.get("query"):
        query = tree.args["query"]
        inner = query.this if isinstance(query, exp.Subquery) else query
        return Membership(_tuple(tree.this), inner)
    for kind, quantifier, none in ((exp.EQ, exp.Any, False), (exp.NEQ, exp.All, True)):
        if isinstance(tree, kind) and isinstance(tree.expression, quantifier):
            inner = tree.expression.this.unnest()
            if isinstance(inner, exp.Query):
                return Membership(_tuple(tree.this), inner, none)
    return None


def _tuple(tree: exp.Expr) -> tuple[exp.Expr, ...]:
    tree = tree.unnest()
    return tuple(tree.expressions) if isinstance(tree, exp.Tuple) else (tree,)


def _atom(tree: exp.Expr) -> exp.Expr:
    return tree if isinstance(tree, exp.Column) else exp.Paren(this=tree)
