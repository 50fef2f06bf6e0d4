"""What the snapshots of an Iceberg table tell: which changed rows, and how to read them."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.algebra.scalar import call, column
from dbt_ivm.sources.facts import Commit, Counts, Head, Mark, Reading, SourceChange
from dbt_ivm.sources.format import Row, impossible, mapping
from dbt_ivm.sql.statements import part_of

SUMMARY_KEY = "dbt_ivm"
"""Property of a snapshot's summary that holds the watermark."""
_KINDS = ("inserted", "updated", "deleted")
_PARENT, _SCHEMA = "parent", "schema"


def snapshots(name: TableName) -> exp.Query:
    """Every snapshot with its parent and the id of the columns it was written with.

    `select … from t.snapshots s left join
    (select latest_snapshot_id, max(latest_schema_id) … from t.metadata_log_entries group by …) m`
    """
    schema = exp.alias_(call("max", column("latest_schema_id")), _SCHEMA, quoted=True)
    entries = (
        exp.select(column("latest_snapshot_id"), schema)
        .from_(part_of(name, "metadata_log_entries"))
        .group_by(column("latest_snapshot_id"))
    )
    columns = ("snapshot_id", "parent_id", "committed_at", "operation", "summary")
    return (
        exp.select(*(column(c, "s") for c in columns), column(_SCHEMA, "m"))
        .from_(exp.alias_(part_of(name, "snapshots"), "s", table=True))
        .join(
            exp.Subquery(this=entries, alias=exp.TableAlias(this=exp.to_identifier("m"))),
            on=exp.EQ(
                this=column("snapshot_id", "s"), expression=column("latest_snapshot_id", "m")
            ),
            join_type="left",
        )
        .order_by(exp.Ordered(this=column("committed_at", "s"), desc=True))
    )


def records(newest: Commit) -> int | None:
    """Rows of the table after a commit."""
    total = newest.metrics.get("total-records")
    return int(total) if total is not None else None


def commit(row: Row) -> Commit:
    """A row of that query."""
    summary = mapping(row["summary"])
    told = {_PARENT: row["parent_id"], _SCHEMA: row[_SCHEMA]}
    return Commit(
        int(row["snapshot_id"]),
        str(row["committed_at"]),
        row["operation"],
        summary.get(SUMMARY_KEY),
        None,
        {key: str(value) for key, value in told.items() if value is not None},
        summary,
    )


def lineage(head: Head) -> tuple[Commit, ...]:
    """The snapshots that led to the head, newest first, as far as they are kept."""
    known = {c.version: c for c in head.history}
    line: list[Commit] = []
    version: int | None = head.version
    while version is not None and version in known:
        line.append(known[version])
        version = parent(known[version])
    return tuple(line)


def parent(commit: Commit) -> int | None:
    """The snapshot that a snapshot was made from."""
    told = commit.parameters.get(_PARENT)
    return int(told) if told else None


def classify(head: Head, mark: Mark | None) -> SourceChange:
    """How the changes since the mark can be read."""
    if mark is None:
        return impossible(head, mark, "is new to the model")
    if head.version == mark.version:
        return SourceChange(head, mark, Reading.NOTHING)
    if all(c.version != mark.version for c in head.history):
        return impossible(
            head, mark, "has the snapshot of the last refresh no more: expired, or another table"
        )
    line = lineage(head)
    versions = [c.version for c in line]
    if mark.version not in versions:
        return SourceChange(head, mark, Reading.DIFFERENCE, "the table was rolled back or replaced")
    since = line[: versions.index(mark.version)]
    same_columns = len({c.parameters.get(_SCHEMA) for c in (*since, line[len(since)])}) == 1
    if same_columns and all(is_neutral(c) for c in since):
        return SourceChange(head, mark, Reading.NOTHING)
    obstacle = _obstacle_to_changelog((*since, line[len(since)]), same_columns)
    if obstacle:
        return SourceChange(head, mark, Reading.DIFFERENCE, obstacle)
    return SourceChange(head, mark, Reading.FEED)


def _obstacle_to_changelog(commits: tuple[Commit, ...], same_columns: bool) -> str:
    # The changelog shows old rows under the new columns, so a renamed column would look empty.
    if not same_columns:
        return "the columns changed"
    if any(c.parameters.get(_SCHEMA) is None for c in commits):
        return "the metadata log does not tell whether columns changed"
    if any(c.metrics.get("total-delete-files", "0") != "0" for c in commits):
        return "delete files, which the changelog cannot read"
    return ""


def is_neutral(commit: Commit) -> bool:
    """Compaction, and commits that neither added nor removed anything."""
    if commit.operation == "replace":
        return True
    kinds = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")
    return not any(commit.metrics.get(kind) for kind in kinds)


def counts(commit: Commit) -> Counts:
    """Rows that a MERGE reports, or by the summary; there a rewritten file counts all its rows."""
    told = [commit.metrics.get(f"spark.merge-into.num-target-rows-{kind}") for kind in _KINDS]
    if None not in told:
        return Counts(*(int(number or 0) for number in told))
    added = int(commit.metrics.get("added-records", 0))
    deleted = int(commit.metrics.get("deleted-records", 0))
    copied = min(added, deleted)
    return Counts(inserted=added - copied, deleted=deleted - copied)
