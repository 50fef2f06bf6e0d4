"""Processes that die, and processes that race, against a Spark server that lives on."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from dbt_ivm.plan.watermark import decode
from tests import judge
from tests.chaos.processes import Run
from tests.chaos.world import MODELS, SOURCES, Writer, write_project
from tests.thrift import Remote, server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def port(spark, tmp_path_factory):
    with server(spark, tmp_path_factory.mktemp("thrift")) as port:
        yield port


class World:
    """One schema on the server, and the project that keeps its models."""

    def __init__(self, port: int, folder: Path, schema: str) -> None:
        self.port, self.folder, self.schema = port, folder, schema
        self.remote = Remote(port)
        self.remote.run(f"create schema {schema}")
        for statement in SOURCES:
            self.remote.run(statement.replace("{s}", schema))
        target = {"method": "thrift", "host": "127.0.0.1", "port": port, "poll_interval": 0}
        write_project(folder, schema, target)

    def writer(self, dice) -> Writer:
        return Writer(Remote(self.port).run, self.schema, dice)

    def run(self) -> float:
        """A run that must succeed; how long it took."""
        start, run = time.monotonic(), Run(self.folder, "run")
        assert run.join() == 0, run.said()
        return time.monotonic() - start

    def check(self) -> int:
        """The judge on every model; each generation was committed once. Counts the commits."""
        commits = 0
        for name in MODELS:
            sql = (self.folder / f"target/compiled/shop/models/{name}.sql").read_text()
            extent = (self.schema, f"{name}__ivm")
            judge.check(self.remote, sql, (self.schema, name), extent)
            history = self.remote.run(f"describe history {self.schema}.{name}__ivm")
            # Delta compacts in a commit of its own, under the metadata of the one before.
            changes = [row for row in history if row["operation"] != "OPTIMIZE"]
            marks = [decode(row["userMetadata"]) for row in changes]
            generations = [mark.generation for mark in marks if mark]
            assert len(set(generations)) == len(generations), f"{name}: {generations}"
            assert generations == sorted(generations, reverse=True), f"{name}: {generations}"
            commits += len(generations)
        return commits


@pytest.fixture
def world(port, tmp_path, request):
    made = World(port, tmp_path, "chaos_" + request.node.name.split("[")[0] + str(time.time_ns()))
    yield made
    made.remote.run(f"drop schema {made.schema} cascade")


@pytest.mark.parametrize("ending", ["KILL", "INT", "TERM"])
def test_a_signal_at_any_moment(world, dice, times, say, ending):
    """The process dies, its statement may live on at the server; the next run is right."""
    number = times * (6 if ending == "KILL" else 1)
    places: Counter[str] = Counter()
    finished = 0
    world.run()
    with world.writer(dice) as writer:
        took = world.run()
        while places.total() < number:
            run = Run(world.folder, "run")
            run.reach_spark()
            if run.join(dice.uniform(0, took)) is not None:
                finished += 1
                assert run.join() == 0, run.said()
                continue
            places[run.hit(signal.Signals[f"SIG{ending}"])] += 1
            assert run.join(120) is not None, "it hangs"
    world.run()
    commits = world.check()
    hit = ", ".join(f"{count} {where}" for where, count in places.most_common())
    say(
        f"{places.total()} runs ended by SIG{ending} ({hit}), {finished} were faster,"
        f" {writer.changes} changes of the sources meanwhile, {commits} commits: all models right"
    )


@pytest.mark.parametrize("processes", [2, 4])
def test_runs_at_the_same_time(world, dice, times, say, processes):
    """All succeed from the first build on; nothing is applied twice and nothing is lost."""
    rounds, sent = 1 + times, 0
    with world.writer(dice) as writer:
        for number in range(rounds):
            words = ["run", *(["--full-refresh"] if number == 3 else [])]
            runs = [Run(world.folder, *words, target=f"target{n}") for n in range(processes)]
            for run in runs:
                assert run.join() == 0, run.said()
            sent += sum(run.commits() for run in runs)
    world.run()
    commits = world.check()
    say(
        f"{rounds} rounds of {processes} processes with 4 threads, {writer.changes} changes of the"
        f" sources meanwhile; {sent} statements that commit were sent, {commits} commits are"
        " there: all models right"
    )
