"""The table formats dbt-ivm knows; a new one is a class and a line here."""

from __future__ import annotations

from dbt_ivm.sources.clock import Clock
from dbt_ivm.sources.delta import Delta
from dbt_ivm.sources.facts import Head, Mark, SourceChange
from dbt_ivm.sources.format import Columns, TableFormat
from dbt_ivm.sources.iceberg import Iceberg

FORMATS: dict[str, TableFormat] = {known.name: known for known in (Delta(), Iceberg())}


def classify(head: Head, mark: Mark | None, used: Columns = None) -> SourceChange:
    """How the changes of a source can be read, where a model reads the columns `used`."""
    if head.format == Clock.name:
        return Clock().classify(head, mark)
    return FORMATS[head.format].classify(head, mark, used)
