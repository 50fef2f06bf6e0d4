"""A Spark that dies with its process, or under it: the next start finds a state to go on from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.chaos.processes import lines, place
from tests.chaos.world import SOURCES, change, write_project
from tests.conftest import FOR_TINY_DATA

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# One statement per element: dbt sends them one by one before the models.
MAKE = [s.replace("create table", "create table if not exists") for s in SOURCES]


def write(folder: Path, changes: list[str]) -> None:
    """The project, with changes of the sources before the models: one process has the tables."""
    statements = [s.replace("{s}", "chaos") for s in (*MAKE, *changes)]
    target = {"method": "session", "server_side_parameters": FOR_TINY_DATA}
    first = ["create schema if not exists chaos"]
    write_project(folder, "chaos", target, **{"on-run-start": first + statements})


def start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    (folder / "journal").unlink(missing_ok=True)
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.local_run", str(folder), *words],
            cwd=ROOT,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def finish(folder: Path, *words: str) -> None:
    assert start(folder, *words).wait(900) == 0, (folder / "output").read_text()


def test_a_local_spark_dies_at_any_moment(tmp_path, dice, times, say):
    """With its JVM, so that what is being written stays half written; or without it."""
    places: Counter[str] = Counter()
    write(tmp_path, [])
    finish(tmp_path)
    for number in range(1 + times):
        write(tmp_path, [change(dice) for _ in range(3)])
        process = start(tmp_path)
        while process.poll() is None and "> MERGE" not in lines(tmp_path / "journal"):
            time.sleep(0.02)
        time.sleep(dice.uniform(0, 6))
        if process.poll() is not None:
            assert process.returncode == 0, (tmp_path / "output").read_text()
            continue
        with_jvm = number % 2 == 0
        kill = os.killpg if with_jvm else os.kill
        kill(process.pid, signal.SIGKILL)
        process.wait()
        whom = "process and JVM" if with_jvm else "process"
        places[f"{whom} {place(tmp_path / 'journal')}"] += 1
    write(tmp_path, [change(dice)])
    finish(tmp_path, "judge")
    hit = ", ".join(f"{count} {where}" for where, count in places.most_common())
    say(f"{places.total()} kills ({hit}): all models right")


def test_spark_stops_in_the_middle_of_a_refresh(tmp_path, dice, say):
    write(tmp_path, [])
    finish(tmp_path)
    write(tmp_path, ["insert into {s}.orders values (1, 1, 1), (2, null, 2)"])
    process = start(tmp_path, "stop-spark")
    assert process.wait(300) == 1, "the run fails, and ends"
    said = (tmp_path / "output").read_text()
    assert "Traceback" not in said
    write(tmp_path, [change(dice)])
    finish(tmp_path, "judge")
    say("Spark stopped during a MERGE: the run failed, the next one was right")
