"""The relational operators, and walks over trees of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dbt_ivm.algebra.base import Binary as Binary
from dbt_ivm.algebra.base import Field as Field
from dbt_ivm.algebra.base import Node as Node
from dbt_ivm.algebra.base import OneRow as OneRow
from dbt_ivm.algebra.base import Scan as Scan
from dbt_ivm.algebra.base import State as State
from dbt_ivm.algebra.base import TableName as TableName
from dbt_ivm.algebra.base import Unary as Unary
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.names import WEIGHT


@dataclass(frozen=True)
class Filter(Unary):
    """sigma: the rows for which the predicate is true."""

    predicate: Scalar

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (self.predicate,)


@dataclass(frozen=True)
class Item:
    """A named expression."""

    name: str
    value: Scalar


@dataclass(frozen=True)
class Project(Unary):
    """pi: expressions over each row; keeps duplicates."""

    items: tuple[Item, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.items)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return tuple(item.value for item in self.items)


@dataclass(frozen=True)
class Generate(Unary):
    """`lateral view [outer] f(…)`: each row beside every row the generator makes of it."""

    generator: Scalar
    outer: bool
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.input.columns, *self.names)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (self.generator,)


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate: function, arguments, modifiers, and the whole call as written."""

    name: str
    function: str
    arguments: tuple[Scalar, ...]
    condition: Scalar | None
    plain: bool
    """False when the call carries DISTINCT, WITHIN GROUP or IGNORE NULLS."""
    written: Scalar


@dataclass(frozen=True)
class Aggregate(Unary):
    """gamma: one row per key; without keys one row even of an empty input."""

    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.keys, *(c.name for c in self.calls))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return tuple(c.written for c in self.calls)

    def _check(self) -> None:
        super()._check()
        if not set(self.keys) <= set(self.input.columns):
            raise ValueError(f"unknown keys {self.keys}")


@dataclass(frozen=True)
class SortKey:
    """One `order by` item, as written apart from its column names."""

    value: Scalar


@dataclass(frozen=True)
class Sort(Unary):
    """`order by`, kept for what stands above it and for `limit`."""

    keys: tuple[SortKey, ...]

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return tuple(key.value for key in self.keys)


@dataclass(frozen=True)
class Limit(Unary):
    """`limit n offset m`."""

    limit: Scalar | None
    offset: Scalar | None


@dataclass(frozen=True)
class Net(Unary):
    """A delta with equal rows added up and those of weight 0 dropped."""

    def _check(self) -> None:
        if WEIGHT not in self.input.columns:
            raise ValueError("only a delta can be netted")


@dataclass(frozen=True)
class Distinct(Unary):
    """The distinct rows; used for touched keys."""


@dataclass(frozen=True)
class Named(Unary):
    """An intermediate result with a name, printed once and read by name."""

    name: str


@dataclass(frozen=True)
class Join(Binary):
    """Inner or cross join, any condition."""

    condition: Scalar | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.left.columns, *self.right.columns)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (self.condition,) if self.condition else ()


@dataclass(frozen=True)
class SemiJoin(Binary):
    """Rows of the left input whose key columns equal (`<=>`) those of some row on the right."""

    keys: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns


@dataclass(frozen=True)
class Lookup(Binary):
    """Each left row beside the right row of the same key (`<=>`), or beside NULLs."""

    keys: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.left.columns, *self.right.columns)


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


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """Rebuild the tree bottom up, passing every node through `change`."""
    inputs = tuple(transform(i, change) for i in node.inputs)
    return change(node if inputs == node.inputs else node.with_inputs(inputs))


def scans(node: Node) -> tuple[Scan, ...]:
    """All scans of a tree, left to right."""
    if isinstance(node, Scan):
        return (node,)
    return tuple(scan for i in node.inputs for scan in scans(i))


def is_comparable(type_: str) -> bool:
    """Whether Spark can compare and group by values of a type: maps and variants it cannot."""
    lowered = type_.lower()
    return "map<" not in lowered and "variant" not in lowered and lowered != "void"


def tables(node: Node) -> tuple[TableName, ...]:
    """The tables a tree reads, each once, in order of appearance."""
    return tuple(dict.fromkeys(scan.table for scan in scans(node)))
