"""How the changes of a Delta table can be read, from its history alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_ivm.algebra.nodes import Field, Scan, State
from dbt_ivm.sources.facts import Commit, Head, Mark, Reading
from dbt_ivm.sources.formats import classify
from dbt_ivm.sources.reader import SourceReader
from dbt_ivm.sql.dialect import render

NAME = ("shop", "orders")
MARK = Mark(NAME, "id-1", 3, "t3")


def table(*operations: str, feed: bool = True, identity: str = "id-1") -> Head:
    """A table at version 3 on which the given operations were committed since."""
    commits = [Commit(v, f"t{v}", "WRITE") for v in range(4)]
    commits += [Commit(v, f"t{v}", operation) for v, operation in enumerate(operations, 4)]
    newest = commits[-1]
    history = tuple(reversed(commits))
    return Head(NAME, identity, newest.version, newest.timestamp, feed, history)


@pytest.mark.parametrize(
    "operations",
    [
        (),
        ("OPTIMIZE",),
        ("VACUUM START", "VACUUM END"),
        ("SET TBLPROPERTIES", "ADD COLUMNS", "REORG"),
    ],
)
def test_nothing_changed(operations):
    assert classify(table(*operations), MARK).reading is Reading.NOTHING
    assert classify(table(*operations, feed=False), MARK).reading is Reading.NOTHING


@pytest.mark.parametrize(
    "operations",
    [("WRITE",), ("MERGE", "UPDATE", "DELETE"), ("OPTIMIZE", "WRITE"), ("RESTORE",), ("TRUNCATE",)],
)
def test_the_feed_is_read(operations):
    assert classify(table(*operations), MARK).reading is Reading.FEED


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (table("WRITE", feed=False), "the change data feed is off"),
        (table("SET TBLPROPERTIES", "WRITE"), "SET TBLPROPERTIES since the last refresh"),
        (table("WRITE", "RENAME COLUMN"), "RENAME COLUMN since the last refresh"),
        (table("CREATE OR REPLACE TABLE AS SELECT", identity="id-2"), "the table was replaced"),
    ],
    ids=["feed off", "feed switched on", "unknown commit", "replaced"],
)
def test_the_versions_are_compared(head, reason):
    change = classify(head, MARK)
    assert (change.reading, change.reason) == (Reading.DIFFERENCE, reason)


def vacuumed() -> Head:
    head = table("WRITE", "WRITE")
    return replace(head, history=head.history[:1])


def recreated() -> Head:
    head = table("WRITE", identity="id-2")
    return replace(head, history=tuple(replace(c, timestamp="new") for c in head.history))


@pytest.mark.parametrize(
    ("head", "mark", "reason"),
    [
        (table(), None, "is new to the model"),
        (table(), Mark(NAME, "id-1", 9, "t9"), "was dropped and recreated"),
        (recreated(), MARK, "was dropped and recreated"),
        (vacuumed(), MARK, "has no history back to version 3 any more"),
    ],
    ids=["new", "shorter history", "other history", "history gone"],
)
def test_the_changes_cannot_be_read(head, mark, reason):
    change = classify(head, mark)
    assert change.reading is Reading.IMPOSSIBLE
    assert change.reason == f"`shop.orders` {reason}"


def test_the_same_version_of_another_table_is_a_change():
    head = replace(table(identity="id-2"), timestamp="other")
    assert classify(head, MARK).reading is not Reading.NOTHING


SCAN = Scan(NAME, (Field("k", "it`s", "int"),))


def printed(head: Head, state: State, name: tuple[str, ...] = NAME) -> str:
    change = classify(head, MARK)
    scan = replace(SCAN, table=name, state=state)
    return render(SourceReader({name: change})(scan), pretty=False)


def test_states_are_read_by_version():
    assert printed(table("WRITE"), State.NEW).endswith("FROM `shop`.`orders` VERSION AS OF 4")
    assert printed(table("WRITE"), State.OLD).endswith("FROM `shop`.`orders` VERSION AS OF 3")
    assert printed(table("WRITE"), State.NEW).startswith("SELECT `it``s` AS `k` FROM")


def test_the_feed_starts_after_the_mark_and_ends_at_the_head():
    assert printed(table("WRITE", "MERGE"), State.DELTA) == (
        "SELECT `it``s` AS `k`, CASE WHEN `_change_type` IN ('insert', 'update_postimage')"
        " THEN 1 ELSE -1 END AS `__ivm_weight` FROM TABLE_CHANGES('`shop`.`orders`', 4, 5)"
    )


def test_the_name_in_the_feed_is_quoted_twice():
    """As an identifier, and then as the literal that the function takes."""
    assert "TABLE_CHANGES('`shop`.`o\\'r``d`', 4, 4)" in printed(
        table("WRITE"), State.DELTA, ("shop", "o'r`d")
    )


def test_a_difference_is_all_of_both_versions():
    assert printed(table("WRITE", feed=False), State.DELTA) == (
        "SELECT `it``s` AS `k`, 1 AS `__ivm_weight` FROM `shop`.`orders` VERSION AS OF 4"
        " UNION ALL"
        " SELECT `it``s` AS `k`, -1 AS `__ivm_weight` FROM `shop`.`orders` VERSION AS OF 3"
    )
