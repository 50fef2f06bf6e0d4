"""`method: thrift` against a real server: refreshes, and statements that dbt-spark sends again."""

from __future__ import annotations

import re
import time

import pytest
from pyhive import hive
from TCLIService.ttypes import TOperationState

from tests.shop import Shop
from tests.thrift import Remote, server

pytestmark = pytest.mark.slow

SQL = "select k, count(*) as n, sum(v) as v, max(v) as top from {s}.src group by k"


@pytest.fixture(scope="module")
def port(spark, tmp_path_factory):
    with server(spark, tmp_path_factory.mktemp("thrift")) as port:
        yield port


@pytest.fixture
def shop(port, tmp_path, request):
    """A project whose profile names the server, and one maintained model in it."""
    schema = "remote_" + re.sub(r"\W+", "_", request.node.name)
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
    assert shop.sql("select k, n, v, top from {s}.m where k is null or k = 0 order by k") == [
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
