"""Plans for the pages: tables in a dict, every model at version 3 of its sources, no database."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.names import CLOCK
from dbt_ivm.plan.analysis import Analysis, analyze
from dbt_ivm.plan.model import Facts, RefreshPlan, Target
from dbt_ivm.plan.refresh import plan_refresh
from dbt_ivm.plan.settings import Settings
from dbt_ivm.plan.watermark import Watermark
from dbt_ivm.sources.clock import Clock
from dbt_ivm.sources.facts import Commit, Head, Mark
from dbt_ivm.sql.catalog import RelationFact
from tests.planner.facts import columns, types_of

OLD, NEW = 3, 5
EXTENT = ("shop", "m__ivm")
APPLY = "apply the change"


@dataclass(frozen=True)
class Tables:
    """A catalog: per table its columns as text."""

    texts: dict[str, str]

    def relation(self, name: TableName) -> RelationFact:
        return RelationFact(("shop", name[-1]), columns(self.texts[name[-1]]))


@dataclass(frozen=True)
class Planned:
    """A model and the plan of its next refresh."""

    analysis: Analysis
    facts: Facts
    plan: RefreshPlan

    def step(self, title: str) -> str:
        """The statement of one step."""
        return next(step.sql for step in self.plan.steps if step.title == title)


def planned(
    sql: str,
    tables: Tables,
    changed: frozenset[str] | None = None,
    outputs: str = "",
    built: bool = True,
) -> Planned:
    """The plan of a model built at version 3; the changed sources (None: all) stand at 5 by now.

    `outputs` are the types of the model's columns, where they matter to what is shown.
    """
    settings = Settings()
    analysis = analyze(sql, tables, settings.functions)
    names = analysis.tables or ()
    types = types_of(analysis, columns(outputs) if outputs else ())
    watermark = Watermark(
        generation=1,
        fingerprint=analysis.fingerprint,
        shape=analysis.shape,
        marks=tuple(Mark(name, "id", OLD, "") for name in names),
        types=types,
        package="",
    )
    facts = Facts(
        model="model.shop.m",
        view=("shop", "m"),
        extent=EXTENT,
        settings=settings,
        heads={name: _head(name, changed) for name in names},
        types=types,
        target=Target("view", Head(EXTENT, "id", 1, "", True), watermark) if built else Target(),
    )
    return Planned(analysis, facts, plan_refresh(analysis, facts, tables))


def _head(name: TableName, changed: frozenset[str] | None) -> Head:
    moved = changed is None or name[-1] in changed
    if name[0] == CLOCK:
        return Clock().head(name[-1], NEW if moved else OLD)
    commits = tuple(Commit(version, "", "WRITE") for version in range(OLD + 1, NEW + 1))
    return Head(name, "id", NEW if moved else OLD, "", True, commits)
