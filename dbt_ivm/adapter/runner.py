"""One refresh: gather facts, plan, apply, and try again when another run was faster."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from dbt_common.exceptions import DbtRuntimeError

from dbt_ivm import __version__
from dbt_ivm.adapter.spark_facts import Pins, SparkFacts
from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.errors import IvmError
from dbt_ivm.plan.analysis import Analysis, analyze
from dbt_ivm.plan.model import Docs, Facts, RefreshPlan, Step, Strategy, Target
from dbt_ivm.plan.refresh import plan_refresh
from dbt_ivm.plan.settings import Settings
from dbt_ivm.plan.watermark import Types, Watermark
from dbt_ivm.sources.facts import Counts, Head
from dbt_ivm.sources.format import Row, TableFormat, Trouble
from dbt_ivm.sources.formats import FORMATS, changed_rows
from dbt_ivm.sql.dialect import render

_ATTEMPTS = 5
# Words of Spark about a broadcast that we asked for and that does not fit.
_TOO_LARGE = (
    "CANNOT_BROADCAST_TABLE",
    "Cannot broadcast the table",
    "build and broadcast the table",
    "spark.driver.maxResultSize",
)
_REPLACED_BY_OTHERS = ("TABLE_OR_VIEW_NOT_FOUND", "TABLE_OR_VIEW_ALREADY_EXISTS", "AlreadyExists")


class Session(Protocol):
    """What the runner needs of a connection."""

    def run(self, sql: str) -> list[Row]: ...

    def settings(self, values: Mapping[str, str]) -> AbstractContextManager[None]: ...


@dataclass(frozen=True)
class Request:
    """A model to refresh, as dbt hands it over."""

    model: str
    sql: str
    view: TableName
    extent: TableName
    settings: Settings
    kind: str | None
    view_hash: str | None
    extent_exists: bool
    full_refresh: bool
    docs: Docs
    setbacks: frozenset[Trouble] = frozenset()
    """What earlier attempts at this refresh ran into."""


@dataclass
class Outcome:
    """What a refresh did, for dbt's log line and `run_results.json`."""

    plan: RefreshPlan
    counts: Counts = field(default_factory=Counts)
    rows_read: int | None = None
    statements: int = 0


