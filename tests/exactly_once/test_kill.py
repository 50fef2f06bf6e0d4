"""A process killed before or after its MERGE leaves a state from which the next run is right."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import yaml

CHANGE = """
{% macro change() %}
  {% do run_query("create schema if not exists " ~ target.schema) %}
  {% set t = target.schema ~ ".src" %}
  {% do run_query("create table if not exists " ~ t ~ " (k int, v int) using delta") %}
  {% do run_query("insert into " ~ t ~ " values (1, 1), (2, 5), (null, 3), (1, 1)") %}
  {% do run_query("delete from " ~ t ~ " where v = 5") %}
{% endmacro %}
"""


def write_project(folder: Path) -> None:
    target = {"type": "ivm", "method": "session", "schema": "kill", "threads": 1}
    files = {
        "dbt_project.yml": {"name": "killed", "version": "1.0", "profile": "p"},
        "profiles.yml": {"p": {"target": "t", "outputs": {"t": target}}},
        "models/schema.yml": {"models": [{"name": "m", "data_tests": ["ivm_consistent"]}]},
        "models/m.sql": "{{ config(materialized='ivm') }}\n"
        "select k, count(*) as n, sum(v) as v, max(v) as top from kill.src group by k",
        "macros/change.sql": CHANGE,
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))


def run(folder: Path, moment: str) -> int:
    script = Path(__file__).with_name("killed_run.py")
    return subprocess.run([sys.executable, str(script), str(folder), moment]).returncode


def strategy(folder: Path) -> str:
    results = json.loads((folder / "target/run_results.json").read_text())["results"]
    return results[0]["adapter_response"].get("ivm_strategy", results[0]["status"])


def test_killed_before_and_after_the_merge(tmp_path):
    write_project(tmp_path)
    assert run(tmp_path, "before") == -signal.SIGKILL
    assert run(tmp_path, "after") == -signal.SIGKILL
    assert run(tmp_path, "clean") == 0
    assert strategy(tmp_path) == "pass"  # of the consistency test, the last command
    history = (tmp_path / ".ivm").rglob("*m__ivm/_delta_log/*.json")
    assert len(list(history)) == 2, "one build, one MERGE: the second run applied nothing twice"
