"""Models that run at the same time see neither each other's settings nor each other's sources."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

from tests.shop import watermark_of

MODEL = """
{{{{ config(materialized='table', file_format='delta', pre_hook=[
    "set my.name=model_{0}",
    "set spark.databricks.delta.commitInfo.userMetadata=commit_{0}",
    "create or replace temporary view staged as select {0} as id",
    "select reflect('java.lang.Thread', 'sleep', 300L)"
]) }}}}
select id, '${{my.name}}' as name from staged
"""

NUMBERS = range(1, 5)


class TestFourThreads:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"m{number}.sql": MODEL.format(number) for number in NUMBERS}

    def test_each_sees_its_own(self, project):
        run_dbt(["run", "--threads", "4"])
        for number in NUMBERS:
            table = f"{project.test_schema}.m{number}"
            row = project.run_sql(f"select * from {table}", fetch="one")
            assert tuple(row) == (number, f"model_{number}")
            with project.adapter.connection_named("history"):
                _, commits = project.adapter.execute(f"describe history {table}", fetch=True)
            assert commits.columns["userMetadata"].values() == (f"commit_{number}",)


def test_each_watermark_is_of_the_models_own_source(shop):
    """Four ivm models at a time, with as many sources: a mixed-up commit names the wrong one."""
    for number in NUMBERS:
        rows = f"select id, id % 2 as k from range({number})"
        shop.sql(f"create table {{s}}.src{number} using delta as {rows}")
        shop.model(f"m{number}", f"select k, count(*) as n from {{s}}.src{number} group by k")
    shop.run("--threads", "4")
    for number in NUMBERS:
        for _ in range(number):  # so that every source stands at a version of its own
            shop.sql(f"insert into {{s}}.src{number} values ({number}, {number})")
    done = shop.run("--threads", "4")
    assert {name: response["ivm_strategy"] for name, response in done.items()} == {
        f"m{number}": "incremental" for number in NUMBERS
    }
    for number in NUMBERS:
        (mark,) = watermark_of(shop, f"m{number}").marks
        assert (mark.table, mark.version) == ((shop.schema, f"src{number}"), number)
        shop.check(f"m{number}")
