"""A dbt process that kills itself around the MERGE; run by the test in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from dbt.cli.main import dbtRunner

from dbt_ivm.adapter.runner import Runner


def main() -> int:
    project, moment = Path(sys.argv[1]), sys.argv[2]
    send = Runner._send

    def killed(self, step, *rest):
        if moment == "before" and step.sql.startswith("MERGE"):
            os.kill(os.getpid(), signal.SIGKILL)
        done = send(self, step, *rest)
        if moment == "after" and step.sql.startswith("MERGE"):
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    Runner._send = killed
    places = ["--project-dir", str(project), "--profiles-dir", str(project)]
    commands = {
        "before": ["change", "run", "change", "run"],  # the first run builds and has no MERGE
        "after": ["run"],
        "clean": ["run", "test"],
    }
    for command in commands[moment]:
        words = ["run-operation", "change"] if command == "change" else [command]
        if not dbtRunner().invoke([*words, *places]).success:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
