"""Prints the scans of a plan at the versions a refresh goes from and to."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_ivm.algebra.nodes import Scan, State, TableName
from dbt_ivm.sources import scans
from dbt_ivm.sources.clock import Clock
from dbt_ivm.sources.facts import Reading, SourceChange
from dbt_ivm.sources.formats import FORMATS
from dbt_ivm.sql.dialect import literal, table


class SourceReader:
    """Reads each source in its own format: a state by its version, a delta as signed rows."""

    def __init__(self, changes: Mapping[TableName, SourceChange]) -> None:
        self._changes = changes

    def __call__(self, scan: Scan) -> exp.Query:
        change = self._changes.get(scan.table)
        if change is None:  # an extent read by its own view: always as it is
            return scans.rows(scan, table(scan.table))
        new = change.head.version
        if scan.state is State.NEW:
            return scans.rows(scan, self._at(scan, change, new))
        if change.mark is None:
            raise AssertionError("without a mark there is no old state")
        old = change.mark.version
        if scan.state is State.OLD:
            return scans.rows(scan, self._at(scan, change, old))
        if change.reading is Reading.FEED:
            return FORMATS[change.head.format].changes(scan, change.mark, change.head)
        # All rows of the new version came, all of the old one left; netting leaves the difference.
        came = scans.weighted(scan, self._at(scan, change, new), literal(1))
        left = scans.weighted(scan, self._at(scan, change, old), exp.Neg(this=literal(1)))
        return exp.Union(this=came, expression=left, distinct=False)

    def _at(self, scan: Scan, change: SourceChange, version: int) -> exp.Expr:
        if change.head.format == Clock.name:
            return Clock().at(scan, version)
        return FORMATS[change.head.format].at(scan.table, version)
