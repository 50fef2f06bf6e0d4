"""Facts about a table: where it stands, how it got there, where an extent stands in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.names import CLOCK


def moment(text: str) -> datetime:
    """A timestamp as Spark prints it, with as many digits of the second as it needs."""
    second, _, fraction = text.partition(".")
    return datetime.fromisoformat(f"{second}.{fraction:0<6}")


@dataclass(frozen=True)
class Identity:
    """What a table is, apart from its versions."""

    format: str
    id: str
    properties: Mapping[str, str] = field(default_factory=dict)
    rows: int | None = None
    """About how many rows the table has right now, where the format tells."""


@dataclass(frozen=True)
class Commit:
    """One entry of a table's history."""

    version: int
    timestamp: str
    operation: str
    metadata: str | None = None
    rows: int | None = None
    """Changed rows, where the table format tells."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    """What else the format says about it, in its own words."""


@dataclass(frozen=True)
class Head:
    """A table at the moment it was pinned: identity, version, properties, recent history."""

    table: TableName
    id: str
    version: int
    timestamp: str
    has_feed: bool
    history: tuple[Commit, ...] = ()
    """Newest first."""
    format: str = "delta"
    rows: int | None = None
    """About how many rows it has, where the format tells."""

    @property
    def title(self) -> str:
        """How a reason names it."""
        return "the time" if self.table[0] == CLOCK else ".".join(self.table)

    def mark(self) -> Mark:
        return Mark(self.table, self.id, self.version, self.timestamp)


@dataclass(frozen=True)
class Mark:
    """Where an extent stands in one source; part of the watermark."""

    table: TableName
    id: str
    version: int
    timestamp: str


class Reading(Enum):
    """How the changes between mark and head are read."""

    NOTHING = "unchanged"
    FEED = "change data feed"
    DIFFERENCE = "difference of two versions"
    IMPOSSIBLE = "not readable"


@dataclass(frozen=True)
class SourceChange:
    """What one source contributes to a refresh."""

    head: Head
    mark: Mark | None
    reading: Reading
    reason: str = ""


@dataclass(frozen=True)
class Counts:
    """Rows that a commit inserted, updated and deleted."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
