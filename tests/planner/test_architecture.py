"""Imports point one way, and no file or function grows beyond what one can read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dbt_ivm

ROOT = Path(dbt_ivm.__file__).parent
ORDER = (
    "names",
    "errors",
    "algebra",
    "sql",
    "aggregates",
    "delta",
    "extents",
    "sources",
    "plan",
    "adapter",
)
"""A package imports only from itself and from those before it."""
FILES = sorted(f for f in ROOT.rglob("*.py") if "_shim" not in f.parts)
ids = [str(file.relative_to(ROOT)) for file in FILES]


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def package(file: Path) -> str:
    first = file.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("file", FILES, ids=ids)
def test_imports_point_one_way(file):
    mine = package(file)
    if mine == "__init__":
        return
    allowed = set(ORDER[: ORDER.index(mine) + 1])
    ours = {
        name.split(".")[1]
        for name in imported(ast.parse(file.read_text()))
        if name.startswith("dbt_ivm.")
    }
    assert ours - allowed == set()


@pytest.mark.parametrize("file", FILES, ids=ids)
def test_only_the_adapter_knows_dbt_and_spark(file):
    foreign = {name.split(".")[0] for name in imported(ast.parse(file.read_text()))}
    engines = {"dbt", "dbt_common", "pyspark", "py4j", "agate"} & foreign
    assert not engines or package(file) == "adapter"


def test_every_package_has_its_place():
    assert {package(file) for file in FILES} - {"__init__"} == set(ORDER)


@pytest.mark.parametrize("file", FILES, ids=ids)
def test_files_and_functions_stay_short(file):
    text = file.read_text()
    long = [
        f"{node.name} ({node.end_lineno - node.lineno + 1} lines)"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > 60
    ]
    assert long == []
    assert len(text.splitlines()) <= 300


@pytest.mark.parametrize("file", FILES, ids=ids)
def test_a_module_says_what_it_is(file):
    assert ast.get_docstring(ast.parse(file.read_text()))
