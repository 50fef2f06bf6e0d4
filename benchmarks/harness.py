"""One run: the same Spark, the same data, the same changes, one side after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import changes, check, data
from benchmarks.changes import Batch, Range
from benchmarks.floor import SCHEMA as FLOOR_SCHEMA
from benchmarks.floor import Floor
from benchmarks.settings import Options, machine, spark_settings, versions
from benchmarks.sides import MERGE, Project, SideRun
from benchmarks.spark import Meter

SOURCES = "tpch"
SCHEMAS = {side: f"bench_{side}" for side in ("table", "ivm", "incremental")}
SCHEMAS["floor"] = FLOOR_SCHEMA


def measure(
    spark: SparkSession, options: Options, folder: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """Everything the report is made from."""
    result: dict[str, Any] = {
        "started": time.strftime("%Y-%m-%d %H:%M"),
        "machine": machine(),
        "versions": versions(spark),
        "spark": spark_settings(spark),
        "options": asdict(options),
        "scales": [],
    }
    for scale in options.scales:
        result["scales"].append(_Scale(spark, options, folder, scale, say).measure())
    return result


class _Scale:
    """All cases at one scale factor, on tables made for it."""

    def __init__(
        self,
        spark: SparkSession,
        options: Options,
        folder: Path,
        scale: float,
        say: Callable[[str], None],
    ) -> None:
        self._spark, self._options, self._scale = spark, options, scale
        self._files = data.generate(scale, folder / "data")
        self._say: Callable[[str], None] = lambda text: say(f"sf {scale:g}: {text}")
        self._folder = folder / f"dbt-sf{scale:g}"
        self._meter = Meter(spark)
        self._project = Project(self._folder, self._meter, options.threads, options.models)
        self._floor = Floor(spark, self._meter, SOURCES, self._project.models)
        self._rows: dict[str, int] = {}

    def measure(self) -> dict[str, Any]:
        for schema in SCHEMAS.values():
            self._spark.sql(f"drop schema if exists {schema} cascade")
        self._rows = data.load(self._spark, self._files, SOURCES)
        built = self._build()
        orders = self._options.changes(self._scale, self._rows["orders"])
        if self._options.warm_up:
            smallest = min(n for n in (*orders, self._options.growth_orders) if n)
            self._case(Batch(1, smallest, self._options.seed), turn=0)
        number, cases = 1, []
        for repeat in range(self._options.repeats):
            for wanted in orders:
                number += 1
                batch = Batch(number, wanted, self._options.seed)
                cases.append({"repeat": repeat, **self._case(batch, turn=repeat)})
        return {"scale": self._scale, "rows": self._rows, "first_build": built, "cases": cases}

    def _build(self) -> dict[str, Any]:
        """Every side from nothing; this also warms up the JVM for all of them."""
        built = {}
        for side in self._options.sides:
            if side == "floor":
                self._floor.build(self._compiled())
                continue
            built[side] = self._project.run(side).to_json()
            self._say(f"{side} built in {built[side]['seconds']:.1f} s")
        return built

    def _compiled(self) -> dict[str, str]:
        folder = self._folder / "table/compiled/tpch_bench/models/marts"
        return {name: (folder / f"{name}.sql").read_text() for name in self._floor.models}

    def _case(self, batch: Batch, turn: int) -> dict[str, Any]:
        """Change the sources, refresh every side, the first one another at each turn, compare."""
        ranges: dict[str, Range] = {}
        if batch.orders:
            ranges = changes.apply(self._spark, SOURCES, self._rows, batch)
        changed = changes.changed_rows(self._spark, SOURCES, ranges)
        self._say(f"batch {batch.number}, {batch.orders} orders: {sum(changed.values())} rows")
        sides = self._options.sides
        runs: dict[str, SideRun] = {}
        for side in (*sides[turn % len(sides) :], *sides[: turn % len(sides)]):
            floor = side == "floor"
            runs[side] = self._floor.run(ranges) if floor else self._project.run(side, ranges)
            self._say(f"  {side} {runs[side].seconds:.1f} s")
        return {
            "orders": batch.orders,
            "fraction": batch.orders / self._rows["orders"],
            "changed": changed,
            "sides": {side: run.to_json() for side, run in runs.items()},
            "differences": self._differences(runs),
        }

    def _differences(self, runs: dict[str, SideRun]) -> dict[str, dict[str, int]]:
        """Rows in which each side differs from full refresh; only merges may differ at all."""
        found: dict[str, dict[str, int]] = {}
        for side, run in runs.items():
            if side == "table" or "table" not in runs:
                continue
            suffix = MERGE if side == "incremental" else ""
            found[side] = {
                model: check.differences(
                    self._spark,
                    f"{SCHEMAS[side]}.{model}{suffix}",
                    f"{SCHEMAS['table']}.{model}",
                )
                for model in run.models
            }
            wrong = {m: n for m, n in found[side].items() if n}
            if wrong and side != "incremental":
                raise SystemExit(f"{side} differs from full refresh, rows per model: {wrong}")
        return found
