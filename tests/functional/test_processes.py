"""The local Spark as a process meets it: tables stay, one user at a time, clear failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PROFILE = "shop: {target: dev, outputs: {dev: {type: ivm, method: session, schema: shop}}}"
PROJECT = "{name: shop, profile: shop, flags: {send_anonymous_usage_stats: false}}"
COUNTER = """
{{ config(materialized='incremental', file_format='delta') }}
select {% if is_incremental() %} max(id) + 1 as id from {{ this }} {% else %} 1 as id {% endif %}
"""

TWO = "select count(*) as n from {{ ref('counter') }} having count(*) <> 2 or max(id) <> 2"


@pytest.fixture
def shop(tmp_path) -> Path:
    project = tmp_path / "a shop"
    (project / "models").mkdir(parents=True)
    (project / "profiles.yml").write_text(PROFILE)
    (project / "dbt_project.yml").write_text(PROJECT)
    (project / "models" / "counter.sql").write_text(COUNTER)
    return project


def dbt(project: Path, *arguments: str) -> subprocess.Popen[str]:
    """dbt as a process of its own, in a folder that is not the project's."""
    here = project.parent / "here"
    here.mkdir(exist_ok=True)
    places = ["--project-dir", str(project), "--profiles-dir", str(project)]
    return subprocess.Popen(
        [str(Path(sys.executable).with_name("dbt")), *arguments, *places],
        cwd=here,
        env={**os.environ, "HOME": os.environ.get("HOME", "/"), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, output + errors
    assert errors == ""
    return output


def test_tables_survive_the_process(shop):
    finished(dbt(shop, "run"))
    (shop / "tests").mkdir()
    (shop / "tests" / "two.sql").write_text(TWO)
    finished(dbt(shop, "build"))
    assert not list((shop.parent / "here").iterdir())
    kept = {path.name for path in (shop / ".ivm").iterdir()}
    assert kept == {"derby.log", "lock", "metastore_db", "spark.log", "warehouse"}


def test_jars_out_of_reach_are_one_sentence(shop, tmp_path):
    """An empty cache and a network where nobody answers; the rest is as in a first start."""
    nowhere = "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9"
    parameters = {
        "spark.jars.ivy": str(tmp_path / "ivy"),
        "spark.driver.extraJavaOptions": f"-Duser.home={tmp_path} {nowhere}",
    }
    profile = yaml.safe_load(PROFILE)
    profile["shop"]["outputs"]["dev"]["server_side_parameters"] = parameters
    (shop / "profiles.yml").write_text(yaml.safe_dump(profile))
    process = dbt(shop, "run")
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (2, "")
    *_, title, sentence = output.strip().splitlines()
    assert title == "Database Error"
    assert sentence.strip().startswith("The jars of io.delta:delta-spark")
    assert "cannot be downloaded: connect to the network once" in sentence
    assert "Traceback" not in output
    assert "\tat " not in output


@pytest.mark.slow
def test_two_processes_take_turns(shop):
    outputs = [finished(process) for process in [dbt(shop, "run"), dbt(shop, "run")]]
    assert sum("Waiting for process" in output for output in outputs) == 1
    inline = "select count(*) as n, max(id) as top from shop.counter"
    shown = finished(dbt(shop, "show", "--inline", inline, "--output", "json", "--quiet"))
    assert json.loads(shown)["show"] == [{"n": 2, "top": 2}]
