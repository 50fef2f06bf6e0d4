"""Every function that Spark has itself is classified, exactly once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dbt_ivm.aggregates.registry import REGISTRY
from dbt_ivm.sql import functions
from dbt_ivm.sql.functions import Functions, Kind

SETS = (
    functions.AGGREGATES,
    functions.WINDOW_ONLY,
    functions.GENERATORS,
    functions.GROUPING,
    functions.NONDETERMINISTIC,
    functions.CLOCK,
    functions.SESSION,
    functions.SCALARS,
)
# They exist to fail the query, so whether they run must stay Spark's decision.
FAILING = {"assert_true", "raise_error"}
BUILT_IN = (Path(__file__).parent / "spark_functions.txt").read_text().split()
"""The names in the function registry of Spark 4.0, operators left out."""


def test_no_function_has_two_kinds():
    counted = Counter(name for names in SETS for name in names)
    assert [name for name, times in counted.items() if times > 1] == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_function_has_a_kind(name):
    assert (Functions().kind(name) is Kind.UNKNOWN) == (name in FAILING)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_combinable_function_is_an_aggregate(name):
    assert Functions().kind(name) is Kind.AGGREGATE


def test_names_are_lower_case_and_looked_up_in_any():
    assert all(name == name.lower() for names in SETS for name in names)
    assert Functions().kind("CoUnT") is Kind.AGGREGATE


def test_a_declaration_makes_a_function_known():
    declared = Functions(frozenset({"clean"}), frozenset({"geomean"}))
    assert declared.kind("Clean") is Kind.SCALAR
    assert declared.kind("geomean") is Kind.AGGREGATE
    assert Functions().kind("clean") is Kind.UNKNOWN


def test_a_declaration_overrides_nothing_of_sparks_own():
    declared = Functions(frozenset({"rand"}), frozenset({"upper"}))
    assert declared.kind("rand") is Kind.NONDETERMINISTIC
    assert declared.kind("upper") is Kind.SCALAR
