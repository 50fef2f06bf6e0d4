"""What an extent is to the planner: how it is built, read by the view, and changed by a MERGE."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.nodes import Field, Item, Named, Node, Project, Scan, TableName
from dbt_ivm.algebra.projections import select_columns
from dbt_ivm.algebra.scalar import Scalar, column
from dbt_ivm.algebra.stability import ROWS
from dbt_ivm.delta.rollback import rolled_back
from dbt_ivm.delta.rules import Changes, delta
from dbt_ivm.names import HIDDEN_PREFIX, WEIGHT
from dbt_ivm.sql.render import Prepared, ReadScan, prepared
from dbt_ivm.sql.statements import Merge


@dataclass(frozen=True)
class Extent(ABC):
    """The stored state of a node: its key columns and hidden columns."""

    table: TableName

    @property
    @abstractmethod
    def family(self) -> str:
        """Operator family shown by explain."""

    @property
    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """Columns that identify a stored row."""

    @property
    @abstractmethod
    def stored(self) -> tuple[str, ...]:
        """All columns of the table."""

    @abstractmethod
    def rebuilt(self) -> Node:
        """The whole content at the head versions."""

    @abstractmethod
    def read(self, more: tuple[str, ...] = ()) -> Node:
        """The maintained node's rows, read back from the extent, with more of what is stored."""

    @abstractmethod
    def change(self, changes: Changes) -> Node:
        """What changed between watermark and heads: at most one row per key of the extent."""

    @abstractmethod
    def merge(self, changes: Changes, read_scan: ReadScan) -> Merge:
        """The MERGE that applies `change`."""

    def hazard(self, changes: Changes) -> str:
        """Why a change cannot be applied this time: the stored state cannot be told from it."""
        return ""

    def scan(self, prefix: str = "", more: tuple[str, ...] = ()) -> Scan:
        """The extent as a table, its columns optionally under other names."""
        names = (*self.stored, *more)
        return Scan(self.table, tuple(Field(prefix + name, name, "") for name in names))

    def _source(self, changes: Changes, read_scan: ReadScan) -> Prepared:
        """The query of `change`; what it keeps is named after the table, one model at a time."""
        prefix = f"{HIDDEN_PREFIX}{self.table[-1]}"
        change = rolled_back(self.change(changes), changes)
        return prepared(change, read_scan, prefix, changes.sizes)

    def _finished(self, values: Mapping[str, exp.Expr], source: Node) -> Node:
        return Project(source, tuple(Item(name, Scalar(tree)) for name, tree in values.items()))


def signed(node: Node, columns: tuple[str, ...], changes: Changes) -> Node:
    """The delta of a node on the columns that matter, with its weight."""
    changed = delta(node, changes)
    if changed is None:
        raise AssertionError("nothing changed: there is nothing to merge")
    return select_columns(changed, (*columns, WEIGHT))


def not_repeatable(columns: frozenset[str]) -> str:
    """The reason to rebuild where values cannot be recomputed as they were."""
    shown = ", ".join(f"`{name}`" for name in sorted(columns - {ROWS})) or "a filter"
    return f"{shown} cannot be recomputed exactly as it was (floats, or rows in no fixed order)"


def named(name: str, node: Node) -> Named:
    """An intermediate result, printed once as the CTE `__ivm_<name>`."""
    return Named(node, HIDDEN_PREFIX + name)


def from_change(names: tuple[str, ...]) -> dict[str, exp.Expr]:
    """`insert (k, …) values (d.k, …)` for columns taken over as they are."""
    return {name: column(name, "d") for name in names}
