"""What the planner is told about tables and views; filled by the adapter, or by a dict in tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dbt_ivm.algebra.nodes import TableName


@dataclass(frozen=True)
class ColumnFact:
    """A column as the catalog knows it."""

    name: str
    type: str


@dataclass(frozen=True)
class ViewFact:
    """The stored text of a view, what its query calls the columns, and where names resolve."""

    text: str
    query_columns: tuple[str, ...]
    namespace: TableName


@dataclass(frozen=True)
class RelationFact:
    """A table or view."""

    name: TableName
    columns: tuple[ColumnFact, ...]
    provider: str = "delta"
    view: ViewFact | None = None
    unique: tuple[str, ...] | None = None
    """Columns known to be unique together (the key of an extent), or nothing known."""


class Catalog(Protocol):
    """Looks relations up by name; raises `Unsupported` for one that cannot be maintained."""

    def relation(self, name: TableName) -> RelationFact: ...
