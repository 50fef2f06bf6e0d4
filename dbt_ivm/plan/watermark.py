"""The watermark: what an extent's commit says about the state it brought the extent to."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from dbt_ivm.plan.cost import Cost, Costs, Effort
from dbt_ivm.sources.facts import Mark
from dbt_ivm.sql.catalog import ColumnFact

STATE_FORMAT = 1
"""Raised when the meaning of stored state changes; older extents are then rebuilt."""


@dataclass(frozen=True)
class Types:
    """Types that Spark derived when the extent was built; they hold while the plan does."""

    inputs: tuple[ColumnFact, ...]
    """Keys and first arguments of aggregates, or the columns of a bag."""
    outputs: tuple[ColumnFact, ...]
    """The model's own columns."""

    def input(self, name: str) -> str:
        return next((c.type for c in self.inputs if c.name == name), "")


@dataclass(frozen=True)
class Watermark:
    """Travels in the commit metadata of the extent, beside the change it describes."""

    generation: int
    fingerprint: str
    shape: str
    """Of the whole query: the types below hold while it stays the same."""
    marks: tuple[Mark, ...]
    types: Types
    package: str
    writer: str = ""
    """Unique per attempt: tells a resent commit of our own from that of a run alike."""
    zone: str = ""
    """Time zone of the session that computed the rows; an input of `hour(t)` and its like."""
    effort: Effort | None = None
    """What this commit is about to do."""
    costs: Costs = field(default_factory=Costs)
    """What the commits before it took."""
    format: int = STATE_FORMAT

    def mark(self, table: tuple[str, ...]) -> Mark | None:
        return next((mark for mark in self.marks if mark.table == table), None)

    def encode(self) -> str:
        """Base64 of JSON: safe inside SET whatever the names contain."""
        text = json.dumps({"dbt_ivm": asdict(self)}, separators=(",", ":"))
        return base64.b64encode(text.encode()).decode()


def decode(metadata: str | None) -> Watermark | None:
    """The watermark in a commit's metadata, or None where the commit is not ours to read."""
    data = dict(_content(metadata))
    try:
        marks = tuple(Mark(**{**m, "table": tuple(m["table"])}) for m in data.pop("marks"))
        types = data.pop("types")
        inputs = tuple(ColumnFact(**c) for c in types["inputs"])
        outputs = tuple(ColumnFact(**c) for c in types["outputs"])
        effort, costs = data.pop("effort", None), data.pop("costs", {})
        known = {name: Cost(**cost) for name, cost in costs.items() if cost}
        return Watermark(
            marks=marks,
            types=Types(inputs, outputs),
            effort=Effort(**effort) if effort else None,
            costs=Costs(**known),
            **data,
        )
    except (KeyError, TypeError):
        return None


def package_of(metadata: str | None) -> str | None:
    """The release of dbt-ivm that made a commit, also where its watermark is not understood."""
    package = _content(metadata).get("package")
    return str(package) if package is not None else None


def _content(metadata: str | None) -> dict[str, Any]:
    try:
        data = json.loads(base64.b64decode(metadata or "", validate=True))["dbt_ivm"]
    except (ValueError, KeyError, TypeError, binascii.Error):
        return {}
    return data if isinstance(data, dict) else {}
