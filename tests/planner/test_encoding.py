"""Maps and intervals as an extent stores them, and back."""

from __future__ import annotations

import pytest

from dbt_ivm.algebra.scalar import column
from dbt_ivm.extents.encoding import can_encode, decoded, encoded
from dbt_ivm.sql.dialect import render

FORMS = {
    "map<string,int>": ("ARRAY_SORT(MAP_ENTRIES(`x`))", "MAP_FROM_ENTRIES(`x`)"),
    "array<map<string,int>>": (
        "TRANSFORM(`x`, `x0` -> ARRAY_SORT(MAP_ENTRIES(`x0`)))",
        "TRANSFORM(`x`, `x0` -> MAP_FROM_ENTRIES(`x0`))",
    ),
    "map<string,array<map<int,date>>>": (
        (
            "ARRAY_SORT(TRANSFORM(MAP_ENTRIES(`x`), `x0` -> NAMED_STRUCT('key', `x0`.`key`,"
            " 'value', TRANSFORM(`x0`.`value`, `x1` -> ARRAY_SORT(MAP_ENTRIES(`x1`))))))"
        ),
        (
            "MAP_FROM_ENTRIES(TRANSFORM(`x`, `x0` -> NAMED_STRUCT('key', `x0`.`key`, 'value',"
            " TRANSFORM(`x0`.`value`, `x1` -> MAP_FROM_ENTRIES(`x1`)))))"
        ),
    ),
    "struct<a:int,m:map<string,int>>": (
        (
            "CASE WHEN `x` IS NULL THEN NULL ELSE NAMED_STRUCT('a', `x`.`a`, 'm',"
            " ARRAY_SORT(MAP_ENTRIES(`x`.`m`))) END"
        ),
        (
            "CASE WHEN `x` IS NULL THEN NULL ELSE NAMED_STRUCT('a', `x`.`a`, 'm',"
            " MAP_FROM_ENTRIES(`x`.`m`)) END"
        ),
    ),
    "interval day to second": ("CAST(`x` AS string)", "CAST(`x` AS interval day to second)"),
    "array<int>": ("`x`", "`x`"),
}


@pytest.mark.parametrize("type_", FORMS)
def test_a_value_is_stored_in_a_form_that_can_be_compared(type_):
    assert can_encode(type_)
    forms = tuple(render(code(column("x"), type_), False) for code in (encoded, decoded))
    assert forms == FORMS[type_]


@pytest.mark.parametrize("type_", ["variant", "map<string,variant>", "array<interval day>", "void"])
def test_some_values_have_no_such_form(type_):
    assert not can_encode(type_)
