"""A Spark Thrift server in a process of its own, and a connection of a test to it."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from dbt_common.exceptions import DbtRuntimeError
from pyhive import hive
from pyspark.sql import SparkSession

from dbt_ivm.adapter.wire import rows_of
from dbt_ivm.sources.format import Row


class Remote:
    """A connection of a test: frames for a shop, rows by name for the runner and the judge."""

    def __init__(self, port: int) -> None:
        self._connection = hive.connect("127.0.0.1", port)
        self._rows: list[tuple[Any, ...]] = []

    def sql(self, text: str) -> Remote:
        cursor = self._connection.cursor()
        cursor.execute(text)
        self._rows = cursor.fetchall() if cursor.description else []
        return self

    def collect(self) -> list[tuple[Any, ...]]:
        return self._rows

    def run(self, sql: str) -> list[Row]:
        cursor = self._connection.cursor()
        try:
            cursor.execute(sql)
            return rows_of(cursor)
        except hive.Error as error:
            raise DbtRuntimeError(str(error)) from error

    @contextmanager
    def settings(self, values: Mapping[str, str]) -> Iterator[None]:
        raise AssertionError("a test changes tables through dbt or by statements of its own")


@contextmanager
def server(spark: SparkSession, folder: Path) -> Iterator[int]:
    """The port of a server with the jars and settings of a local Spark."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            _command(spark, folder, free),
            cwd=folder,
            env={**os.environ, "SPARK_HOME": str(_home()), "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=log,
            stderr=log,
        )
    try:
        _wait_for(process, free, folder / "server.log")
        yield free
    finally:
        process.terminate()
        process.wait(60)


def _home() -> Path:
    return Path(pyspark.__file__).parent


def _command(spark: SparkSession, folder: Path, port: int) -> list[str]:
    given = spark.sparkContext.getConf()
    # On the class path: jars of --packages are gone once the first client session closes. Delta's
    # alone: what it needs besides comes with Spark, in versions that fit together.
    paths = [jar.removeprefix("file://") for jar in given.get("spark.jars").split(",")]
    jars = ":".join(path for path in paths if Path(path).name.startswith("io.delta_"))
    kept = (
        "spark.sql.extensions",
        "spark.sql.catalog.spark_catalog",
        "spark.sql.shuffle.partitions",
        "spark.sql.codegen.wholeStage",
        "spark.sql.codegen.factoryMode",
        "spark.sql.adaptive.enabled",
        "spark.databricks.delta.snapshotPartitions",
        "spark.databricks.delta.properties.defaults.enableChangeDataFeed",
        "spark.ui.enabled",
        "spark.driver.host",
        "spark.driver.bindAddress",
    )
    settings = {key: given.get(key) for key in kept}
    settings["spark.sql.catalogImplementation"] = "in-memory"
    settings["spark.sql.warehouse.dir"] = str(folder / "warehouse")
    settings["spark.executor.extraClassPath"] = jars
    return [
        str(_home() / "bin" / "spark-submit"),
        *("--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"),
        *("--master", "local[2]", "--driver-memory", "1g", "--driver-class-path", jars),
        *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
        "spark-internal",
        *("--hiveconf", f"hive.server2.thrift.port={port}"),
        *("--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"),
        *("--hiveconf", "hive.server2.logging.operation.enabled=false"),
    ]


def _wait_for(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + 180
    while server.poll() is None and time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(1)
    raise AssertionError(log.read_text(errors="replace")[-3000:])
