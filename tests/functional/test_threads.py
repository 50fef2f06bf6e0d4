"""Models of one run that set settings and make temp views do not see each other's."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

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
