"""The protocol of a table format: everything that tells one from another, behind one class."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from sqlglot import exp

from dbt_ivm.algebra.nodes import Scan, TableName
from dbt_ivm.sources.facts import Commit, Counts, Head, Identity, Mark, Reading, SourceChange
from dbt_ivm.sql.catalog import ColumnFact
from dbt_ivm.sql.statements import Merge

Row = Mapping[str, Any]
Ask = Callable[[exp.Expr], list[Row]]
"""Sends a statement that only reads facts."""

Columns = frozenset[str] | None
"""Columns of a source that a model reads, in lower case; None where that is not known."""


class Trouble(Enum):
    """Why a statement failed that may succeed when it is sent, or planned, again."""

    BUSY = "the table was busy"
    CONFLICT = "another run committed first"
    FEED_REFUSED = "the change data feed cannot be read"
    TOO_LARGE = "a result was too large to be sent to every worker"
    HISTORY_LOST = "a source lost history that the refresh needs, by vacuum or log clean-up"


@dataclass(frozen=True)
class Apply:
    """A MERGE, and what has to stand around it for it to count once or not at all."""

    merge: exp.Expr
    before: tuple[exp.Expr, ...] = ()
    publish: exp.Expr | None = None
    """The statement that makes the merged change the state of the table, where MERGE does not."""
    after: tuple[exp.Expr, ...] = ()


class TableFormat(ABC):
    """One table format, as source and as extent."""

    name: ClassVar[str]
    """Spark's word for it: the provider of a table, `file_format` of a model."""

    # Facts, read through a connection.

    @abstractmethod
    def identity(self, ask: Ask, name: TableName) -> Identity:
        """What a table of this format is."""

    def extent(self, ask: Ask, name: TableName) -> Identity:
        """The same of an extent, of which only the properties matter."""
        return self.identity(ask, name)

    @abstractmethod
    def head(self, ask: Ask, name: TableName, identity: Identity) -> Head:
        """Where a table stands right now, with its recent history."""

    @abstractmethod
    def reaching(self, ask: Ask, head: Head, version: int) -> Head:
        """The same head with history back to a version, as far as there is any."""

    @abstractmethod
    def is_behind(self, head: Head, version: int) -> bool:
        """Whether a pinned head is older than a version of the same table."""

    @abstractmethod
    def committed(self, ask: Ask, name: TableName, metadata: str) -> Counts | None:
        """What the commit with this metadata did; None where the table has no such commit."""

    def lineage(self, head: Head) -> tuple[Commit, ...]:
        """The commits that led to a head, newest first."""
        return head.history

    @abstractmethod
    def lost_its_start(self, head: Head) -> bool:
        """Whether the oldest commits of a table are gone."""

    # Sources: how states and changes are read.

    @abstractmethod
    def check_source(self, ask: Ask, head: Head, columns: tuple[ColumnFact, ...]) -> None:
        """Raise `Unsupported` for a table that cannot be read at its head with these columns."""

    @abstractmethod
    def classify(self, head: Head, mark: Mark | None, used: Columns) -> SourceChange:
        """How the changes since the mark can be read, decided before anything is written."""

    @abstractmethod
    def at(self, name: TableName, version: int) -> exp.Table:
        """A table as of a version."""

    @abstractmethod
    def changes(self, scan: Scan, mark: Mark, head: Head) -> exp.Query:
        """The signed rows between mark and head, from the format's own record of them."""

    # Extents: how a commit is marked, and what became of it.

    can_cluster: ClassVar[bool]
    """Whether tables can be clustered by columns."""
    replace_keeps_properties: ClassVar[bool]
    """Whether a table that is replaced keeps the properties it had."""

    @abstractmethod
    def is_neutral(self, commit: Commit) -> bool:
        """Whether a commit left every row as it was."""

    @abstractmethod
    def extent_properties(self) -> dict[str, str]:
        """Table properties that every extent of this format has."""

    @abstractmethod
    def commit_settings(self, metadata: str, generation: int) -> dict[str, str]:
        """Session settings under which a statement commits with this metadata, at most once."""

    def upkeep_settings(self, properties: Mapping[str, str]) -> dict[str, str]:
        """Session settings under which a MERGE tidies up small files where there are many.

        A model that says something about it in its table properties is left alone.
        """
        return {}

    def apply(self, merge: Merge, extent: Head, writer: str) -> Apply:
        """The statements that apply a change exactly once, from the head it was planned at."""
        return Apply(merge.tree())

    @abstractmethod
    def counts(self, result: list[Row]) -> Counts | None:
        """What a statement says it did; None where it says nothing or was skipped."""

    @abstractmethod
    def trouble(self, message: str) -> Trouble | None:
        """What an error of Spark means for the plan; None where it is an error indeed."""


def impossible(head: Head, mark: Mark | None, reason: str) -> SourceChange:
    """A source whose changes cannot be read: `shop.orders` and why."""
    return SourceChange(head, mark, Reading.IMPOSSIBLE, f"`{'.'.join(head.table)}` {reason}")


def mapping(value: Any) -> dict[str, str]:
    """A map column: a dict in process, JSON text over Thrift."""
    if isinstance(value, str):
        value = json.loads(value)
    return dict(value or {})
