"""The dbt project on each of its sides: full refresh, maintained, hand-written merge."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter
from typing import Any

from dbt.cli.main import dbtRunner

from benchmarks.changes import Range
from benchmarks.planning import Phases, phases
from benchmarks.spark import Meter, Work

PROJECT = Path(__file__).with_name("project")
MERGE = "_merge"
"""A hand-written model is named after the model it stands for, with this at the end."""

_REPORTED = ("ivm_strategy", "ivm_reason", "statements", "rows_affected")


@dataclass
class ModelRun:
    """One model in one run; `work` is known where models run one at a time."""

    seconds: float
    work: Work | None = None
    response: dict[str, Any] = field(default_factory=dict)
    phases: Phases | None = None

    @property
    def strategy(self) -> str:
        return str(self.response.get("ivm_strategy", ""))


@dataclass
class SideRun:
    """One `dbt run` of a side: wall time from the command to its end, and each model of it."""

    seconds: float
    work: Work
    models: dict[str, ModelRun]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Project:
    """dbt in this process, on the Spark that runs in it; every side has folders of its own."""

    def __init__(self, folder: Path, meter: Meter, threads: int, models: tuple[str, ...]) -> None:
        self._folder, self._meter, self._threads = folder, meter, threads
        self.models = models or tuple(sorted(_files("marts") + _files("tpch")))
        unknown = sorted(set(self.models) - set(_files("marts") + _files("tpch")))
        if unknown:
            raise SystemExit(f"No such model in {PROJECT}: {', '.join(unknown)}")
        written = [name.removesuffix(MERGE) for name in _files("incremental")]
        self.merged = tuple(name for name in written if name in self.models)

    def run(self, side: str, changes: dict[str, Range] | None = None, *more: str) -> SideRun:
        """`dbt run` of one side, measured; `changes` is what the hand-written models are told."""
        selected = [f"+{name}" for name in self.models]
        if side == "incremental":
            selected = [f"+{name}{MERGE}" for name in self.merged]
            more = (*more, "--vars", json.dumps({"changes": changes or {}}))
        if not selected:
            return SideRun(0.0, Work(), {})
        self._meter.skip()
        started = perf_counter()
        with phases() as timed:
            results = self.dbt(side, "run", "--select", *selected, *more)
        seconds = perf_counter() - started
        self._meter.read()
        wanted = [r for r in results if r.node.name.removesuffix(MERGE) in self.models]
        runs = {r.node.name.removesuffix(MERGE): self._model_run(r, timed) for r in wanted}
        return SideRun(seconds, self._meter.total(), runs)

    def dbt(self, side: str, *arguments: str) -> list[Any]:
        """A dbt command on a side; its failure is the end of the benchmark."""
        target = self._folder / side
        places = ["--project-dir", PROJECT, "--profiles-dir", PROJECT, "--target", side]
        places += ["--target-path", target, "--log-path", target, "--threads", self._threads]
        outcome = dbtRunner().invoke([*arguments, *map(str, places), "--quiet"])
        results: list[Any] = list(getattr(outcome.result, "results", ()))
        if not outcome.success:
            failed = [f"{r.node.name}: {r.message}" for r in results if r.status == "error"]
            raise SystemExit(f"dbt {arguments[0]} of {side} failed: {outcome.exception} {failed}")
        return results

    def _model_run(self, result: Any, timed: dict[str, Phases]) -> ModelRun:
        said = result.adapter_response
        return ModelRun(
            seconds=result.execution_time,
            work=self._work(result) if self._threads == 1 else None,
            response={k: v for k, v in said.items() if k in _REPORTED or k.startswith("ivm_")},
            phases=timed.get(result.node.name),
        )

    def _work(self, result: Any) -> Work:
        spans = [t for t in result.timing if t.name == "execute"]
        return self._meter.between(_utc(spans[0].started_at), _utc(spans[0].completed_at))


def _files(folder: str) -> list[str]:
    return [path.stem for path in (PROJECT / "models" / folder).glob("*.sql")]


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
