"""Facts gathered from Spark: relations, heads of Delta tables, the state of an extent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.errors import IvmError, Unsupported
from dbt_ivm.names import KEY_PROPERTY, MODEL_PROPERTY
from dbt_ivm.plan.model import Target
from dbt_ivm.plan.watermark import Watermark, decode
from dbt_ivm.sources.delta import FEED_PROPERTY, is_neutral
from dbt_ivm.sources.facts import Commit, Head
from dbt_ivm.sql.catalog import ColumnFact, RelationFact, ViewFact
from dbt_ivm.sql.dialect import parse_table, render, table

Row = Mapping[str, Any]
Run = Callable[[str], list[Row]]

_HISTORY = 20
_SESSION_CATALOG = "spark_catalog"


class Pins:
    """What one dbt invocation has seen: every model of it sees the same state of a source."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.relations: dict[TableName, RelationFact] = {}
        self.details: dict[TableName, Row] = {}
        self.heads: dict[TableName, Head] = {}

    def forget(self, *names: TableName) -> None:
        """A relation was written by this invocation: whoever reads it next looks again."""
        with self.lock:
            for name in names:
                for known in (self.relations, self.details, self.heads):
                    known.pop(canonical(name), None)


def canonical(name: TableName) -> TableName:
    """Lower case, without the session catalog: Spark's names ignore case."""
    lowered = tuple(part.lower() for part in name)
    return lowered[1:] if len(lowered) == 3 and lowered[0] == _SESSION_CATALOG else lowered


class SparkFacts:
    """Looks facts up through one connection and remembers them for the invocation."""

    def __init__(self, run: Run, pins: Pins) -> None:
        self._run = run
        self._pins = pins

    def relation(self, name: TableName) -> RelationFact:
        """A table or view by name (the planner's `Catalog`)."""
        key = canonical(name)
        with self._pins.lock:
            if key not in self._pins.relations:
                self._pins.relations[key] = self._describe(key)
            return self._pins.relations[key]

    def head(self, name: TableName, since: int | None = None) -> Head:
        """The pinned head of a Delta table, with history back to version `since`.

        A pin older than `since` means another run has already brought the extent further.
        """
        key = canonical(name)
        with self._pins.lock:
            head = self._pins.heads.get(key)
            if head is None or (since is not None and since > head.version):
                detail = self._pinned_detail(key)
                if detail is None:
                    raise IvmError(f"{'.'.join(key)} is not a Delta table.")
                head = self._head_from(key, detail, self._history(key, _HISTORY))
            oldest = min((c.version for c in head.history), default=head.version)
            if since is not None and since < oldest and len(head.history) == _HISTORY:
                rest = self._history(key, head.version - since + _HISTORY)
                kept = tuple(c for c in rest if c.version <= head.version)
                head = Head(head.table, head.id, head.version, head.timestamp, head.has_feed, kept)
            self._pins.heads[key] = head
            return head

    def target(self, extent: TableName, kind: str | None, view: str | None, exists: bool) -> Target:
        """What stands under the model's names, and the watermark of its extent."""
        if not exists:
            return Target(kind, view=view)
        detail = self._detail(extent)
        if detail is None or MODEL_PROPERTY not in _mapping(detail["properties"]):
            raise IvmError(
                f"The table {'.'.join(extent)} exists and is not an extent of dbt-ivm;"
                " rename it, or give the model another alias."
            )
        head = self._head_from(canonical(extent), detail, self._history(extent, _HISTORY))
        watermark, problem = _last_state(head)
        if watermark is None and not problem and len(head.history) == _HISTORY:
            # Twenty commits of maintenance in a row: the watermark stands further back.
            complete = self._history(extent, head.version + 1)
            head = self._head_from(canonical(extent), detail, complete)
            watermark, problem = _last_state(head)
        return Target(kind, head, watermark, problem, view)

    def is_extent(self, name: TableName) -> bool:
        """Whether a table carries our mark."""
        detail = self._detail(name)
        return detail is not None and MODEL_PROPERTY in _mapping(detail["properties"])

    def last_commit(self, extent: TableName) -> tuple[Watermark | None, Mapping[str, Any]]:
        """The newest commit of an extent: its watermark and metrics."""
        row = self._run(f"DESCRIBE HISTORY {_sql(extent)} LIMIT 1")[0]
        return decode(row["userMetadata"]), _mapping(row["operationMetrics"])

    def columns(self, query: str) -> tuple[ColumnFact, ...]:
        """Names and types of a query's result, without running it."""
        rows = self._run(f"DESCRIBE QUERY {query}")
        return tuple(ColumnFact(row["col_name"], row["data_type"]) for row in rows)

    def _describe(self, name: TableName) -> RelationFact:
        rows = self._run(f"DESCRIBE TABLE EXTENDED {_sql(name)}")
        columns: list[ColumnFact] = []
        for row in rows:
            if not row["col_name"] or row["col_name"].startswith("#"):
                break
            columns.append(ColumnFact(row["col_name"], row["data_type"]))
        details = {row["col_name"]: row["data_type"] for row in rows[len(columns) :]}
        if details.get("Type") == "VIEW":
            return RelationFact(name, tuple(columns), "view", _view(details, len(columns)))
        provider = (details.get("Provider") or "").lower()
        if provider != "delta":
            raise Unsupported(
                f"`{'.'.join(name)}` ({provider or 'a temporary view'}), which keeps no versions,"
            )
        detail = self._pinned_detail(name)
        key = _mapping(detail["properties"]).get(KEY_PROPERTY) if detail else None
        unique = tuple(json.loads(key)) if key else None
        return RelationFact(name, tuple(columns), provider, unique=unique)

    def _pinned_detail(self, name: TableName) -> Row | None:
        """Identity and properties of a source, read once per invocation."""
        if name not in self._pins.details:
            detail = self._detail(name)
            if detail is None:
                return None
            self._pins.details[name] = detail
        return self._pins.details[name]

    def _head_from(self, name: TableName, detail: Row, history: tuple[Commit, ...]) -> Head:
        newest = history[0]
        feed = _mapping(detail["properties"]).get(FEED_PROPERTY, "false")
        return Head(name, detail["id"], newest.version, newest.timestamp, feed == "true", history)

    def _detail(self, name: TableName) -> Row | None:
        rows = self._run(f"DESCRIBE DETAIL {_sql(name)}")
        return rows[0] if rows and rows[0]["format"] == "delta" else None

    def _history(self, name: TableName, limit: int) -> tuple[Commit, ...]:
        rows = self._run(f"DESCRIBE HISTORY {_sql(name)} LIMIT {int(limit)}")
        return tuple(_commit(row) for row in rows)


