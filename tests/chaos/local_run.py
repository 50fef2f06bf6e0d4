"""A dbt process with a Spark of its own: runs, notes what it sends, and may lose its Spark."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from dbt.cli.main import dbtRunner

from tests.chaos.processes import lines, note_statements


def main() -> int:
    project, words = Path(sys.argv[1]), sys.argv[2:]
    note_statements(project / "journal")
    stopping = "stop-spark" in words
    judging = "judge" in words
    if stopping:
        threading.Thread(target=_stop_spark, args=(project / "journal",), daemon=True).start()
    places = ["--project-dir", str(project), "--profiles-dir", str(project)]
    done = dbtRunner().invoke(["run", *places]).success
    if judging and done:
        done = dbtRunner().invoke(["test", *places]).success and _judge(project)
    return 0 if done else 1


def _stop_spark(journal: Path) -> None:
    """In the middle of a MERGE."""
    from pyspark import SparkContext

    while "> MERGE" not in lines(journal):
        time.sleep(0.02)
    time.sleep(0.3)
    context = SparkContext._active_spark_context
    if context is not None:
        context.stop()


def _judge(project: Path) -> bool:
    from pyspark.sql import SparkSession

    from tests import judge
    from tests.chaos.world import MODELS
    from tests.session import Session

    session = Session(SparkSession.builder.getOrCreate())
    for name in MODELS:
        sql = (project / f"target/compiled/shop/models/{name}.sql").read_text()
        judge.check(session, sql, ("chaos", name), ("chaos", f"{name}__ivm"))
    return True


if __name__ == "__main__":
    sys.exit(main())
