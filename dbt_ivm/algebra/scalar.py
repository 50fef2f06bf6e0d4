"""Scalar expressions over the columns of a node, immutable from the outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp


def column(name: str, table: str | None = None) -> exp.Column:
    """A quoted column reference, `table`.`name`."""
    qualifier = exp.to_identifier(table, quoted=True) if table else None
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=qualifier)


def substitute(tree: exp.Expr, value: Callable[[exp.Column], exp.Expr | None]) -> exp.Expr:
    """A copy of the tree with columns replaced, where there is another value for them."""
    root = exp.Paren(this=tree.copy())  # a column on its own has no parent to be replaced in
    for node in list(root.find_all(exp.Column)):
        replacement = value(node)
        if replacement is not None:
            node.replace(replacement)
    result: exp.Expr = root.this
    return result


def call(function: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A function call by name; names are printed as given, so Spark decides what they mean."""
    return exp.Anonymous(this=function, expressions=list(arguments))


@dataclass(frozen=True, eq=False)
class Scalar:
    """An expression whose column references are unqualified names of the node it stands on."""

    _tree: exp.Expr

    @property
    def tree(self) -> exp.Expr:
        """A copy to build statements from; the original is never handed out."""
        return self._tree.copy()

    @cached_property
    def columns(self) -> frozenset[str]:
        return frozenset(c.name for c in self._tree.find_all(exp.Column))

    @cached_property
    def column(self) -> str | None:
        """The name of the column when the expression is nothing but a column."""
        return self._tree.name if isinstance(self._tree, exp.Column) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and self._tree == other._tree

    def __hash__(self) -> int:
        return hash(self._tree)

    def __repr__(self) -> str:
        return f"Scalar({self._tree.sql()})"


def ref(name: str) -> Scalar:
    """The scalar that is just a column."""
    return Scalar(column(name))
