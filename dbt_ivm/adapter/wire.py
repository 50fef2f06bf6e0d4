"""Rows of a connection as Python values; a Thrift server sends a map as text."""

from __future__ import annotations

import re
from typing import Any

from dbt_ivm.sources.format import Row

# Hive prints `{"a":"1","b":"["x","y"]","c":null}` and escapes nothing: an entry ends where the next
# key or the end of the map follows.
_ENTRY = re.compile(r'"(?P<key>[^"]+)":(?:null|"(?P<value>.*?)")(?=,"[^"]+":|}$)', re.DOTALL)


def rows_of(cursor: Any) -> list[Row]:
    """All rows of a cursor, by column name; none for a statement without a result."""
    fields = [(field[0], str(field[1])) for field in cursor.description or ()]
    rows = cursor.fetchall() if fields else ()
    return [
        {name: _value(cell, type_) for (name, type_), cell in zip(fields, row, strict=True)}
        for row in rows
    ]


def _value(cell: Any, type_: str) -> Any:
    if type_ == "MAP_TYPE" and isinstance(cell, str):
        return map_of(cell)
    return cell


def map_of(text: str) -> dict[str, str]:
    """A map of text to text in Hive's notation; an entry without a value is left out."""
    found = _ENTRY.finditer(text)
    return {entry["key"]: entry["value"] for entry in found if entry["value"] is not None}