def _last_state(head: Head) -> tuple[Watermark | None, str]:
    """The watermark of the newest commit that changed rows; a foreign one is a problem."""
    for commit in head.history:
        watermark = decode(commit.metadata)
        if watermark is not None:
            return watermark, ""
        if not is_neutral(commit):
            return None, f"the extent was changed by {commit.operation} outside dbt-ivm"
    return None, ""


def _commit(row: Row) -> Commit:
    return Commit(
        int(row["version"]),
        str(row["timestamp"]),
        row["operation"],
        row["userMetadata"],
        _changed_rows(row),
    )


def _changed_rows(row: Row) -> int | None:
    """Rows that the change data feed of a commit holds: an update counts twice."""
    metrics, operation = _mapping(row["operationMetrics"]), row["operation"]
    if _mapping(row["operationParameters"]).get("mode") == "Overwrite":
        return None  # Delta does not say how many rows went
    names = {
        "WRITE": (("numOutputRows", 1),),
        "STREAMING UPDATE": (("numOutputRows", 1),),
        "DELETE": (("numDeletedRows", 1),),
        "UPDATE": (("numUpdatedRows", 2),),
        "MERGE": (
            ("numTargetRowsInserted", 1),
            ("numTargetRowsDeleted", 1),
            ("numTargetRowsUpdated", 2),
        ),
    }.get(operation)
    if names is None or any(name not in metrics for name, _ in names):
        return None
    return sum(int(metrics[name]) * factor for name, factor in names)


def _view(details: Mapping[str, str], width: int) -> ViewFact:
    listed = details.get("View Query Output Columns", "").strip()[1:-1]
    columns = tuple(part.strip().strip("`") for part in listed.split(",")) if listed else ()
    if len(columns) != width:  # a name with a comma in it: columns are then matched by position
        columns = ()
    namespace = parse_table(details.get("View Catalog and Namespace") or _SESSION_CATALOG)
    return ViewFact(details["View Text"], columns, canonical((*namespace, ""))[:-1])


def _mapping(value: Any) -> dict[str, str]:
    """A map column: a dict in process, JSON text over Thrift."""
    if isinstance(value, str):
        value = json.loads(value)
    return dict(value or {})


def _sql(name: TableName) -> str:
    return render(table(name), pretty=False)
