"""The wheel brings everything dbt needs to parse a project, in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROFILE = "shop: {target: dev, outputs: {dev: {type: ivm, method: session, schema: shop}}}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    return next(folder.glob("dbt_ivm-*.whl"))


def test_contents(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "dbt/adapters/ivm/__init__.py" in names
    assert "dbt/adapters/ivm/__version__.py" in names
    assert "dbt_ivm/include/dbt_project.yml" in names
    assert "dbt_ivm/adapter/log4j2.properties" in names
    assert not [name for name in names if "_shim" in name or name.startswith("tests")]


def test_parses_a_project_in_an_empty_environment(wheel, tmp_path):
    home, project = tmp_path / "venv", tmp_path / "shop"
    venv.create(home, with_pip=True)
    run(home / "bin" / "python", "-m", "pip", "install", "--quiet", str(wheel))
    (project / "models").mkdir(parents=True)
    (project / "profiles.yml").write_text(PROFILE)
    (project / "dbt_project.yml").write_text("{name: shop, profile: shop}")
    model = "{{ config(materialized='ivm') }} select 1 as id"
    (project / "models" / "one.sql").write_text(model)
    output = run(home / "bin" / "dbt", "parse", cwd=project)
    assert "Registered adapter: ivm=" in output


def run(*command: object, cwd: Path | None = None) -> str:
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    alone["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=alone,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
