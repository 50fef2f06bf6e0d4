"""dbt's suites of contracts and constraints, on Delta: every one that dbt-spark runs.

Without `not_null`: dbt-spark declares it on a table that exists, which open-source Delta refuses
("Cannot change nullable column to non-nullable"). Violations are of a check instead of a NULL.
"""

from __future__ import annotations

import re

import pytest
from dbt.tests.adapter.constraints import fixtures
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseViewConstraintsColumnsEqual,
)

from tests.functional.on_delta import OnDelta

pytestmark = pytest.mark.slow


def for_delta(schema: str) -> str:
    """A properties file of dbt's with Spark's types and quotes, and without `not_null`."""
    spelled = schema.replace("text", "string").replace('"from"', "`from`")
    alone = re.sub(r"constraints:\n +- type: not_null\n(?! +- type)", "\n", spelled)
    return alone.replace("- type: not_null\n", "\n")


SCHEMA = for_delta(fixtures.model_schema_yml)

POSITIVE = """
models:
  - name: my_model
    config: {contract: {enforced: true}}
    constraints: [{type: check, expression: id > 0, name: positive}]
    columns:
      - {name: id, data_type: int}
      - {name: color, data_type: string}
      - {name: date_day, data_type: string}
"""

BROKEN = """
{{{{ config(materialized='{}', on_schema_change='append_new_columns') }}}}
select 0 as id, 'red' as color, '2019-01-01' as date_day
"""


class SparkTypes(OnDelta):
    """Names of types in a contract, and as an error spells them."""

    @pytest.fixture
    def string_type(self):
        return "string"

    @pytest.fixture
    def int_type(self):
        return "int"

    @pytest.fixture
    def schema_string_type(self):
        return "string"

    @pytest.fixture
    def schema_int_type(self):
        return "int"

    @pytest.fixture
    def data_types(self):
        return [
            ["1", "int", "int"],
            ["'1'", "string", "string"],
            ["true", "boolean", "boolean"],
            ["array('1', '2')", "array<string>", "array<string>"],
            ["cast('2019-01-01' as date)", "date", "date"],
            ["cast('2019-01-01' as timestamp)", "timestamp", "timestamp"],
            ["cast(1.0 as decimal(4, 2))", "decimal(4, 2)", "decimal(4,2)"],
        ]


class TestTableColumns(SparkTypes, BaseTableConstraintsColumnsEqual):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model_wrong_order.sql": fixtures.my_model_wrong_order_sql,
            "my_model_wrong_name.sql": fixtures.my_model_wrong_name_sql,
            "constraints_schema.yml": SCHEMA,
        }


class TestViewColumns(SparkTypes, BaseViewConstraintsColumnsEqual):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model_wrong_order.sql": fixtures.my_model_view_wrong_order_sql,
            "my_model_wrong_name.sql": fixtures.my_model_view_wrong_name_sql,
            "constraints_schema.yml": SCHEMA,
        }


class TestIncrementalColumns(SparkTypes, BaseIncrementalConstraintsColumnsEqual):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model_wrong_order.sql": fixtures.my_model_incremental_wrong_order_sql,
            "my_model_wrong_name.sql": fixtures.my_model_incremental_wrong_name_sql,
            "constraints_schema.yml": SCHEMA,
        }


class Violations(OnDelta):
    """dbt-spark declares the checks of a model, not of a column; Delta keeps to them."""

    @pytest.fixture(scope="class")
    def expected_error_messages(self):
        return ["CONSTRAINT", "id > 0"]


class TestTableViolation(Violations, BaseConstraintsRollback):
    @pytest.fixture(scope="class")
    def models(self):
        return {"my_model.sql": fixtures.my_model_sql, "constraints_schema.yml": POSITIVE}

    @pytest.fixture(scope="class")
    def null_model_sql(self):
        return BROKEN.format("table")

    @pytest.fixture(scope="class")
    def expected_color(self):
        # dbt-spark adds constraints after it has replaced the table.
        return "red"


class TestIncrementalViolation(Violations, BaseIncrementalConstraintsRollback):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model.sql": fixtures.my_incremental_model_sql,
            "constraints_schema.yml": POSITIVE,
        }

    @pytest.fixture(scope="class")
    def null_model_sql(self):
        return BROKEN.format("incremental")


class Ddl(OnDelta):
    """dbt-spark creates the table in the order of the contract, and adds constraints afterwards."""

    COLUMNS, COLOR = "id, color, date_day", "color"
    BEFORE = "-- depends_on: <foreign_key_model_identifier>"
    SCHEMA = fixtures.model_fk_constraint_schema_yml
    MODEL = fixtures.my_model_wrong_order_depends_on_fk_sql

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model.sql": self.MODEL,
            "foreign_key_model.sql": fixtures.foreign_key_model_sql,
            "constraints_schema.yml": for_delta(self.SCHEMA),
        }

    @pytest.fixture(scope="class")
    def expected_sql(self):
        query = f"select 'blue' as {self.COLOR}, 1 as id, '2019-01-01' as date_day"
        return (
            "create or replace table <model_identifier> using delta as"
            f" select {self.COLUMNS} from ( {self.BEFORE} {query} ) as model_subq"
        )


class TestTableDdl(Ddl, BaseConstraintsRuntimeDdlEnforcement):
    pass


class TestIncrementalDdl(Ddl, BaseIncrementalConstraintsRuntimeDdlEnforcement):
    MODEL = fixtures.my_model_incremental_wrong_order_depends_on_fk_sql


class TestModelDdl(Ddl, BaseModelConstraintsRuntimeEnforcement):
    SCHEMA = fixtures.constrained_model_schema_yml


class TestQuotedColumnDdl(Ddl, BaseConstraintQuotedColumn):
    COLUMNS, COLOR, BEFORE = "id, `from`, date_day", "`from`", ""
    SCHEMA = fixtures.model_quoted_column_schema_yml
    MODEL = fixtures.my_model_with_quoted_column_name_sql
