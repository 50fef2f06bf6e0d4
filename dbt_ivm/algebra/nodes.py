"""The relational operators of one input, and those of several under the same roof."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_ivm.algebra.base import Field as Field
from dbt_ivm.algebra.base import Node as Node
from dbt_ivm.algebra.base import OneRow as OneRow
from dbt_ivm.algebra.base import Scan as Scan
from dbt_ivm.algebra.base import State as State
from dbt_ivm.algebra.base import TableName as TableName
from dbt_ivm.algebra.base import Unary as Unary
from dbt_ivm.algebra.joins import Join as Join
from dbt_ivm.algebra.joins import OuterJoin as OuterJoin
from dbt_ivm.algebra.joins import SemiJoin as SemiJoin
from dbt_ivm.algebra.joins import UnionAll as UnionAll
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.names import STAMP, WEIGHT


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
    settled: bool = False
    """There is one row at most to take a value from, so it does not matter which comes first."""


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
class Window(Unary):
    """Each row beside functions of its partition; without keys all rows are one partition."""

    keys: tuple[str, ...]
    items: tuple[Item, ...]
    """Named calls, each with its whole OVER clause."""

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.input.columns, *(item.name for item in self.items))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return tuple(item.value for item in self.items)

    def _check(self) -> None:
        super()._check()
        if not set(self.keys) <= set(self.input.columns):
            raise ValueError(f"unknown partition columns {self.keys}")


@dataclass(frozen=True)
class Values(Node):
    """Constant rows: `values (1, 'a'), (2, 'b')`."""

    rows: tuple[tuple[Scalar, ...], ...]
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names


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
class Stamped(Unary):
    """Each row beside the time at which it was written, as the extent below it keeps it."""

    @property
    def columns(self) -> tuple[str, ...]:
        stored = STAMP in self.input.columns
        return self.input.columns if stored else (*self.input.columns, STAMP)


@dataclass(frozen=True)
class Net(Unary):
    """A delta with equal rows added up and those of weight 0 dropped."""

    def _check(self) -> None:
        if WEIGHT not in self.input.columns:
            raise ValueError("only a delta can be netted")


@dataclass(frozen=True)
class Distinct(Unary):
    """The distinct rows of what has no delta of its own: touched keys."""


@dataclass(frozen=True)
class Named(Unary):
    """An intermediate result with a name, printed once and read by name."""

    name: str


def is_comparable(type_: str) -> bool:
    """Whether Spark can compare and group by values of a type: maps and variants it cannot."""
    lowered = type_.lower()
    return "map<" not in lowered and "variant" not in lowered and lowered != "void"
