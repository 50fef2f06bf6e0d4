"""Model settings: what is allowed, and errors that list it."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_ivm.errors import IvmError
from dbt_ivm.plan.settings import OnUnsupported, Refresh, Settings, read_settings
from dbt_ivm.sql.functions import Kind


def test_an_empty_config_gives_the_defaults():
    assert read_settings({}, "m") == Settings()


def test_settings_of_other_packages_are_left_alone():
    assert read_settings({"tags": ["x"], "materialized": "ivm", "alias": "y"}, "m") == Settings()


@pytest.mark.parametrize("value", ["auto", "incremental", "full", "FULL"])
def test_refresh(value):
    assert read_settings({"ivm_refresh": value}, "m").refresh is Refresh(value.lower())


@pytest.mark.parametrize("value", ["warn", "error", "Error"])
def test_on_unsupported(value):
    read = read_settings({"ivm_on_unsupported": value}, "m")
    assert read.on_unsupported is OnUnsupported(value.lower())


def test_names_may_be_one_or_many():
    read = read_settings({"partition_by": "a", "clustered_by": ["b", "c"]}, "m")
    assert (read.partition_by, read.cluster_by) == (("a",), ("b", "c"))
    assert read_settings({"liquid_clustered_by": "z"}, "m").cluster_by == ("z",)


def test_declared_functions_are_known_whatever_their_case():
    config = {"ivm_deterministic_functions": ["Clean"], "ivm_aggregate_functions": "GeoMean"}
    functions = read_settings(config, "m").functions
    assert functions.kind("clean") is Kind.SCALAR
    assert functions.kind("GEOMEAN") is Kind.AGGREGATE


def test_properties_become_text():
    read = read_settings({"tblproperties": {"a.b": True, "n": 3}}, "m")
    assert read.properties == (("a.b", "True"), ("n", "3"))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"ivm_refresh": "sometimes"}, "allowed: `auto`, `incremental`, `full`"),
        ({"ivm_refresh": True}, "ivm_refresh is True; allowed: `auto`, `incremental`, `full`"),
        ({"ivm_on_unsupported": "ignore"}, "allowed: `warn`, `error`"),
        (
            {"file_format": "parquet"},
            "`parquet` cannot hold an ivm model; allowed: `delta`, `iceberg`",
        ),
        ({"buckets": 4}, "`buckets` does not exist on Delta"),
        ({"file_format": "iceberg", "clustered_by": "a"}, "iceberg tables cannot be clustered"),
        ({"ivm_schema": 3}, "ivm_schema must be a name, not 3"),
        ({"partition_by": [1]}, "partition_by must be a name or a list of names"),
        ({"ivm_aggregate_functions": 3}, "must be a name or a list of names, not 3"),
        ({"clustered_by": {"a": 1}}, "must be a name or a list of names, not {'a': 1}"),
        ({"partition_by": True}, "must be a name or a list of names, not True"),
        ({"partition_by": ["a", " "]}, "must be a name or a list of names, not ['a', ' ']"),
        ({"tblproperties": "a=b"}, "tblproperties must map names to texts or numbers, not 'a=b'"),
        ({"tblproperties": {"a": [1]}}, "tblproperties must map names to texts or numbers"),
        ({"location_root": ["/x"]}, "location_root must be a path, not ['/x']"),
        ({"file_format": False}, "file_format must be a name, not False"),
        (
            {"ivm_refesh": "full"},
            "unknown setting `ivm_refesh`; dbt-ivm has `ivm_refresh`, `ivm_on_unsupported`",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_setting_says_what_is_allowed(config, message):
    with pytest.raises(IvmError, match=re.escape(message)) as caught:
        read_settings(config, "shop.m")
    assert str(caught.value).startswith("Model shop.m: ")


SETTINGS = (
    "ivm_refresh ivm_on_unsupported ivm_deterministic_functions ivm_aggregate_functions ivm_schema"
    " ivm_catalog file_format partition_by clustered_by liquid_clustered_by location_root"
    " tblproperties buckets ivm_else"
).split()
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary()
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=4
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(SETTINGS), VALUES, max_size=3))
def test_no_value_is_too_odd_for_an_answer(config):
    with suppress(IvmError):  # anything else is a crash
        read = read_settings(config, "shop.m")
        assert all(isinstance(name, str) for name in (*read.partition_by, *read.cluster_by))
        assert isinstance(read.storage(), dict)
