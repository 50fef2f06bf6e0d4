"""Delta tables: changes by change data feed or version difference, states by time travel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import Scan, TableName
from dbt_ivm.algebra.scalar import column
from dbt_ivm.names import APPLICATION_ID
from dbt_ivm.sources import delta_history, scans
from dbt_ivm.sources.delta_history import FEED_PROPERTY
from dbt_ivm.sources.facts import Commit, Counts, Head, Identity, Mark, SourceChange
from dbt_ivm.sources.format import Ask, Columns, Row, TableFormat, Trouble, mapping
from dbt_ivm.sql.catalog import ColumnFact
from dbt_ivm.sql.dialect import literal, render, table
from dbt_ivm.sql.statements import describe, show_properties, version_of

_COMPACT_PROPERTY = "delta.autoOptimize.autoCompact"
_RECENT = 20
"""Commits that are read at first; most refreshes need no more."""
_ROW_BYTES = 40
"""What a row takes in Parquet, roughly: sizes of tables are compared, never counted on."""
# Words of Spark's errors, and what they mean for the plan.
_TROUBLES = {
    Trouble.CONFLICT: (
        "DELTA_CONCURRENT",
        "ConcurrentModification",
        "DELTA_METADATA_CHANGED",
        "DELTA_PROTOCOL_CHANGED",  # of two first builds at the same time one is told this
        "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS",
    ),
    Trouble.FEED_REFUSED: (
        "DELTA_MISSING_CHANGE_DATA",
        "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE",
        "PARQUET_COLUMN_DATA_TYPE_MISMATCH",
    ),
    Trouble.HISTORY_LOST: (
        "FAILED_READ_FILE.FILE_NOT_EXIST",
        "DELTA_VERSION_NOT_FOUND",
        "DELTA_LOG_FILE_NOT_FOUND",
        "DELTA_EMPTY_DIRECTORY",
    ),
}
# Inserted, updated, deleted: in the result of a MERGE, and in the metrics of its commit.
_COLUMNS = ("num_inserted_rows", "num_updated_rows", "num_deleted_rows")
_METRICS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")


class Delta(TableFormat):
    """Versions are numbers, commits carry user metadata, and a token makes them idempotent."""

    name = "delta"
    can_cluster = True
    replace_keeps_properties = False

    def identity(self, ask: Ask, name: TableName) -> Identity:
        found = ask(describe("DETAIL", name))[0]
        rows = int(found["sizeInBytes"] or 0) // _ROW_BYTES
        return Identity(self.name, found["id"], mapping(found["properties"]), rows)

    def extent(self, ask: Ask, name: TableName) -> Identity:
        # DETAIL adds up all files; after a commit that takes as long as the commit did.
        rows = ask(show_properties(name))
        return Identity(self.name, "", {row["key"]: row["value"] for row in rows})

    def head(self, ask: Ask, name: TableName, identity: Identity) -> Head:
        history = self._history(ask, name, _RECENT)
        newest = history[0]
        feed = identity.properties.get(FEED_PROPERTY, "").lower() == "true"
        return Head(
            name,
            identity.id,
            newest.version,
            newest.timestamp,
            feed,
            history,
            self.name,
            identity.rows,
        )

    def reaching(self, ask: Ask, head: Head, version: int) -> Head:
        oldest = min((c.version for c in head.history), default=head.version)
        if version >= oldest or len(head.history) < _RECENT:
            return head
        # The table may have moved on since the head was pinned: ask for some more.
        more = self._history(ask, head.table, head.version - version + _RECENT)
        return replace(head, history=tuple(c for c in more if c.version <= head.version))

    def is_behind(self, head: Head, version: int) -> bool:
        return version > head.version

    def lost_its_start(self, head: Head) -> bool:
        return all(commit.version > 0 for commit in head.history)

    def committed(self, ask: Ask, name: TableName, metadata: str) -> Counts | None:
        rows = ask(describe("HISTORY", name, limit=_RECENT))
        # Delta may have compacted the table right after the commit, with the same metadata.
        changes = (row for row in rows if not self.is_neutral(delta_history.commit(row)))
        row = next(changes, None)
        if row is None or row["userMetadata"] != metadata:
            return None
        metrics = mapping(row["operationMetrics"])
        if "numTargetRowsInserted" in metrics:
            return _counts(metrics, _METRICS)
        return Counts(inserted=int(metrics.get("numOutputRows", 0)))

    def _history(self, ask: Ask, name: TableName, limit: int) -> tuple[Commit, ...]:
        return tuple(
            delta_history.commit(row) for row in ask(describe("HISTORY", name, limit=limit))
        )

    def check_source(self, ask: Ask, head: Head, columns: tuple[ColumnFact, ...]) -> None:
        """Every version can be read as the table is shown."""

    def classify(self, head: Head, mark: Mark | None, used: Columns) -> SourceChange:
        return delta_history.classify(head, mark, used)

    def at(self, name: TableName, version: int) -> exp.Table:
        return version_of(name, version)

    def changes(self, scan: Scan, mark: Mark, head: Head) -> exp.Query:
        """`select …, ±1 from table_changes('t', first, last)`; both ends are inclusive."""
        name = literal(render(table(scan.table), pretty=False))
        span = (literal(mark.version + 1), literal(head.version))
        feed = exp.Table(this=exp.Anonymous(this="table_changes", expressions=[name, *span]))
        came = exp.In(
            this=column("_change_type"),
            expressions=[literal("insert"), literal("update_postimage")],
        )
        return scans.weighted(scan, feed, scans.came_or_left(came))

    def is_neutral(self, commit: Commit) -> bool:
        return delta_history.is_neutral(commit)

    def extent_properties(self) -> dict[str, str]:
        return {FEED_PROPERTY: "true"}

    def commit_settings(self, metadata: str, generation: int) -> dict[str, str]:
        return {
            "spark.databricks.delta.commitInfo.userMetadata": metadata,
            "spark.databricks.delta.write.txnAppId": APPLICATION_ID,
            "spark.databricks.delta.write.txnVersion": str(generation),
            # A vacuumed file must be an error and not a lack of rows.
            "spark.sql.files.ignoreMissingFiles": "false",
        }

    def upkeep_settings(self, properties: Mapping[str, str]) -> dict[str, str]:
        # Not as a property of the table: Delta would compact after every build as well.
        told = _COMPACT_PROPERTY in properties
        return {} if told else {"spark.databricks.delta.autoCompact.enabled": "true"}

    def counts(self, result: list[Row]) -> Counts | None:
        # A skipped commit (the token was used already) and a CREATE both return nothing.
        if not result or "num_affected_rows" not in result[0]:
            return None
        return _counts(result[0], _COLUMNS)

    def trouble(self, message: str) -> Trouble | None:
        found = (t for t, signs in _TROUBLES.items() if any(sign in message for sign in signs))
        return next(found, None)


def _counts(values: Row, names: tuple[str, ...]) -> Counts:
    return Counts(*(int(values.get(name) or 0) for name in names))
