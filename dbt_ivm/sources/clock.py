"""The time as a source: a table of one row that is another one at the next refresh."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Scan
from dbt_ivm.algebra.scalar import call
from dbt_ivm.names import CLOCK
from dbt_ivm.sources.facts import Head, Mark, Reading, SourceChange
from dbt_ivm.sql.clock_values import clock_literal

_READ = {"date": ("unix_date", "current_date"), "timestamp": ("unix_micros", "current_timestamp")}


class Clock:
    """Days since 1970 for dates, microseconds for times of day: the version is the time."""

    name = CLOCK

    def question(self, grain: str) -> exp.Select:
        """`select unix_date(current_date()) as version`."""
        number, now = _READ[grain]
        return exp.select(exp.alias_(call(number, call(now)), "version"))

    def head(self, grain: str, version: int) -> Head:
        return Head((CLOCK, grain), CLOCK, version, "", has_feed=False, format=CLOCK, rows=1)

    def classify(self, head: Head, mark: Mark | None) -> SourceChange:
        if mark is None:
            return SourceChange(head, mark, Reading.IMPOSSIBLE, "the time is new to the model")
        same = head.version == mark.version
        return SourceChange(head, mark, Reading.NOTHING if same else Reading.DIFFERENCE)

    def at(self, scan: Scan, version: int) -> exp.Subquery:
        """`(select date_from_unix_date(20000) as today)`."""
        return _row(scan, clock_literal(scan.table[-1], version))

    def now(self, scan: Scan) -> exp.Subquery:
        """`(select current_date() as today)`."""
        return _row(scan, call(_READ[scan.table[-1]][1]))


def _row(scan: Scan, time: exp.Expr) -> exp.Subquery:
    named = exp.alias_(time, scan.fields[0].source, quoted=True)
    alias = exp.TableAlias(this=exp.to_identifier("c"))
    return exp.Subquery(this=exp.select(named), alias=alias)
