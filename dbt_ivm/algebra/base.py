"""What every relational node is: frozen, checked, every column name unique in a whole tree.

Because no two scans share a column name, joins need no qualifiers, a self-join is two scans
with different names, and any expression can be moved between nodes without renaming.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum

from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.names import WEIGHT


class State(Enum):
    """Which state of its table a scan reads."""

    NEW = "new"
    OLD = "old"
    DELTA = "delta"


TableName = tuple[str, ...]


@dataclass(frozen=True)
class Field:
    """A column of a table under the name the tree knows it by."""

    name: str
    source: str
    type: str


@dataclass(frozen=True)
class Node(ABC):
    """A relation: a bag of rows with named columns."""

    def __post_init__(self) -> None:
        names = [name.lower() for name in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"duplicate column in {type(self).__name__}: {self.columns}")
        self._check()

    def _check(self) -> None:
        """Raise when an expression refers to a column that the inputs do not have."""
        self._require(self.scalars, tuple(name for i in self.inputs for name in i.columns))

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        """The same operator on other inputs."""
        return self

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """Every expression of this node itself."""
        return ()

    def _require(self, scalars: tuple[Scalar, ...], available: tuple[str, ...]) -> None:
        missing = {name for s in scalars for name in s.columns} - set(available)
        if missing:
            raise ValueError(f"{type(self).__name__} refers to unknown columns {sorted(missing)}")


@dataclass(frozen=True)
class Scan(Node):
    """The columns of a stored table that the query uses."""

    table: TableName
    fields: tuple[Field, ...]
    state: State = State.NEW

    @property
    def columns(self) -> tuple[str, ...]:
        names = tuple(field.name for field in self.fields)
        return (*names, WEIGHT) if self.state is State.DELTA else names


@dataclass(frozen=True)
class OneRow(Node):
    """The relation of one row without columns: `select 1` has it as its input."""

    @property
    def columns(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, eq=False)
class OuterRow(Node):
    """Inside a subquery: one row of the query around it. Decorrelation takes it away again."""

    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names


@dataclass(frozen=True)
class Unary(Node):
    """A node with one input."""

    input: Node

    @property
    def columns(self) -> tuple[str, ...]:
        return self.input.columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, input=inputs[0])


@dataclass(frozen=True)
class Binary(Node):
    """A node with two inputs."""

    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, left=inputs[0], right=inputs[1])
