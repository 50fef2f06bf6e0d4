"""One Spark per pytest process, and the profile with which dbt's own suites run on it."""

from __future__ import annotations

import re
from pathlib import Path

import pyspark
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

ICEBERG = {
    "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
    "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
SQLITE = "org.xerial:sqlite-jdbc:3.50.3.0"
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
)

pytest_plugins = ["dbt.tests.fixtures.project"]


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write planner fixtures anew")
    parser.addoption("--times", type=int, default=1, help="how much chaos; `make chaos`: 10")
    parser.addoption("--seed", default="1", help="what chaos rolls its dice from")


def with_iceberg(folder: Path) -> dict[str, str]:
    """A catalog `ice` of Iceberg tables beside the session's catalog of Delta tables."""
    version = ".".join(pyspark.__version__.split(".")[:2])
    catalog = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "jdbc",
        ".uri": f"jdbc:sqlite:{folder}/iceberg.db",
        ".jdbc.schema-version": "V1",
        ".warehouse": str(folder / "iceberg"),
        ".cache-enabled": "false",
    }
    return {
        "spark.jars.packages": ",".join((embedded.delta_package(), ICEBERG[version], SQLITE)),
        "spark.sql.extensions": ",".join(EXTENSIONS),
        **{f"spark.sql.catalog.ice{key}": value for key, value in catalog.items()},
    }


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """The Spark that a profile gets, with Iceberg, on a folder that is thrown away.

    dbt run in this process finds it active and uses it.
    """
    folder = tmp_path_factory.mktemp("spark")
    credentials = IvmCredentials(method="session", schema="any", database=None)
    parameters = {
        **credentials.server_side_parameters,
        **FOR_TINY_DATA,
        **with_iceberg(folder),
    }
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
