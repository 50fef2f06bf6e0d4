"""Model settings: what is allowed, and errors that list it."""

from __future__ import annotations

import re

import pytest

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
