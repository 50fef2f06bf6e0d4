"""Conditions taken apart: conjuncts, and the columns that a join makes equal."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.joins import Conditional
from dbt_ivm.algebra.scalar import Scalar, column


def conjuncts(condition: Scalar | None) -> list[exp.Expr]:
    """`a and (b and c)` as [a, b, c]."""
    return flat_conjuncts(condition.tree) if condition is not None else []


def flat_conjuncts(tree: exp.Expr) -> list[exp.Expr]:
    """The same for a bare tree."""
    tree = tree.unnest()
    if isinstance(tree, exp.And):
        return [*flat_conjuncts(tree.left), *flat_conjuncts(tree.right)]
    return [tree]


def all_of(trees: list[exp.Expr]) -> Scalar | None:
    """The conjunction, or None for no condition at all."""
    return Scalar(exp.and_(*trees)) if trees else None


def same_columns(pairs: tuple[tuple[str, str], ...]) -> Scalar | None:
    """`a <=> x and b <=> y`: keys that group together, NULLs included."""
    return all_of([exp.NullSafeEQ(this=column(a), expression=column(b)) for a, b in pairs])


def equal_columns(join: Conditional) -> list[tuple[str, str]]:
    """Pairs (left column, right column) that every matching pair of rows has equal."""
    pairs = []
    for tree in conjuncts(join.condition):
        if not isinstance(tree, exp.EQ | exp.NullSafeEQ):
            continue
        a, b = tree.left.unnest(), tree.right.unnest()
        if isinstance(a, exp.Column) and isinstance(b, exp.Column):
            for one, two in ((a.name, b.name), (b.name, a.name)):
                if one in join.left.columns and two in join.right.columns:
                    pairs.append((one, two))
    return pairs
