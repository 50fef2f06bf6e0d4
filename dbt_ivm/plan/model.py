"""What a plan is made of: facts about one model, the plan, and its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.plan.cost import Estimates
from dbt_ivm.plan.settings import Settings
from dbt_ivm.plan.watermark import Types, Watermark
from dbt_ivm.sources.facts import Commit, Head, SourceChange
from dbt_ivm.sources.format import Trouble


class Strategy(Enum):
    """How a model is brought up to date."""

    NOOP = "noop"
    INCREMENTAL = "incremental"
    FULL = "full"


@dataclass(frozen=True)
class Docs:
    """Descriptions that `persist_docs` puts on the view."""

    relation: str | None = None
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Target:
    """What stands in the catalog under the model's names."""

    kind: str | None = None
    """`table`, `view`, or nothing yet."""
    extent: Head | None = None
    watermark: Watermark | None = None
    problem: str = ""
    """Why the extent cannot be built upon although it exists."""
    view: str | None = None
    """Hash of the statement that made the view, as the view itself carries it."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Table properties of the extent."""
    commit: Commit | None = None
    """The commit that the watermark came with."""


@dataclass(frozen=True)
class Facts:
    """Everything a refresh is planned from."""

    model: str
    view: TableName
    extent: TableName
    settings: Settings
    heads: dict[TableName, Head]
    types: Types
    target: Target
    full_refresh: bool = False
    setbacks: frozenset[Trouble] = frozenset()
    """What earlier attempts at this refresh ran into."""
    docs: Docs = field(default_factory=Docs)
    package: str = ""
    zone: str = ""
    """Time zone of the session."""
    began: str = ""
    """When this attempt began, as the histories of tables tell the time."""
    writer: str = ""
    """Name of this attempt, unique among all runs."""
    clock: int = 0
    """Milliseconds: the generation of a first build, so that a recreated extent repeats none."""


@dataclass(frozen=True)
class Step:
    """One statement. A step that commits carries the watermark and the idempotence token."""

    title: str
    sql: str
    commits: bool = False
    tidies: bool = False
    """Runs also where a step before it failed."""


@dataclass(frozen=True)
class RefreshPlan:
    """What a refresh will do and why; both the run and explain read it."""

    model: str
    strategy: Strategy
    reason: str
    steps: tuple[Step, ...]
    watermark: Watermark | None
    """What the committing step brings the extent to."""
    changes: tuple[SourceChange, ...]
    tree: tuple[str, ...]
    notes: tuple[str, ...] = ()
    reads: str = ""
    """What an incremental refresh reads: the changes alone, or sources as well."""
    refusal: str = ""
    """The construct that keeps the model from being maintained, if any."""
    estimates: Estimates | None = None
    """Seconds that a refresh and a rebuild should take, where both could be done."""
    doubts: tuple[str, ...] = ()
    """What the model asks that Spark may answer in more than one way."""
