"""dbt's suites of everything around a model: seeds, docs, tests, clones, hooks, names.

Of those that dbt-spark runs, these are changed or not here, and why:

- grants: open-source Spark has no GRANT, and dbt-spark runs them on Databricks alone; that an ivm
  model grants on its view is in tests/materialization/test_sources.py;
- Python models: dbt-spark hands them to Databricks, whatever the connection;
- `dbt seed --empty`: not a flag of dbt-core before 1.12;
- query timeout: of PyHive connections only, and dbt-spark's own code;
- clone: without --full-refresh, because open-source Delta does not clone over a table with rows;
- comments in the catalog: dbt-spark's catalog has none, so they are looked up in the table;
- two limits in `dbt show`: an error with Spark's words.
"""

from __future__ import annotations

import pytest
import yaml
from dbt.tests.adapter.aliases.fixtures import MACROS__EXPECT_VALUE_SQL
from dbt.tests.adapter.aliases.test_aliases import BaseAliasErrors, BaseAliases
from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency
from dbt.tests.adapter.dbt_clone.test_dbt_clone import BaseClonePossible
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebug
from dbt.tests.adapter.dbt_show.test_dbt_show import (
    BaseShowDoesNotHandleDoubleLimit,
    BaseShowLimit,
    BaseShowSqlHeader,
)
from dbt.tests.adapter.empty.test_empty import (
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
)
from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
)
from dbt.tests.adapter.query_comment.test_query_comment import (
    BaseEmptyQueryComments,
    BaseMacroQueryComments,
    BaseQueryComments,
)
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed
from dbt.tests.adapter.sample_mode.test_sample_mode import BaseSampleModeTest
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseSimpleSeedEnabledViaConfig,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.store_test_failures_tests import basic
from dbt.tests.adapter.store_test_failures_tests.test_store_test_failures import (
    TEST_AUDIT_SCHEMA_SUFFIX,
    BaseStoreTestFailures,
)
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.unit_testing.test_types import BaseUnitTestingTypes
from dbt.tests.util import check_relations_equal_with_relations, relation_from_name, run_dbt

from tests.functional.on_delta import DELTA, OnDelta

pytestmark = pytest.mark.slow

AS_THEY_ARE = [
    BaseAliasErrors,
    BaseDebug,
    BaseDropSchemaNamed,
    BaseEmptyQueryComments,
    BaseMacroQueryComments,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
    BaseQueryComments,
    BaseSampleModeTest,
    BaseShowLimit,
    BaseShowSqlHeader,
    BaseSimpleSeedEnabledViaConfig,
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
    BaseTestEmptySeed,
    BaseUnitTestCaseInsensivity,
    BaseUnitTestInvalidInput,
    basic.StoreTestFailuresAsExceptions,
    basic.StoreTestFailuresAsGeneric,
    basic.StoreTestFailuresAsInteractions,
    basic.StoreTestFailuresAsProjectLevelEphemeral,
    basic.StoreTestFailuresAsProjectLevelOff,
    basic.StoreTestFailuresAsProjectLevelView,
]

for _base in AS_THEY_ARE:
    _name = "Test" + _base.__name__.removeprefix("Base").removeprefix("Test")
    globals()[_name] = type(_name, (_base,), {})


class TestConcurrency(OnDelta, BaseConcurrency):
    pass


class TestClone(OnDelta, BaseClonePossible):
    def test_can_clone_true(self, project, other_schema):
        """Once: open-source Delta refuses to clone over a table that has rows."""
        project.create_test_schema(other_schema)
        self.run_and_save_state(project.project_root, with_snapshot=True)
        clone = ["clone", "--state", "state", "--target", "otherschema"]
        assert len(run_dbt(clone)) == 4
        relations = project.adapter.list_relations(project.database, other_schema)
        assert sorted(relation.type for relation in relations) == ["table"] * 3 + ["view"]
        assert all("no-op" in result.message.lower() for result in run_dbt(clone))


class TestAliases(BaseAliases):
    @pytest.fixture(scope="class")
    def macros(self):
        cast = "{% macro string_literal(s) %} cast('{{ s }}' as string) {% endmacro %}"
        return {"cast.sql": cast, "expect_value.sql": MACROS__EXPECT_VALUE_SQL}


