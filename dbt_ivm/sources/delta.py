"""Delta tables: changes by change data feed or version difference, states by time travel."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_ivm.algebra.nodes import Field, Scan, State, TableName
from dbt_ivm.algebra.scalar import column
from dbt_ivm.names import WEIGHT
from dbt_ivm.sources.facts import Commit, Head, Mark, Reading, SourceChange
from dbt_ivm.sql.dialect import literal, render, table

FEED_PROPERTY = "delta.enableChangeDataFeed"

# Commits that rewrite files or metadata but leave every row as it was.
_NEUTRAL = frozenset(
    {
        "OPTIMIZE",
        "REORG",
        "VACUUM START",
        "VACUUM END",
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "ADD COLUMNS",
        "ADD CONSTRAINT",
        "DROP CONSTRAINT",
        "UPGRADE PROTOCOL",
        "COMPUTE STATS",
        "CLUSTER BY",
    }
)
# Commits whose rows the change data feed reports; anything else is read as a difference.
_FED = frozenset(
    {
        "WRITE",
        "MERGE",
        "UPDATE",
        "DELETE",
        "TRUNCATE",
        "STREAMING UPDATE",
        "COPY INTO",
        "RESTORE",
        "OPTIMIZE",
        "REORG",
        "VACUUM START",
        "VACUUM END",
        "ADD COLUMNS",
        "ADD CONSTRAINT",
        "DROP CONSTRAINT",
        "COMPUTE STATS",
        "CLUSTER BY",
    }
)


def is_neutral(commit: Commit) -> bool:
    """Whether a commit left every row as it was."""
    return commit.operation in _NEUTRAL


def _changed_nothing(commit: Commit) -> bool:
    """A MERGE, UPDATE or DELETE that touched no row; an empty overwrite is no such thing."""
    return commit.operation in ("MERGE", "UPDATE", "DELETE") and commit.rows == 0


def classify(head: Head, mark: Mark | None) -> SourceChange:
    """How the changes since the mark can be read, decided before anything is written."""
    if mark is None:
        return _impossible(head, mark, "is new to the model")
    if head.version == mark.version and head.id == mark.id:
        return SourceChange(head, mark, Reading.NOTHING)
    if head.version < mark.version:
        return _impossible(head, mark, "was dropped and recreated")
    known = {commit.version: commit for commit in head.history}
    if head.id != mark.id:
        before = known.get(mark.version)
        if before is None or before.timestamp != mark.timestamp:
            return _impossible(head, mark, "was dropped and recreated")
        return SourceChange(head, mark, Reading.DIFFERENCE, "the table was replaced")
    between = [known.get(version) for version in range(mark.version + 1, head.version + 1)]
    if any(commit is None for commit in between):
        return _impossible(head, mark, f"has no history back to version {mark.version} any more")
    commits = [commit for commit in between if commit is not None]
    if all(is_neutral(commit) or _changed_nothing(commit) for commit in commits):
        return SourceChange(head, mark, Reading.NOTHING)
    if not head.has_feed:
        return SourceChange(head, mark, Reading.DIFFERENCE, "the change data feed is off")
    other = [commit.operation for commit in commits if commit.operation not in _FED]
    if other:
        return SourceChange(head, mark, Reading.DIFFERENCE, f"{other[0]} since the last refresh")
    return SourceChange(head, mark, Reading.FEED)


def _impossible(head: Head, mark: Mark | None, reason: str) -> SourceChange:
    return SourceChange(head, mark, Reading.IMPOSSIBLE, f"`{'.'.join(head.table)}` {reason}")


class DeltaReader:
    """Prints the scans of a plan at the versions a refresh goes from and to."""

    def __init__(self, changes: Mapping[TableName, SourceChange]) -> None:
        self._changes = changes

    def __call__(self, scan: Scan) -> exp.Query:
        change = self._changes.get(scan.table)
        if change is None:  # an extent read by its own view: always as it is
            return _select(scan.fields, table(scan.table))
        if scan.state is State.NEW:
            return _select(scan.fields, _at(scan.table, change.head.version))
        if change.mark is None:
            raise AssertionError("without a mark there is no old state")
        if scan.state is State.OLD:
            return _select(scan.fields, _at(scan.table, change.mark.version))
        if change.reading is Reading.FEED:
            return _feed(scan, change.mark.version + 1, change.head.version)
        return _difference(scan, change.mark.version, change.head.version)


def _at(name: TableName, version: int) -> exp.Table:
    """`t version as of n`."""
    reference = table(name)
    as_of = exp.Version(this="VERSION", kind="AS OF", expression=literal(version))
    reference.set("version", as_of)
    return reference


def _select(fields: tuple[Field, ...], source: exp.Expr) -> exp.Select:
    items = [exp.alias_(column(field.source), field.name, quoted=True) for field in fields]
    return exp.select(*items).from_(source)


def _feed(scan: Scan, first: int, last: int) -> exp.Query:
    """`select …, ±1 from table_changes('t', first, last)`; both ends are inclusive."""
    name = literal(render(table(scan.table), pretty=False))
    rows = exp.Anonymous(this="table_changes", expressions=[name, literal(first), literal(last)])
    came = exp.In(
        this=column("_change_type"),
        expressions=[literal("insert"), literal("update_postimage")],
    )
    weight = exp.Case().when(came, literal(1)).else_(exp.Neg(this=literal(1)))
    select = _select(scan.fields, exp.Table(this=rows))
    return select.select(exp.alias_(weight, WEIGHT, quoted=True))


def _difference(scan: Scan, old: int, new: int) -> exp.Query:
    """All rows of the new version came, all of the old one left; netting leaves the difference."""
    sides = []
    for version, sign in ((new, literal(1)), (old, exp.Neg(this=literal(1)))):
        side = _select(scan.fields, _at(scan.table, version))
        sides.append(side.select(exp.alias_(sign, WEIGHT, quoted=True)))
    return exp.Union(this=sides[0], expression=sides[1], distinct=False)
