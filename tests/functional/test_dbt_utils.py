"""dbt's cross-database macros and types: every suite that dbt-spark runs.

What is changed in them, and why:

- listagg: without the two orders, because dbt-spark's macro has none;
- datediff: as a table, because its SQL is longer than the 32,700 characters that Derby, which
  keeps the local metastore, allows for a view;
- types and timestamps: Spark's own names of types.
"""

from __future__ import annotations

import pytest
from dbt.tests.adapter.utils import fixture_listagg
from dbt.tests.adapter.utils.data_types.test_type_bigint import BaseTypeBigInt
from dbt.tests.adapter.utils.data_types.test_type_boolean import BaseTypeBoolean
from dbt.tests.adapter.utils.data_types.test_type_float import BaseTypeFloat
from dbt.tests.adapter.utils.data_types.test_type_float import seeds__expected_csv as floats_csv
from dbt.tests.adapter.utils.data_types.test_type_int import BaseTypeInt
from dbt.tests.adapter.utils.data_types.test_type_int import seeds__expected_csv as ints_csv
from dbt.tests.adapter.utils.data_types.test_type_numeric import BaseTypeNumeric
from dbt.tests.adapter.utils.data_types.test_type_string import BaseTypeString
from dbt.tests.adapter.utils.data_types.test_type_timestamp import BaseTypeTimestamp
from dbt.tests.adapter.utils.test_any_value import BaseAnyValue
from dbt.tests.adapter.utils.test_array_append import BaseArrayAppend
from dbt.tests.adapter.utils.test_array_concat import BaseArrayConcat
from dbt.tests.adapter.utils.test_array_construct import BaseArrayConstruct
from dbt.tests.adapter.utils.test_bool_or import BaseBoolOr
from dbt.tests.adapter.utils.test_cast import BaseCast
from dbt.tests.adapter.utils.test_cast_bool_to_text import BaseCastBoolToText
from dbt.tests.adapter.utils.test_concat import BaseConcat
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampNaive
from dbt.tests.adapter.utils.test_date import BaseDate
from dbt.tests.adapter.utils.test_date_trunc import BaseDateTrunc
from dbt.tests.adapter.utils.test_dateadd import BaseDateAdd
from dbt.tests.adapter.utils.test_datediff import BaseDateDiff
from dbt.tests.adapter.utils.test_equals import BaseEquals
from dbt.tests.adapter.utils.test_escape_single_quotes import BaseEscapeSingleQuotesBackslash
from dbt.tests.adapter.utils.test_except import BaseExcept
from dbt.tests.adapter.utils.test_hash import BaseHash
from dbt.tests.adapter.utils.test_intersect import BaseIntersect
from dbt.tests.adapter.utils.test_last_day import BaseLastDay
from dbt.tests.adapter.utils.test_length import BaseLength
from dbt.tests.adapter.utils.test_listagg import BaseListagg
from dbt.tests.adapter.utils.test_position import BasePosition
from dbt.tests.adapter.utils.test_replace import BaseReplace
from dbt.tests.adapter.utils.test_right import BaseRight
from dbt.tests.adapter.utils.test_safe_cast import BaseSafeCast
from dbt.tests.adapter.utils.test_split_part import BaseSplitPart
from dbt.tests.adapter.utils.test_string_literal import BaseStringLiteral
from dbt.tests.adapter.utils.test_timestamps import BaseCurrentTimestamps

from tests.functional.on_delta import DELTA

pytestmark = pytest.mark.slow

AS_THEY_ARE = [
    BaseAnyValue,
    BaseArrayAppend,
    BaseArrayConcat,
    BaseArrayConstruct,
    BaseBoolOr,
    BaseCast,
    BaseCastBoolToText,
    BaseConcat,
    BaseCurrentTimestampNaive,
    BaseDate,
    BaseDateAdd,
    BaseDateTrunc,
    BaseEquals,
    BaseEscapeSingleQuotesBackslash,
    BaseExcept,
    BaseHash,
    BaseIntersect,
    BaseLastDay,
    BaseLength,
    BasePosition,
    BaseReplace,
    BaseRight,
    BaseSafeCast,
    BaseSplitPart,
    BaseStringLiteral,
    BaseTypeBigInt,
    BaseTypeBoolean,
    BaseTypeString,
    BaseTypeTimestamp,
]

for _base in AS_THEY_ARE:
    _name = "Test" + _base.__name__.removeprefix("Base")
    globals()[_name] = type(_name, (_base,), {})


def typed(csv: str, column: str, as_type: str) -> dict[str, str]:
    """A seed whose column has the type the macro must give; agate would guess a wider one."""
    config = f"{{column_types: {{{column}: {as_type}}}}}"
    return {
        "expected.csv": csv,
        "expected.yml": f"seeds:\n  - name: expected\n    config: {config}",
    }


class TestTypeFloat(BaseTypeFloat):
    @pytest.fixture(scope="class")
    def seeds(self):
        return typed(floats_csv, "float_col", "float")


class TestTypeInt(BaseTypeInt):
    @pytest.fixture(scope="class")
    def seeds(self):
        return typed(ints_csv, "int_col", "int")


class TestTypeNumeric(BaseTypeNumeric):
    def numeric_fixture_type(self):
        return "decimal(28,6)"


class TestDateDiff(BaseDateDiff):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+materialized": "table", **DELTA}}


class TestListagg(BaseListagg):
    @pytest.fixture(scope="class")
    def models(self):
        head, body = fixture_listagg.models__test_listagg_sql.split("calculate as (")
        unordered = "union all".join(body.split("union all")[2:])
        sql = self.interpolate_macro_namespace(f"{head}calculate as ({unordered}", "listagg")
        return {
            "test_listagg.sql": sql,
            "test_listagg.yml": fixture_listagg.models__test_listagg_yml,
        }


class TestCurrentTimestamps(BaseCurrentTimestamps):
    @pytest.fixture(scope="class")
    def models(self):
        return {"get_current_timestamp.sql": "select {{ current_timestamp() }} as now"}

    @pytest.fixture(scope="class")
    def expected_schema(self):
        return {"now": "timestamp"}

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return "select current_timestamp() as now"
