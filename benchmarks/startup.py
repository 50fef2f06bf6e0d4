"""What dbt itself takes to start on this project: `type: ivm` beside `type: spark`.

Each figure is a process of its own. The Spark of dbt-spark gets the same settings as the local
Spark of dbt-ivm, from a `spark-defaults.conf`.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import yaml

from benchmarks import data
from benchmarks.sides import PROJECT
from benchmarks.spark import start
from dbt_ivm.adapter import embedded

_SCALE = 0.001
_COMMANDS = {
    "parse": ("parse",),
    "run": ("run", "--select", "stg_customers"),
}


def measure(
    folder: Path, repeats: int, say: Callable[[str], None]
) -> dict[str, dict[str, list[float]]]:
    """Seconds per command and adapter type, in the order measured, sides alternating."""
    place = folder / "start-up"
    _in_another_process(place, data.generate(_SCALE, folder / "data"))
    _write_profile(place)
    seconds: dict[str, dict[str, list[float]]] = {}
    for command, arguments in _COMMANDS.items():
        seconds[command] = {"ivm": [], "spark": []}
        for repeat in range(repeats + 1):
            for kind, found in seconds[command].items():
                taken = _dbt(place, kind, arguments)
                # The first one parses the whole project and fills the caches of the system.
                found += [taken] if repeat else []
                say(f"dbt {command}, type: {kind}: {taken:.1f} s")
    return seconds


def _dbt(place: Path, kind: str, arguments: tuple[str, ...]) -> float:
    target = place / kind
    places = ["--project-dir", PROJECT, "--profiles-dir", place, "--target", kind]
    places += ["--target-path", target, "--log-path", target]
    command = [Path(sys.executable).with_name("dbt"), *arguments, *places, "--quiet"]
    environment = {**os.environ, "SPARK_CONF_DIR": str(place / "conf")}
    started = perf_counter()
    # dbt-spark's Spark keeps its metastore where it is started.
    subprocess.run([str(c) for c in command], check=True, env=environment, cwd=place)
    return perf_counter() - started


def _write_profile(place: Path) -> None:
    common = {"method": "session", "schema": "start_up", "threads": 1}
    outputs = {
        "ivm": {"type": "ivm", "local_dir": str(place / "spark"), **common},
        "spark": {"type": "spark", "host": "local", **common},
    }
    profile = {"tpch_bench": {"target": "ivm", "outputs": outputs}}
    (place / "profiles.yml").write_text(yaml.safe_dump(profile))
    settings = embedded.default_settings(place / "spark")
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (place / "conf").mkdir(exist_ok=True)
    (place / "conf/spark-defaults.conf").write_text("".join(lines))


def _in_another_process(place: Path, files: Path) -> None:
    """Load the sources and end the JVM, which else keeps the metastore to itself."""
    process = multiprocessing.get_context("spawn").Process(target=_load, args=(place, files))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("The sources for the start-up measurement cannot be loaded.")


def _load(place: Path, files: Path) -> None:
    spark = start(place / "spark")
    data.load(spark, files, "tpch")
    spark.stop()
