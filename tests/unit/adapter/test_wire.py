"""Maps as a Thrift server prints them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dbt_ivm.adapter.wire import map_of, rows_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ('{"a":"1"}', {"a": "1"}),
        ('{"a":"1","b":null,"c":""}', {"a": "1", "c": ""}),
        ('{"keys":"["x","y"]","mode":"Append"}', {"keys": '["x","y"]', "mode": "Append"}),
        (
            '{"p":"id > 1 and name = \'a\'","d.e-f":"x\ny}"}',
            {"p": "id > 1 and name = 'a'", "d.e-f": "x\ny}"},
        ),
    ],
)
def test_a_map_in_hives_notation(text, value):
    assert map_of(text) == value


def test_only_maps_are_read():
    kinds = [("m", "MAP_TYPE"), ("s", "STRING_TYPE"), ("in_process", "map<string,string>")]
    cells = ('{"a":"1"}', '{"a":"1"}', {"a": "1"})
    cursor = SimpleNamespace(description=kinds, fetchall=lambda: [cells])
    assert rows_of(cursor) == [{"m": {"a": "1"}, "s": '{"a":"1"}', "in_process": {"a": "1"}}]


def test_a_statement_without_a_result_has_no_rows():
    assert rows_of(SimpleNamespace(description=None, fetchall=lambda: None)) == []
