"""What the history of a Delta table tells: which commits changed rows, and how to read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from dbt_ivm.sources.facts import Commit, Head, Mark, Reading, SourceChange, moment
from dbt_ivm.sources.format import Row, impossible, mapping

FEED_PROPERTY = "delta.enableChangeDataFeed"

# Commits that leave every row and every data file as it was.
_METADATA = frozenset(
    {
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "ADD COLUMNS",
        "CHANGE COLUMN",
        "ADD CONSTRAINT",
        "DROP CONSTRAINT",
        "UPGRADE PROTOCOL",
        "COMPUTE STATS",
        "CLUSTER BY",
        "VACUUM START",
        "VACUUM END",
        "DROP FEATURE",
        "Empty Commit",
    }
)
# Commits that write the same rows into other files.
_REWRITES = frozenset({"OPTIMIZE", "REORG"})
# Commits after which columns may be called otherwise: what they name has other values then.
_COLUMNS = {"RENAME COLUMN": ("oldColumnPath", "newColumnPath"), "DROP COLUMNS": ("columns",)}
# Commits across which the change data feed can be read; others make Delta refuse, or may do so.
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
        "ADD COLUMNS",
        "ADD CONSTRAINT",
        "DROP CONSTRAINT",
        "COMPUTE STATS",
        "CLUSTER BY",
        "VACUUM START",
        "VACUUM END",
        "Empty Commit",
        *_REWRITES,
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


def classify(head: Head, mark: Mark | None, used: frozenset[str] | None) -> SourceChange:
    """How the changes since the mark can be read, where the model reads the columns `used`."""
    if mark is None:
        return impossible(head, mark, "is new to the model")
    if head.version == mark.version and head.id == mark.id:
        return SourceChange(head, mark, Reading.NOTHING)
    known = {commit.version: commit for commit in head.history}
    before = known.get(mark.version)
    same_history = before is not None and before.timestamp == mark.timestamp
    if head.version < mark.version or (head.id != mark.id and not same_history):
        return impossible(head, mark, "is another table now: dropped and recreated, or renamed")
    between = [known.get(version) for version in range(mark.version + 1, head.version + 1)]
    commits = [commit for commit in between if commit is not None]
    if len(commits) < len(between):
        return impossible(head, mark, f"has no history back to version {mark.version} any more")
    if head.id == mark.id and all(_is_nothing_to(used, commit) for commit in commits):
        return SourceChange(head, mark, Reading.NOTHING)
    if _needs_vacuumed_files(commits):
        return impossible(head, mark, f"was vacuumed of files that version {mark.version} needs")
    obstacle = _obstacle_to_feed(head, mark, commits)
    if obstacle:
        return SourceChange(head, mark, Reading.DIFFERENCE, obstacle)
    return SourceChange(head, mark, Reading.FEED)


def is_neutral(commit: Commit) -> bool:
    """Whether a commit left every row of an extent as it was, under the names it had."""
    return commit.operation in _METADATA or commit.operation in _REWRITES


def commit(row: Row) -> Commit:
    """A row of `DESCRIBE HISTORY`."""
    parameters = mapping(row["operationParameters"])
    metrics = mapping(row["operationMetrics"])
    return Commit(
        int(row["version"]),
        str(row["timestamp"]),
        row["operation"],
        row["userMetadata"],
        _changed_rows(row["operation"], parameters, metrics),
        parameters,
        metrics,
    )


def _is_nothing_to(used: frozenset[str] | None, commit: Commit) -> bool:
    """Whether the columns that are read have the rows they had before a commit."""
    if is_neutral(commit):
        return True
    if commit.operation in _COLUMNS:
        return used is not None and not used & _named_columns(commit)
    # An overwrite by nothing reports no row either; these three report what they removed.
    return commit.operation in ("MERGE", "UPDATE", "DELETE") and commit.rows == 0


def _named_columns(commit: Commit) -> frozenset[str]:
    """Top-level columns that a RENAME or DROP names, in lower case."""
    values = [commit.parameters.get(key) or "" for key in _COLUMNS[commit.operation]]
    paths = [p for v in values for p in (json.loads(v) if v.startswith("[") else [v])]
    # `a.b` is a field of `a`, but `a.b` in backticks is a column: both readings are named.
    whole = {path.replace("`", "").lower() for path in paths}
    return frozenset(whole | {path.split(".")[0] for path in whole})


def _obstacle_to_feed(head: Head, mark: Mark, commits: Iterable[Commit]) -> str:
    """Why the change data feed cannot be read from the mark on, or nothing."""
    if head.id != mark.id:
        return "the table was replaced"
    if not head.has_feed:
        return "the change data feed is off"
    for commit in commits:
        if "TBLPROPERTIES" in commit.operation:
            named = (commit.parameters.get("properties") or "").lower()
            if FEED_PROPERTY.lower() in named:
                return "the change data feed was off"
            if "delta.columnmapping" not in named:
                continue
        if commit.operation not in _FED:
            return f"{commit.operation} since the last refresh"
    return ""


def _needs_vacuumed_files(commits: list[Commit]) -> bool:
    """Whether a VACUUM among the commits removed files that reading across them needs.

    VACUUM removes what left the table before its horizon. An append needs no such file; every
    other commit has put files aside that the feed or the old version is read from.
    """
    horizons = [_horizon(c) for c in commits if c.operation == "VACUUM START"]
    aside = [c.timestamp for c in commits if not _only_adds(c)]
    return any(moment(put) < horizon for put in aside for horizon in horizons if horizon)


def _horizon(vacuum: Commit) -> datetime | None:
    if vacuum.metrics.get("numFilesToDelete") == "0":
        return None
    told = vacuum.parameters
    kept = told.get("specifiedRetentionMillis") or told.get("defaultRetentionMillis") or 0
    return moment(vacuum.timestamp) - timedelta(milliseconds=int(kept))


def _only_adds(commit: Commit) -> bool:
    appends = (commit.parameters.get("mode"), commit.parameters.get("outputMode"))
    return commit.operation in _METADATA or "Append" in appends


def _changed_rows(operation: str, parameters: Row, metrics: Row) -> int | None:
    """Rows that the change data feed of a commit holds."""
    if parameters.get("mode") == "Overwrite" or parameters.get("outputMode") == "Complete":
        return None  # Delta does not say how many rows went
    names = _FEED_ROWS.get(operation)
    if names is None or any(name not in metrics for name in names):
        return None
    return sum(int(metrics[name]) * factor for name, factor in names.items())
