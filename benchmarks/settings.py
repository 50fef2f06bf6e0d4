"""What is measured, and on what: the options of a run, and the machine it ran on."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from pyspark.sql import SparkSession

SIDES = ("table", "ivm", "incremental", "floor")
_PACKAGES = ("dbt-ivm", "dbt-core", "dbt-spark", "pyspark", "sqlglot", "tpchgen-cli")
_SHOWN = (
    "spark.master",
    "spark.driver.memory",
    "spark.jars.packages",
    "spark.sql.shuffle.partitions",
    "spark.sql.adaptive.enabled",
    "spark.sql.ansi.enabled",
    "spark.databricks.delta.snapshotPartitions",
)


@dataclass(frozen=True)
class Options:
    """One run of the benchmark."""

    scale: float = 1.0
    fractions: tuple[float, ...] = (0.0, 0.0001, 0.001, 0.01, 0.1)
    """Orders changed between two refreshes, as a share of all; 0 is the run without a change."""
    growth: tuple[float, ...] = ()
    """Scale factors over which one and the same change is measured."""
    growth_orders: int = 1500
    """Orders in that change."""
    repeats: int = 3
    warm_up: bool = True
    """Whether a first refresh, which compiles what later ones reuse, is made and not counted."""
    threads: int = 1
    models: tuple[str, ...] = ()
    """Models to measure, with what they refer to; empty means all."""
    sides: tuple[str, ...] = SIDES
    seed: int = 1
    start_up: bool = True

    def __post_init__(self) -> None:
        unknown = set(self.sides) - set(SIDES)
        if unknown or not {"table", "ivm"} <= set(self.sides):
            raise SystemExit(f"Sides are {', '.join(SIDES)}; the first two are always needed.")

    @property
    def scales(self) -> tuple[float, ...]:
        return tuple(sorted({*self.growth, *((self.scale,) if self.fractions else ())}))

    def changes(self, scale: float, orders: int) -> list[int]:
        """Orders to change at a scale, smallest first; 0 for the run without a change."""
        wanted = {self.growth_orders} if scale in self.growth else set()
        if scale == self.scale:
            wanted |= {round(fraction * orders) for fraction in self.fractions}
        return sorted(wanted)


def machine() -> dict[str, str]:
    """Processor, memory and system, as far as a Linux says."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _cpu_model(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "load at start": f"{os.getloadavg()[0]:.1f}",
    }


def versions(spark: SparkSession) -> dict[str, str]:
    """Everything whose release may matter."""
    java = spark.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]
    packages = {name: version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), "java": str(java), **packages}


def spark_settings(spark: SparkSession) -> dict[str, str]:
    """The settings of Spark that a reader would ask for."""
    found = {name: spark.conf.get(name, None) for name in _SHOWN}
    return {name: value for name, value in found.items() if value is not None}


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
