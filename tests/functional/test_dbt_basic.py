"""dbt's basic adapter suites, with every table on Delta: all that dbt-spark runs, and more."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import BaseIncremental, BaseIncrementalNotSchemaChange
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.util import get_artifact, run_dbt

from tests.functional.on_delta import OnDelta


class TestSimpleMaterializations(OnDelta, BaseSimpleMaterializations):
    pass


class TestSingularTests(OnDelta, BaseSingularTests):
    pass


class TestEmpty(OnDelta, BaseEmpty):
    pass


class TestAdapterMethods(OnDelta, BaseAdapterMethod):
    pass


class TestValidateConnection(OnDelta, BaseValidateConnection):
    pass


@pytest.mark.slow
class TestSingularTestsEphemeral(OnDelta, BaseSingularTestsEphemeral):
    pass


@pytest.mark.slow
class TestEphemeral(OnDelta, BaseEphemeral):
    pass


@pytest.mark.slow
class TestGenericTests(OnDelta, BaseGenericTests):
    pass


@pytest.mark.slow
class TestIncremental(OnDelta, BaseIncremental):
    pass


@pytest.mark.slow
class TestIncrementalNotSchemaChange(OnDelta, BaseIncrementalNotSchemaChange):
    pass


@pytest.mark.slow
class TestTableMaterialization(OnDelta, BaseTableMaterialization):
    pass


@pytest.mark.slow
class TestSnapshotCheckCols(OnDelta, BaseSnapshotCheckCols):
    pass


@pytest.mark.slow
class TestSnapshotTimestamp(OnDelta, BaseSnapshotTimestamp):
    pass


class TestDocsGenerate(OnDelta):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "numbers.sql": "{{ config(materialized='table') }} select 1L as id, 'one' as name",
            "shown.sql": "select id from {{ ref('numbers') }}",
        }

    def test_catalog_lists_relations_and_columns(self, project):
        run_dbt(["run"])
        run_dbt(["docs", "generate"])
        nodes = get_artifact(project.project_root, "target", "catalog.json")["nodes"]
        table, view = nodes["model.test.numbers"], nodes["model.test.shown"]
        assert table["metadata"]["type"] == "table"
        assert view["metadata"]["type"] == "view"
        columns = {name: column["type"] for name, column in table["columns"].items()}
        assert columns == {"id": "bigint", "name": "string"}