class TestUnitTestingTypes(BaseUnitTestingTypes):
    @pytest.fixture
    def data_types(self):
        return [
            ["1", "1"],
            ["2.0", "2.0"],
            ["'12345'", "12345"],
            ["'string'", "string"],
            ["true", "true"],
            ["date '2011-11-11'", "2011-11-11"],
            ["timestamp '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
            ["array(1, 2, 3)", "'array(1, 2, 3)'"],
            ["map('10', 't', '20', null)", """'map("10", "t", "20", null)'"""],
            ["named_struct('a', 1, 'b', 2)", """'named_struct("a", 1, "b", 2)'"""],
        ]


class TestShowTwoLimits(BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "PARSE_SYNTAX_ERROR"


class TestStoreTestFailures(BaseStoreTestFailures):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        seeds = {"quote_columns": False, "test": self.column_type_overrides(), **DELTA}
        return {"seeds": seeds, "data_tests": {"+schema": TEST_AUDIT_SCHEMA_SUFFIX, **DELTA}}


class TestPersistDocs:
    COMMENT = 'a "table" of it\'s own; 100% ours -- /* no */ {all}'
    KINDS = ("table", "incremental", "view")

    @pytest.fixture(scope="class")
    def project_config_update(self):
        docs = {**DELTA, "+persist_docs": {"relation": True, "columns": True}}
        return {"models": docs, "seeds": docs}

    @pytest.fixture(scope="class")
    def models(self):
        head = "{{ config(materialized='%s') }} select 1 as id, 2 as other"
        return {
            **{f"a_{kind}.sql": head % kind for kind in self.KINDS},
            "schema.yml": yaml.safe_dump({"models": [self.described(k) for k in self.KINDS]}),
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "a_seed.csv": "id,other\n1,2\n",
            "seeds.yml": yaml.safe_dump({"seeds": [self.described("seed")]}),
        }

    def described(self, kind):
        column = {"name": "id", "description": self.COMMENT}
        return {"name": f"a_{kind}", "description": self.COMMENT, "columns": [column]}

    def test_comments_reach_the_relation(self, project):
        run_dbt(["build"])
        for kind in (*self.KINDS, "seed"):
            relation = relation_from_name(project.adapter, f"a_{kind}")
            rows = project.run_sql(f"describe extended {relation}", fetch="all")
            shown = {row[0]: row for row in rows}
            assert (kind, shown["id"][2], shown["other"][2]) == (kind, self.COMMENT, None)
            assert shown["Comment"][1] == self.COMMENT


class TestColumnsInRelation:
    @pytest.fixture(scope="class")
    def models(self):
        columns = "adapter.get_columns_in_relation(ref('child'))"
        quoted = "{{ adapter.quote(column.name) }}{{ ',' if not loop.last }}"
        return {
            "child.sql": "select 1 as `a b`, 'x' as `Select`",
            "parent.sql": f"select {{% for column in {columns} %}}{quoted}{{% endfor %}}"
            " from {{ ref('child') }}",
        }

    def test_can_be_selected_by_their_names(self, project):
        run_dbt(["run"])
        relations = [relation_from_name(project.adapter, name) for name in ("child", "parent")]
        check_relations_equal_with_relations(project.adapter, relations)


class TestSeedsKeepWhatTheyHold:
    CSV = "id,name,amount\n9007199254740993,O'Brien \\ Sons,1.10\n2,,\n"

    @pytest.fixture(scope="class")
    def seeds(self):
        types = "{id: bigint, name: string, amount: 'decimal(10,2)'}"
        config = f"seeds:\n  - name: people\n    config: {{column_types: {types}}}\n"
        return {"people.csv": self.CSV, "seeds.yml": config}

    def test_quotes_nulls_and_large_numbers(self, project):
        run_dbt(["seed"])
        relation = relation_from_name(project.adapter, "people")
        sql = f"select id, name, cast(amount as string) from {relation} order by id"
        first, second = project.run_sql(sql, fetch="all")
        assert tuple(first) == (2, None, None)
        assert tuple(second) == (9007199254740993, "O'Brien \\ Sons", "1.10")