class Runner:
    """Plans and applies refreshes through one connection."""

    def __init__(self, session: Session, pins: Pins) -> None:
        self._session = session
        self._pins = pins
        self._statements = 0
        self.facts = SparkFacts(self._run, pins)

    def _run(self, sql: str) -> list[Row]:
        self._statements += 1
        return self._session.run(sql)

    def target(self, request: Request) -> Target:
        """What stands under the names of a model right now."""
        return self.facts.target(
            request.extent, request.kind, request.view_hash, request.extent_exists
        )

    def plan(self, request: Request) -> RefreshPlan:
        """The plan of a refresh at the pinned heads; writes nothing."""
        analysis = self.analyze(request)
        target = self.target(request)
        return plan_refresh(analysis, self.gather(request, analysis, target), self.facts)

    def analyze(self, request: Request) -> Analysis:
        """The model's SQL as the planner sees it."""
        return analyze(request.sql, self.facts, request.settings.functions)

    def refresh(self, request: Request) -> Outcome:
        """Bring a model to the pinned heads, exactly once whoever else does the same."""
        for attempt in range(_ATTEMPTS):
            outcome = Outcome(self.plan(request))
            trouble = self._apply(outcome, request)
            if trouble is None:
                return outcome
            request = _after(request, trouble)
            time.sleep(0.2 * attempt)
        raise _overtaken(request)

    def apply(self, plan: RefreshPlan, request: Request) -> Outcome:
        """Run a plan that cannot be made anew; an error where another run was faster."""
        outcome = Outcome(plan)
        if self._apply(outcome, request) is not None:
            raise _overtaken(request)
        return outcome

    def build_unmarked(self, request: Request) -> Outcome:
        """For --empty and --sample: check the SQL, and build only what does not exist yet.

        Whatever is built carries no watermark, so the next ordinary run rebuilds it.
        """
        outputs = self.facts.columns(request.sql)
        target = self.target(request)
        analysis = Analysis(request.sql, None, "a run with --empty or --sample", None, True, "", "")
        facts = Facts(
            model=request.model,
            view=request.view,
            extent=request.extent,
            settings=request.settings,
            heads={},
            types=Types((), outputs),
            target=target,
            docs=request.docs,
        )
        plan = plan_refresh(analysis, facts, self.facts)
        if target.watermark is not None:
            kept = "left as it is by --empty or --sample"
            plan = RefreshPlan(request.model, Strategy.NOOP, kept, (), None, (), ())
        for step in plan.steps:
            self._run(step.sql)
        self._pins.forget(request.view, request.extent)
        return Outcome(plan, statements=self._statements)

    def gather(self, request: Request, analysis: Analysis, target: Target) -> Facts:
        """Everything a refresh is planned from."""
        watermark = target.watermark
        # The shape of a query without a rule is its text, which says nothing about its columns.
        known = (
            watermark is not None
            and analysis.maintainable is not None
            and watermark.shape == analysis.shape
        )
        return Facts(
            model=request.model,
            view=request.view,
            extent=request.extent,
            settings=request.settings,
            heads=self.heads(analysis, watermark),
            types=watermark.types if watermark and known else self._types(analysis),
            target=target,
            full_refresh=request.full_refresh,
            setbacks=request.setbacks,
            docs=request.docs,
            package=__version__,
            zone=self.facts.zone(),
            began=self.facts.now(),
            writer=uuid.uuid4().hex,
            clock=int(time.time() * 1000),
        )

    def heads(self, analysis: Analysis, watermark: Watermark | None) -> dict[TableName, Head]:
        """Where the sources of a model stand, with their history back to the watermark."""
        marks = {mark.table: mark.version for mark in watermark.marks} if watermark else {}
        return {name: self.facts.head(name, marks.get(name)) for name in analysis.tables or ()}

    def _types(self, analysis: Analysis) -> Types:
        """Spark's own types, asked once per definition; wrong SQL fails here, before any write."""
        outputs = self.facts.columns(analysis.sql)
        probe = analysis.probe()
        return Types(self.facts.columns(render(probe)) if probe else (), outputs)

    def _apply(self, outcome: Outcome, request: Request) -> Trouble | None:
        """Run the steps of the plan; where one meets trouble, planning must start over."""
        plan = outcome.plan
        form = FORMATS[request.settings.file_format]
        last = max((n for n, step in enumerate(plan.steps) if step.commits), default=None)
        try:
            for number, step in enumerate(plan.steps):
                if step.tidies:
                    continue
                if not step.commits or plan.watermark is None:
                    self._repeatable(step, form)
                    continue
                rows, trouble = self._send(step, form, plan, request)
                if trouble is None and number == last:
                    trouble = self._verify(form, plan.watermark, request, outcome, rows)
                if trouble is not None:
                    return trouble
        finally:
            self._tidy(plan)
        self._pins.forget(request.view, request.extent)
        outcome.rows_read = _rows_read(plan)
        outcome.statements = self._statements
        return None

    def _tidy(self, plan: RefreshPlan) -> None:
        """Let go of what was kept for the refresh; if that fails it goes with the session."""
        for step in plan.steps:
            if step.tidies:
                with suppress(DbtRuntimeError):
                    self._run(step.sql)

    def _repeatable(self, step: Step, form: TableFormat, attempts: int = _ATTEMPTS) -> list[Row]:
        """A statement that may be sent again: the table was busy, or a view not there.

        Spark replaces a view by dropping and creating it, so two runs that do so at the same time
        can find it gone or there again in between.
        """
        try:
            return self._run(step.sql)
        except DbtRuntimeError as error:
            busy = form.trouble(str(error)) is Trouble.BUSY
            replaced = not step.commits and any(s in str(error) for s in _REPLACED_BY_OTHERS)
            if attempts == 1 or not (busy or replaced):
                raise
        time.sleep(0.2)
        return self._repeatable(step, form, attempts - 1)

    def _send(
        self, step: Step, form: TableFormat, plan: RefreshPlan, request: Request
    ) -> tuple[list[Row], Trouble | None]:
        """A step that commits, under the settings that mark its commit."""
        if plan.watermark is None:
            raise AssertionError("a plan that commits has a watermark")
        settings = form.commit_settings(plan.watermark.encode(), plan.watermark.generation)
        if plan.strategy is Strategy.INCREMENTAL:
            settings |= form.upkeep_settings(dict(request.settings.properties))
        try:
            with self._session.settings(settings):
                return self._repeatable(step, form), None
        except DbtRuntimeError as error:
            trouble = _trouble(plan, form, str(error))
            if trouble is None or trouble in request.setbacks - {Trouble.CONFLICT}:
                raise
            return [], trouble

    def _verify(
        self,
        form: TableFormat,
        watermark: Watermark,
        request: Request,
        outcome: Outcome,
        rows: list[Row],
    ) -> Trouble | None:
        """Whether the commit is there; one that says nothing may have been skipped."""
        counts = form.counts(rows)
        if counts is None:
            counts = form.committed(self.facts.ask, request.extent, watermark.encode())
        if counts is None:
            return Trouble.CONFLICT
        outcome.counts = counts
        return None


def _overtaken(request: Request) -> IvmError:
    return IvmError(
        f"Model {request.model}: other runs kept changing {'.'.join(request.extent)};"
        " let them finish and run again."
    )


def _trouble(plan: RefreshPlan, extent: TableFormat, message: str) -> Trouble | None:
    """What an error means to Spark, or to the formats that take part in a refresh."""
    if any(sign in message for sign in _TOO_LARGE):
        return Trouble.TOO_LARGE
    formats = [change.head.format for change in plan.changes]
    forms = (extent, *(FORMATS[name] for name in formats if name in FORMATS))
    found = (form.trouble(message) for form in forms)
    return next((trouble for trouble in found if trouble is not None), None)


def _rows_read(plan: RefreshPlan) -> int | None:
    """Changed rows that the refresh reads, where every commit in the range tells its number."""
    if plan.strategy is Strategy.FULL:
        return None
    rows = [changed_rows(change) for change in plan.changes]
    return None if None in rows else sum(r for r in rows if r is not None)


def _after(request: Request, trouble: Trouble) -> Request:
    """The extent exists after a lost race; what --full-refresh asked for is done or redone."""
    exists = request.extent_exists or trouble is Trouble.CONFLICT
    return replace(request, extent_exists=exists, setbacks=request.setbacks | {trouble})
