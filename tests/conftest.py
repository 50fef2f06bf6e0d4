"""One Spark per pytest process, and the profile with which dbt's own suites run on it."""

from __future__ import annotations

import re

import pytest

from dbt_ivm.adapter import embedded
from dbt_ivm.adapter.credentials import IvmCredentials
from tests.shop import Shop

# Compiling code for a handful of rows takes longer than interpreting it.
FOR_TINY_DATA = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}

pytest_plugins = ["dbt.tests.fixtures.project"]


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write planner fixtures anew")


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """The Spark that a profile without settings gets, on a folder that is thrown away.

    dbt run in this process finds it active and uses it.
    """
    folder = tmp_path_factory.mktemp("spark")
    credentials = IvmCredentials(method="session", schema="any", database=None)
    parameters = {**credentials.server_side_parameters, **FOR_TINY_DATA}
    session = embedded.start(folder, parameters, lock_timeout=0)
    yield session
    session.stop()


@pytest.fixture(scope="class")
def dbt_profile_target(spark):
    return {"type": "ivm", "method": "session", "threads": 4}


@pytest.fixture
def shop(spark, tmp_path, request):
    """An empty dbt project in a schema of its own."""
    schema = "t_" + re.sub(r"\W+", "_", request.node.name.lower())[:60]
    made = Shop(spark, tmp_path / "project", schema)
    yield made
    spark.sql(f"drop schema if exists {schema} cascade")
