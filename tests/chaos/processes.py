"""dbt runs in processes of their own that note what they send, so that a kill has a place."""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import threading
import time
from pathlib import Path

from dbt_ivm.adapter.runner import Runner
from dbt_ivm.sources.format import Row

# A process that has imported dbt waits to be forked: a run starts at once, and is its own process.
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["dbt.cli.main", "dbt.adapters.ivm", "pyhive.hive"])
_BEFORE = "before the first statement"


class Run:
    """A dbt command on a project, in a process of its own."""

    def __init__(self, project: Path, *words: str, target: str = "target") -> None:
        self.journal = project / target / "journal"
        self.journal.parent.mkdir(exist_ok=True)
        self.journal.unlink(missing_ok=True)
        given = (project, target, self.journal, words)
        self.process = _forks.Process(target=_run, args=given, daemon=True)
        self.process.start()

    def join(self, seconds: float = 600) -> int | None:
        """The exit code, None while it runs."""
        self.process.join(seconds)
        return self.process.exitcode

    def reach_spark(self) -> None:
        """Wait for the first statement of a refresh, or the end."""
        while self.process.is_alive() and not self.journal.exists():
            time.sleep(0.02)

    def hit(self, signal_: int) -> str:
        """Send a signal; what the process was doing then."""
        os.kill(self.process.pid or 0, signal_)
        return place(self.journal)

    def said(self) -> str:
        """What dbt printed."""
        output = self.journal.with_name("output")
        return output.read_text(errors="replace") if output.exists() else ""

    def commits(self) -> int:
        """Statements sent that change an extent."""
        return len(re.findall(r"> (?:MERGE INTO|CREATE OR REPLACE TABLE)", lines(self.journal)))


def lines(journal: Path) -> str:
    return journal.read_text() if journal.exists() else ""


def place(journal: Path) -> str:
    """What was under way when the journal ends: the most telling statement of all threads."""
    open_: dict[str, str] = {}
    for line in lines(journal).splitlines():
        thread, _, verb = line.partition(" > ")
        if verb:
            open_[thread] = verb
        else:
            open_.pop(line.removesuffix(" <"), None)
    if not open_:
        return "between statements" if lines(journal) else _BEFORE
    for telling in ("MERGE INTO", "CREATE OR REPLACE TABLE", "CREATE OR REPLACE VIEW"):
        if telling in open_.values():
            return f"in {telling}"
    return "while facts were read"


def note_statements(journal: Path) -> None:
    """From now on every statement of a refresh is noted before it is sent and when it returns."""
    send = Runner._run
    descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def noting(self: Runner, sql: str) -> list[Row]:
        thread = threading.current_thread().name
        verb = re.match(r"CREATE OR REPLACE \w+|\w+(?: INTO)?", sql)
        os.write(descriptor, f"{thread} > {verb[0] if verb else '?'}\n".encode())
        try:
            return send(self, sql)
        finally:
            os.write(descriptor, f"{thread} <\n".encode())

    Runner._run = noting  # type: ignore[method-assign]


def _run(project: Path, target: str, journal: Path, words: tuple[str, ...]) -> None:
    from dbt.cli.main import dbtRunner

    output = os.open(journal.with_name("output"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    note_statements(journal)
    places = ["--project-dir", str(project), "--profiles-dir", str(project)]
    places += ["--target-path", str(project / target), "--log-path", str(project / target)]
    result = dbtRunner().invoke([*words, *places])
    sys.stdout.flush()
    os._exit(0 if result.success else 1)
