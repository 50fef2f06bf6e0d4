"""What became of each source since a watermark, and where the state of that watermark is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_ivm.algebra.nodes import Node, TableName
from dbt_ivm.algebra.walk import scans
from dbt_ivm.plan.analysis import Analysis
from dbt_ivm.plan.model import Facts
from dbt_ivm.plan.watermark import Watermark
from dbt_ivm.sources.facts import Head, Reading, SourceChange
from dbt_ivm.sources.formats import classify


def changes_since(
    analysis: Analysis, heads: Mapping[TableName, Head], watermark: Watermark | None
) -> tuple[SourceChange, ...]:
    """One change per source of a model, in the order of its SQL."""
    return tuple(
        classify(
            heads[name],
            watermark.mark(name) if watermark else None,
            _used_columns(analysis.maintainable.core, name) if analysis.maintainable else None,
        )
        for name in analysis.tables or ()
    )


def standing(change: SourceChange) -> Head:
    """A state of the source in which the model finds what it found at its mark.

    Where nothing that it reads has changed since, that is the head: a no-op writes no newer
    watermark, and the files of the marked version may be compacted and vacuumed by now.
    """
    head, mark = change.head, change.mark
    if mark is None or change.reading is Reading.NOTHING:
        return head
    return replace(head, id=mark.id, version=mark.version, timestamp=mark.timestamp)


def lost(changes: tuple[SourceChange, ...]) -> str:
    """Why the state of the watermark cannot be read any more; nothing where it can."""
    return next((c.reason for c in changes if c.reading is Reading.IMPOSSIBLE), "")


def changed_zone(facts: Facts) -> str:
    """What `hour(t)` means depends on the session: an extent is kept in the zone it began with."""
    before = facts.target.watermark.zone if facts.target.watermark else ""
    changed = bool(before) and before != facts.zone
    return f"the time zone of the session changed from {before} to {facts.zone}" if changed else ""


def _used_columns(node: Node, name: TableName) -> frozenset[str]:
    """Columns of a table that the scans below a node read."""
    found = (scan for scan in scans(node) if scan.table == name)
    return frozenset(field.source.lower() for scan in found for field in scan.fields)
