"""The benchmark itself on a small scale: every side runs, is right, and ends up in the report."""

from __future__ import annotations

import json

import pytest

from benchmarks import changes, harness, report
from benchmarks.changes import Batch
from benchmarks.settings import Options

OPTIONS = Options(
    scale=0.002,
    fractions=(0.0, 0.01),
    repeats=1,
    warm_up=False,
    models=("priority_totals", "revenue_by_nation", "fct_order_lines"),
)


@pytest.fixture(scope="module")
def result(spark, tmp_path_factory):
    """One measured run on the Spark of the tests."""
    return harness.measure(spark, OPTIONS, tmp_path_factory.mktemp("bench"), print)


@pytest.mark.slow
def test_every_side_is_measured(result):
    (scale,) = result["scales"]
    assert [case["fraction"] > 0 for case in scale["cases"]] == [False, True]
    changed = scale["cases"][1]
    assert set(changed["changed"]) == {"orders", "lineitem", "customer", "part", "partsupp"}
    assert all(rows > 0 for rows in changed["changed"].values())
    sides = changed["sides"]
    assert set(sides["table"]["models"]) == set(sides["ivm"]["models"]) == set(OPTIONS.models)
    assert set(sides["incremental"]["models"]) == {"fct_order_lines"}
    assert set(sides["floor"]["models"]) == set(OPTIONS.models)
    for run in sides["ivm"]["models"].values():
        assert run["response"]["ivm_strategy"] == "incremental"
        assert run["work"]["jobs"] > 0
        assert run["phases"]["planning"] > 0


@pytest.mark.slow
def test_nothing_changed_is_a_noop(result):
    unchanged = result["scales"][0]["cases"][0]["sides"]["ivm"]["models"]
    assert {run["response"]["ivm_strategy"] for run in unchanged.values()} == {"noop"}
    assert {run["work"]["rows_written"] for run in unchanged.values()} == {0}


@pytest.mark.slow
def test_sides_are_compared_and_deletes_defeat_the_merge(result):
    found = result["scales"][0]["cases"][1]["differences"]
    assert set(found["ivm"]) == set(OPTIONS.models)
    assert not any(found["ivm"].values())
    assert not any(found["floor"].values())
    assert found["incremental"]["fct_order_lines"] > 0


@pytest.mark.slow
def test_report_is_written_from_json(result, tmp_path):
    report.write(json.loads(json.dumps(result)), tmp_path)
    text = (tmp_path / "benchmarks.md").read_text()
    for model in OPTIONS.models:
        assert f"| {model} |" in text
    assert "## The floor" in text
    assert (tmp_path / "benchmarks/change.png").stat().st_size > 0


def test_a_batch_is_the_same_statements_again():
    rows = {"orders": 1500, "customer": 150, "part": 200}
    first = changes.statements("tpch", rows, Batch(2, 30))
    assert first == changes.statements("tpch", rows, Batch(2, 30))
    assert first != changes.statements("tpch", rows, Batch(3, 30))
