"""Watermarks survive the trip through a commit's metadata, whatever the names contain."""

from __future__ import annotations

import base64
import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_ivm.plan.watermark import STATE_FORMAT, Types, Watermark, decode
from dbt_ivm.sources.facts import Mark
from dbt_ivm.sql.catalog import ColumnFact
from tests.planner.facts import analyzed, facts, head, planned

HOSTILE = [
    "it's",
    'say "hi"',
    "a;b",
    "back`tick",
    "${env:HOME}",
    "\\",
    "\n",
    "é😀",
    "-- x",
    "{{ y }}",
]
names = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=8))
columns = st.lists(st.builds(ColumnFact, names, names), max_size=3).map(tuple)
marks = st.builds(
    Mark, st.lists(names, min_size=1, max_size=3).map(tuple), names, st.integers(0), names
)
watermarks = st.builds(
    Watermark,
    generation=st.integers(0),
    fingerprint=names,
    shape=names,
    marks=st.lists(marks, max_size=3).map(tuple),
    types=st.builds(Types, columns, columns),
    package=names,
    format=st.integers(0, 3),
)


def planned_watermark() -> Watermark:
    model = analyzed("select id from orders")
    watermark = planned(model, facts(model)).watermark
    assert watermark is not None
    return watermark


@given(watermarks)
@settings(max_examples=60, derandomize=True, database=None, deadline=None)
def test_round_trip(watermark):
    assert decode(watermark.encode()) == watermark


@given(watermarks)
@settings(max_examples=30, derandomize=True, database=None, deadline=None)
def test_the_text_is_safe_inside_set(watermark):
    """`SET key=value` would read quotes, semicolons and `${…}` in it."""
    assert set(watermark.encode()) <= set(string.ascii_letters + string.digits + "+/=")


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        "",
        "someone else's note",
        base64.b64encode(b"not json").decode(),
        base64.b64encode(b"\xff\xfe").decode(),
        base64.b64encode(b"[1]").decode(),
        base64.b64encode(json.dumps({"dbt_ivm": {}}).encode()).decode(),
        base64.b64encode(json.dumps({"dbt_ivm": None}).encode()).decode(),
        base64.b64encode(json.dumps({"other": {}}).encode()).decode(),
    ],
)
def test_a_foreign_commit_has_no_watermark(metadata):
    assert decode(metadata) is None


def test_a_watermark_with_unknown_fields_is_not_understood():
    """A newer release may add fields: its extent is rebuilt, not misread."""
    data = json.loads(base64.b64decode(planned_watermark().encode()))
    data["dbt_ivm"]["later"] = 1
    assert decode(base64.b64encode(json.dumps(data).encode()).decode()) is None


def test_marks_are_found_by_table():
    watermark = planned_watermark()
    assert watermark.mark(("shop", "orders")) == head(("shop", "orders")).mark()
    assert watermark.mark(("shop", "other")) is None
    assert watermark.format == STATE_FORMAT
