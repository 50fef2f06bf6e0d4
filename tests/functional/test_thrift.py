"""`method: thrift` against a real server: refreshes, and statements that dbt-spark sends again."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pyspark
import pytest
from pyhive import hive
from TCLIService.ttypes import TOperationState

from tests.shop import Shop

pytestmark = pytest.mark.slow

SQL = "select k, count(*) as n, sum(v) as v, max(v) as top from {s}.src group by k"


class Remote:
    """Statements of a test on a connection of its own; `collect` as a Spark frame has it."""

    def __init__(self, port: int) -> None:
        self._connection = hive.connect("127.0.0.1", port)
        self._rows: list[tuple] = []

    def sql(self, text: str) -> Remote:
        cursor = self._connection.cursor()
        cursor.execute(text)
        self._rows = cursor.fetchall() if cursor.description else []
        return self

    def collect(self) -> list[tuple]:
        return self._rows


@pytest.fixture(scope="module")
def port(spark, tmp_path_factory):
    """A Thrift server in a process of its own, with the jars and settings of the local Spark."""
    folder = tmp_path_factory.mktemp("thrift")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command(spark, folder, free),
            cwd=folder,
            env={**os.environ, "SPARK_HOME": str(home()), "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=log,
            stderr=log,
        )
    try:
        wait_for(server, free, folder / "server.log")
        yield free
    finally:
        server.terminate()
        server.wait(60)


def home() -> Path:
    return Path(pyspark.__file__).parent


def command(spark, folder: Path, port: int) -> list[str]:
    given = spark.sparkContext.getConf()
    # On the class path: jars of --packages are gone once the first client session closes. Delta's
    # alone: what it needs besides comes with Spark, in versions that fit together.
    paths = [jar.removeprefix("file://") for jar in given.get("spark.jars").split(",")]
    jars = ":".join(path for path in paths if Path(path).name.startswith("io.delta_"))
    kept = (
        "spark.sql.extensions",
        "spark.sql.catalog.spark_catalog",
        "spark.sql.shuffle.partitions",
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
        str(home() / "bin" / "spark-submit"),
        *("--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"),
        *("--master", "local[2]", "--driver-memory", "1g", "--driver-class-path", jars),
        *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
        "spark-internal",
        *("--hiveconf", f"hive.server2.thrift.port={port}"),
        *("--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"),
        *("--hiveconf", "hive.server2.logging.operation.enabled=false"),
    ]


def wait_for(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + 180
    while server.poll() is None and time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(1)
    raise AssertionError(log.read_text(errors="replace")[-3000:])


@pytest.fixture
def shop(port, tmp_path, request):
    """A project whose profile names the server, and one maintained model in it."""
    schema = f"remote_{abs(hash(request.node.name)) % 10**8}"
    target = {"method": "thrift", "host": "127.0.0.1", "port": port, "poll_interval": 0}
    made = Shop(Remote(port), tmp_path / "project", schema, threads=2, **target)
    made.sql("create table {s}.src using delta as select id % 3 as k, id as v from range(9)")
    made.model("m", SQL)
    made.model("top", "select max(n) as n, count(*) as groups from {{ ref('m') }}")
    tested = [{"name": name, "data_tests": ["ivm_consistent"]} for name in ("m", "top")]
    made.properties({"models": tested})
    assert {done["ivm_strategy"] for done in made.run().values()} == {"full"}
    yield made
    made.sql("drop schema {s} cascade")


def test_refreshes_over_the_wire(shop):
    shop.sql("insert into {s}.src values (0, 100), (null, 7), (null, 7)")
    shop.sql("delete from {s}.src where v = 8")
    done = shop.run()
    assert done["m"]["ivm_strategy"] == done["top"]["ivm_strategy"] == "incremental"
    assert (done["m"]["rows_inserted"], done["m"]["rows_updated"]) == (1, 2)
    assert sorted(shop.sql("select k, n, v, top from {s}.m where k is null or k = 0")) == [
        (None, 2, 14, 7),
        (0, 4, 109, 100),
    ]
    shop.dbt("test")
    assert {done["ivm_strategy"] for done in shop.run().values()} == {"noop"}


@pytest.mark.parametrize("finished", [True, False], ids=["after the commit", "while it runs"])
def test_a_merge_sent_again_is_applied_once(shop, monkeypatch, finished):
    """dbt-spark loses the connection while it waits for a MERGE, and by default sends it again."""
    sent: list[str] = []
    execute, poll = hive.Cursor.execute, hive.Cursor.poll

    def remember(self, sql, *rest, **named):
        self.merges = sql.lstrip().startswith("MERGE")
        if self.merges:
            sent.append(sql)
        return execute(self, sql, *rest, **named)

    def lose_the_first(self, *rest):
        if self.merges and len(sent) == 1:
            while finished and poll(self).operationState != TOperationState.FINISHED_STATE:
                time.sleep(0.1)
            raise ConnectionResetError("gone")
        return poll(self, *rest)

    monkeypatch.setattr(hive.Cursor, "execute", remember)
    monkeypatch.setattr(hive.Cursor, "poll", lose_the_first)
    shop.sql("insert into {s}.src values (0, 100), (1, 50)")
    shop.run("--select", "m")
    assert sent[0] == sent[1]
    assert sorted(shop.sql("select k, n, top from {s}.m")) == [(0, 4, 100), (1, 4, 50), (2, 3, 8)]
    shop.dbt("test", "--select", "m")
    commits = shop.sql("describe history {s}.m__ivm")
    assert len(commits) == 2, "one build, one MERGE"


def test_errors_of_the_server_are_its_words_alone(shop):
    shop.model("m", "select no_such_column from {s}.src")
    message = shop.dbt("run", "--select", "m", ok=False).result.results[0].message
    assert "no_such_column" in message
    assert "\tat " not in message
