"""Where the time of a refresh goes: planning, looking up facts, applying."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from unittest.mock import patch

from dbt_ivm.adapter import impl
from dbt_ivm.adapter.runner import Outcome, Request, Runner
from dbt_ivm.plan.model import RefreshPlan
from dbt_ivm.sources.format import Row


@dataclass
class Phases:
    """Seconds of one refresh, by what they were spent on."""

    planning: float = 0.0
    """Pure Python: parse, algebra, delta rules, SQL."""
    facts: float = 0.0
    """Statements that look up versions, types and what exists."""
    applying: float = 0.0
    """Statements that write, and the look at the commit after them."""


@contextmanager
def phases() -> Iterator[dict[str, Phases]]:
    """Refreshes in this block are timed; the result fills up as they finish, by model name."""
    seen: dict[str, Phases] = {}

    class Timed(Runner):
        """The runner with a stopwatch; dbt-ivm makes one per refresh."""

        planning = False

        def refresh(self, request: Request) -> Outcome:
            self.phases = seen[request.model.split(".")[-1]] = Phases()
            return super().refresh(request)

        def plan(self, request: Request) -> RefreshPlan:
            self.planning = True
            started, facts = perf_counter(), self.phases.facts
            try:
                return super().plan(request)
            finally:
                self.planning = False
                asked = self.phases.facts - facts
                self.phases.planning += perf_counter() - started - asked

        def _run(self, sql: str) -> list[Row]:
            started = perf_counter()
            try:
                return super()._run(sql)
            finally:
                spent = perf_counter() - started
                if self.planning:
                    self.phases.facts += spent
                else:
                    self.phases.applying += spent

    with patch.object(impl, "Runner", Timed):
        yield seen
