"""Operators of several inputs: joins of every kind, and the bag union."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt_ivm.algebra.base import Binary, Node
from dbt_ivm.algebra.scalar import Scalar


@dataclass(frozen=True)
class Conditional(Binary):
    """Two inputs and a condition over the columns of both; none means that all rows match."""

    condition: Scalar | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.left.columns, *self.right.columns)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (self.condition,) if self.condition else ()


@dataclass(frozen=True)
class Join(Conditional):
    """Inner or cross join, any condition."""


@dataclass(frozen=True)
class OuterJoin(Conditional):
    """`left [full] outer join`: a row without a match stands beside NULLs.

    A right outer join is a left one with its inputs exchanged.
    """

    full: bool = False


@dataclass(frozen=True)
class SemiJoin(Conditional):
    """Rows of the left input that match some row of the right one; `anti`: that match none."""

    anti: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns


@dataclass(frozen=True)
class UnionAll(Node):
    """Bag union by position, under names of its own."""

    branches: tuple[Node, ...]
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, branches=inputs)

    def _check(self) -> None:
        if any(len(branch.columns) != len(self.names) for branch in self.branches):
            raise ValueError("branches of a union differ in width")
