"""dbt's suites of incremental strategies, on Delta: every one that dbt-spark runs.

A missing unique key is told by the name of Delta's error, which is all that Spark 4.0 prints of it.
"""

from __future__ import annotations

import pytest
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import (
    BaseMergeExcludeColumns,
)
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import (
    BaseIncrementalOnSchemaChangeSetup,
)
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.util import relation_from_name, run_dbt

from tests.functional.on_delta import DELTA, OnDelta, OnDeltaByMerge

pytestmark = pytest.mark.slow

GROWING = """
{{ config(materialized='incremental') }}
{% if is_incremental() %}
select 2L as id, 'new' as name union all select 3L, 'three'
{% else %}
select 1L as id, 'one' as name union all select 2L, 'two'
{% endif %}
"""

OVERWRITE = "incremental_strategy='insert_overwrite', file_format='parquet'"

UNKNOWN = "{{ config(materialized='incremental', incremental_strategy='x') }} select 1"
MERGE_INTO_PARQUET = """
{{ config(materialized='incremental', file_format='parquet', unique_key='id',
          incremental_strategy='merge') }}
select 1 as id
"""

PREDICATES = """
{{ config(materialized='incremental', unique_key='id') }}
{% if is_incremental() %}
select cast(1 as bigint) as id, 'hey' as msg, 'blue' as color
union all select cast(2 as bigint), 'yo', 'green'
union all select cast(3 as bigint), 'anyway', 'purple'
{% else %}
select cast(1 as bigint) as id, 'hello' as msg, 'blue' as color
union all select cast(2 as bigint), 'goodbye', 'red'
{% endif %}
"""

BY_DAY = """
{{ config(materialized='incremental', incremental_strategy='microbatch', unique_key='id',
          event_time='event_time', batch_size='day', partition_by=['date_day'],
          begin=modules.datetime.datetime(2020, 1, 1, 0, 0, 0)) }}
select *, cast(event_time as date) as date_day from {{ ref('input_model') }}
"""


class TestUniqueKey(OnDeltaByMerge, BaseIncrementalUniqueKey):
    def test__bad_unique_key(self, project):
        self.is_refused("not_found_unique_key")

    def test__bad_unique_key_list(self, project):
        self.is_refused("not_found_unique_key_list")

    def is_refused(self, model):
        status, message = self.fail_to_build_inc_missing_unique_key_column(model)
        assert status == "error"
        assert "delta_merge_unresolved_expression" in message.lower()


class TestMergeExcludeColumns(OnDelta, BaseMergeExcludeColumns):
    pass


class TestPredicates(BaseIncrementalPredicates):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        predicates = ["dbt_internal_dest.id != 2"]
        merge = {"+incremental_strategy": "merge", "+incremental_predicates": predicates}
        return {"models": {**DELTA, **merge}}

    @pytest.fixture(scope="class")
    def models(self):
        return {"delete_insert_incremental_predicates.sql": PREDICATES}


class TestMicrobatch(OnDelta, BaseMicrobatch):
    @pytest.fixture(scope="class")
    def microbatch_model_sql(self):
        return BY_DAY


class TestOnSchemaChange(OnDeltaByMerge, BaseIncrementalOnSchemaChangeSetup):
    def test_ignored(self, project):
        self.run_twice_and_assert(
            "model_a incremental_ignore incremental_ignore_target",
            "incremental_ignore",
            "incremental_ignore_target",
            project,
        )

    def test_appended(self, project):
        self.run_incremental_append_new_columns(project)

    @pytest.mark.parametrize(
        "model",
        ["incremental_fail", "incremental_sync_all_columns", "incremental_sync_remove_only"],
    )
    def test_refused(self, project, model):
        """The last two would drop columns, which dbt-spark does not do on Delta."""
        models = ["--select", "model_a", model]
        run_dbt(["run", *models, "--full-refresh"])
        second = run_dbt(["run", *models], expect_pass=False)
        assert "Compilation Error" in second[1].message


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("append", [(1, "one"), (2, "new"), (2, "two"), (3, "three")]),
        ("merge", [(1, "one"), (2, "new"), (3, "three")]),
        ("merge_of_names", [(1, "one"), (2, "new"), (3, "three")]),
        ("insert_overwrite", [(2, "new"), (3, "three")]),
    ],
)
class TestStrategies(OnDelta):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"by_{strategy}.sql": GROWING.replace("'incremental'", f"'incremental', {more}")
            for strategy, more in {
                "append": "incremental_strategy='append'",
                "merge": "incremental_strategy='merge', unique_key='id'",
                "merge_of_names": "incremental_strategy='merge', unique_key='id',"
                " merge_update_columns=['name']",
                "insert_overwrite": OVERWRITE,
            }.items()
        }

    def test_second_run(self, project, strategy, expected):
        for _ in range(2):
            run_dbt(["run", "--select", f"by_{strategy}"])
        relation = relation_from_name(project.adapter, f"by_{strategy}")
        rows = project.run_sql(f"select id, name from {relation}", fetch="all")
        assert sorted(map(tuple, rows)) == expected


class TestBadStrategies(OnDelta):
    @pytest.fixture(scope="class")
    def models(self):
        return {"unknown.sql": UNKNOWN, "merge_into_parquet.sql": MERGE_INTO_PARQUET}

    def test_are_refused(self, project):
        results = run_dbt(["run"], expect_pass=False)
        assert all("Compilation Error" in result.message for result in results)
