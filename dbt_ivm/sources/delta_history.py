"""What the history of a Delta table tells: which commits changed rows, and how to read them."""

from __future__ import annotations

from dbt_ivm.sources.facts import Commit, Head, Mark, Reading, SourceChange
from dbt_ivm.sources.format import Row, impossible, mapping

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
# Metrics whose sum is the number of rows in the change data feed: an update counts twice.
_FEED_ROWS = {
    "WRITE": {"numOutputRows": 1},
    "STREAMING UPDATE": {"numOutputRows": 1},
    "DELETE": {"numDeletedRows": 1},
    "UPDATE": {"numUpdatedRows": 2},
    "MERGE": {
        "numTargetRowsInserted": 1,
        "numTargetRowsDeleted": 1,
        "numTargetRowsUpdated": 2,
    },
}


def classify(head: Head, mark: Mark | None) -> SourceChange:
    """How the changes since the mark can be read."""
    if mark is None:
        return impossible(head, mark, "is new to the model")
    if head.version == mark.version and head.id == mark.id:
        return SourceChange(head, mark, Reading.NOTHING)
    if head.version < mark.version:
        return impossible(head, mark, "was dropped and recreated")
    known = {commit.version: commit for commit in head.history}
    if head.id != mark.id:
        before = known.get(mark.version)
        if before is None or before.timestamp != mark.timestamp:
            return impossible(head, mark, "was dropped and recreated")
        return SourceChange(head, mark, Reading.DIFFERENCE, "the table was replaced")
    between = [known.get(version) for version in range(mark.version + 1, head.version + 1)]
    if any(commit is None for commit in between):
        return impossible(head, mark, f"has no history back to version {mark.version} any more")
    commits = [commit for commit in between if commit is not None]
    if all(is_neutral(commit) or _changed_nothing(commit) for commit in commits):
        return SourceChange(head, mark, Reading.NOTHING)
    if not head.has_feed:
        return SourceChange(head, mark, Reading.DIFFERENCE, "the change data feed is off")
    other = [commit.operation for commit in commits if commit.operation not in _FED]
    if other:
        return SourceChange(head, mark, Reading.DIFFERENCE, f"{other[0]} since the last refresh")
    return SourceChange(head, mark, Reading.FEED)


def is_neutral(commit: Commit) -> bool:
    """Whether a commit left every row as it was."""
    return commit.operation in _NEUTRAL


def _changed_nothing(commit: Commit) -> bool:
    """A MERGE, UPDATE or DELETE that touched no row; an empty overwrite is no such thing."""
    return commit.operation in ("MERGE", "UPDATE", "DELETE") and commit.rows == 0


def commit(row: Row) -> Commit:
    """A row of `DESCRIBE HISTORY`."""
    return Commit(
        int(row["version"]),
        str(row["timestamp"]),
        row["operation"],
        row["userMetadata"],
        _changed_rows(row),
    )


def _changed_rows(row: Row) -> int | None:
    """Rows that the change data feed of a commit holds."""
    if mapping(row["operationParameters"]).get("mode") == "Overwrite":
        return None  # Delta does not say how many rows went
    metrics, names = mapping(row["operationMetrics"]), _FEED_ROWS.get(row["operation"])
    if names is None or any(name not in metrics for name in names):
        return None
    return sum(int(metrics[name]) * factor for name, factor in names.items())
