"""What a profile of `type: ivm` may leave out, and what it becomes."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_ivm.adapter.credentials import IvmCredentials


def profile(**fields) -> IvmCredentials:
    data = {"method": "session", "schema": "shop", **fields}
    IvmCredentials.validate(data)
    return IvmCredentials.from_dict(data)


def test_a_schema_is_enough():
    credentials = profile()
    assert credentials.type == "ivm"
    assert credentials.is_session
    assert credentials.unique_field == "localhost"
    assert credentials.database is None
    assert credentials.lock_timeout == 600


def test_schema_is_needed():
    with pytest.raises(DbtRuntimeError, match="schema"):
        profile(schema=None)


def test_database_is_the_schema_or_nothing():
    assert profile(database="shop").database is None
    with pytest.raises(DbtRuntimeError, match="`database` must be omitted"):
        profile(database="other")


def test_parameters_are_text_and_ansi_is_off_as_in_dbt_spark():
    given = {"spark.sql.shuffle.partitions": 3, "spark.sql.ansi.enabled": "true"}
    credentials = IvmCredentials(
        method="session", schema="shop", database=None, server_side_parameters=given
    )
    assert credentials.server_side_parameters == {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.ansi.enabled": "false",
    }


@pytest.mark.parametrize(
    ("local_dir", "placed"),
    [(None, "/shop/.ivm"), ("data/spark", "/shop/data/spark"), ("/var/shop", "/var/shop")],
)
def test_tables_live_in_the_project(local_dir, placed):
    credentials = profile(local_dir=local_dir)
    credentials.place(Path("/shop"))
    assert credentials.local_dir == placed
    assert dict(credentials.connection_info())["local_dir"] == placed


def test_other_methods_are_checked_by_dbt_spark():
    with pytest.raises(DbtRuntimeError, match="host"):
        profile(method="thrift")
