"""The table formats dbt-ivm knows; a new one is a class and a line here."""

from __future__ import annotations

from dbt_ivm.sources.clock import Clock
from dbt_ivm.sources.delta import Delta
from dbt_ivm.sources.facts import Head, Mark, Reading, SourceChange
from dbt_ivm.sources.format import Columns, TableFormat
from dbt_ivm.sources.iceberg import Iceberg

FORMATS: dict[str, TableFormat] = {known.name: known for known in (Delta(), Iceberg())}


def classify(head: Head, mark: Mark | None, used: Columns = None) -> SourceChange:
    """How the changes of a source can be read, where a model reads the columns `used`."""
    if head.format == Clock.name:
        return Clock().classify(head, mark)
    return FORMATS[head.format].classify(head, mark, used)


def changed_rows(change: SourceChange) -> int | None:
    """Rows that reading a change reads, where every commit in the range tells its number."""
    if change.reading is Reading.NOTHING or change.mark is None:
        return 0
    if change.head.format == Clock.name:  # the time is one row, and nothing is read for it
        return 0
    if change.reading is not Reading.FEED:
        return None
    line = FORMATS[change.head.format].lineage(change.head)
    versions = [commit.version for commit in line]
    known = change.mark.version in versions
    since = line[: versions.index(change.mark.version)] if known else line
    rows = [commit.rows for commit in since if not FORMATS[change.head.format].is_neutral(commit)]
    return None if None in rows else sum(r for r in rows if r is not None)
