"""The oldest versions that dbt-ivm says it works with do: planner and refreshes run on them."""

from __future__ import annotations

import re
import subprocess
import venv
from importlib.metadata import requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PICKED = ("tests/planner", "tests/operators/test_operators.py")


def lowest() -> list[str]:
    """`sqlglot<31,>=30.22` becomes `sqlglot==30.22.*`, for everything dbt-ivm runs on."""
    ranges = [text.split(";") for text in requires("dbt-ivm") or ()]
    needed = [text for text, *when in ranges if not when or "session" in when[0]]
    return [re.sub(r"([\w-]+).*>=([\d.]+).*", r"\1==\2.*", text).strip() for text in needed]


def test_every_range_has_a_lowest_version():
    names = {text.split("==")[0] for text in lowest() if text.endswith(".*")}
    assert {"dbt-core", "dbt-spark", "dbt-adapters", "agate", "sqlglot", "pyspark"} <= names


@pytest.mark.slow
def test_the_lowest_versions_are_enough(tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "-e", f"{ROOT}[dev]", *lowest()]
    for command in (install, [python, "-m", "pytest", "-q", *PICKED]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
