"""Counts of causes and grouped aggregates of the source documents (algebra.md, section 10)."""

from __future__ import annotations

import pytest

from tests.golden.cases import Story, column

TABLE = {"r": {"k": "string", "v": "int"}}


@pytest.mark.parametrize(
    ("start", "left"), [([("a", 1)], [(1,)]), ([("a", 1), ("b", 1)], [(1,)])], ids=["a", "ab"]
)
def test_a_projection_to_nothing_needs_the_count(start, left):
    """004 remark 6.2: {a} and {a, b} must differ once a is gone."""
    story = Story("select 1 as one from r", TABLE, {"r": start})
    assert story.engine.stored() == {(1,): (len(start),)}
    assert story.move(r=([("a", 1)], [])) == (left, [])
    assert story.engine.shown() == column(*[1] * (len(start) - 1))


def test_a_group_stays_while_one_of_its_causes_does():
    """004 remark 6.2, grouped: `select k group by k` shows the group until its last row leaves."""
    story = Story("select k from r group by k", TABLE, {"r": [("a", 1), ("a", 2)]})
    assert story.move(r=([("a", 1)], [])) == ([], [])
    assert story.move(r=([("a", 2)], [])) == (column("a"), [])


def test_a_neutral_insert_changes_no_row_of_the_view():
    """004 §4.4: a row that adds 0 to a sum changes the stored count and nothing that shows."""
    story = Story("select k, sum(v) as s from r group by k", TABLE, {"r": [("a", 1)]})
    assert story.move(r=([], [("a", 0)])) == ([], [])
    assert story.touched.actions == (("UPDATE", ("a",)),)
    assert story.engine.stored()[("a",)][0] == 2


def test_changes_that_cancel_within_a_group_touch_no_row():
    """004 §4.4: two rows trade their values, so the group's change table row is all zeros."""
    start = [("a", 1), ("a", 2), ("b", 5)]
    story = Story("select k, sum(v) as s, avg(v) as m from r group by k", TABLE, {"r": start})
    assert story.move(r=([("a", 1), ("a", 2)], [("a", 3), ("a", 0)])) == ([], [])
    assert story.touched.keys == []


@pytest.mark.parametrize(
    "aggregate",
    ["max(v)", "count(distinct v)", "median(v)"],
    ids=["extremum", "distinct", "median"],
)
def test_a_group_whose_values_stay_is_not_touched(aggregate):
    """004 §4.4 made minimal: recomputed or not, what comes out as it was is not written."""
    start = [("a", 1), ("a", 1), ("a", 2), ("a", 3), ("a", 3)]
    story = Story(f"select k, {aggregate} as x from r group by k", TABLE, {"r": start})
    moved = ([("a", 1), ("a", 3)], [("a", 1), ("a", 3), ("b", None)])
    assert story.move(r=moved) == ([], [("b", 0 if "count" in aggregate else None)])
    assert story.touched.keys == [("b",)]
    assert story.move(r=([("a", 1), ("a", 2)], [("a", 2), ("a", 1)])) == ([], [])
    assert story.touched.keys == []
    swapped = ([("a", 1)], [("a", 2)]) if "median" not in aggregate else ([("a", 1)], [("a", 0)])
    assert story.move(r=swapped) == ([], [])
    assert story.touched.keys == []


def test_min_is_recomputed_only_when_the_minimum_left():
    """004 ch. 5: min combines on insert and does not cancel on delete."""
    start = [("a", 1), ("a", 2), ("a", 2), ("b", 1)]
    story = Story("select k, min(v) as m from r group by k", TABLE, {"r": start})
    assert story.move(r=([("a", 2)], [])) == ([], [])
    assert story.move(r=([("a", 1)], [])) == ([("a", 1)], [("a", 2)])
    assert story.move(r=([], [("a", -1)])) == ([("a", 2)], [("a", -1)])
    assert story.move(r=([("a", -1)], [("a", -2)])) == ([("a", -1)], [("a", -2)])
    assert story.move(r=([("a", -2)], [("a", None)])) == ([("a", -2)], [("a", 2)])
    assert story.move(r=([("a", 2)], [])) == ([("a", 2)], [("a", None)])


def test_two_rows_made_equal_and_one_deleted_leave_one():
    """algebra.md §11, duplicates."""
    story = Story("select k, v from r", TABLE, {"r": [("a", 1), ("a", 2)]})
    assert story.move(r=([("a", 2)], [("a", 1)])) == ([("a", 2)], [("a", 1)])
    assert story.move(r=([("a", 1)], [])) == ([("a", 1)], [])
    assert story.engine.shown() == [("a", 1)]


def test_the_global_group_is_never_deleted():
    """algebra.md §11: of an empty input `count` is 0 and `sum` is NULL."""
    sql = "select count(*) as n, sum(v) as s, min(v) as m from r"
    story = Story(sql, TABLE, {"r": []})
    assert story.engine.shown() == [(0, None, None)]
    assert story.move(r=([], [("a", 7)])) == ([(0, None, None)], [(1, 7, 7)])
    assert story.move(r=([("a", 7)], [])) == ([(1, 7, 7)], [(0, None, None)])


def test_null_keys_group_and_do_not_join():
    """algebra.md §11: NULL keys are one group; `=` does not match them, `<=>` does."""
    both = [(None, 1), (None, 2)]
    grouped = Story("select k, sum(v) as s from r group by k", TABLE, {"r": both})
    assert grouped.engine.shown() == [(None, 3)]
    for operator, pairs in (("=", 0), ("<=>", 4)):
        sql = f"select x.v, y.v as u from r x join r y on x.k {operator} y.k"
        assert len(Story(sql, TABLE, {"r": both}).engine.shown()) == pairs
