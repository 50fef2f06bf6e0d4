"""How the changes of a Delta table can be read, from its history alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dbt_ivm.algebra.nodes import Field, Scan, State
from dbt_ivm.sources.facts import Commit, Head, Mark, Reading
from dbt_ivm.sources.formats import classify
from dbt_ivm.sources.reader import SourceReader
from dbt_ivm.sql.dialect import render

NAME = ("shop", "orders")
MARK = Mark(NAME, "id-1", 3, "2026-01-01 00:03:00")
CHANGED = "CHANGE COLUMN"
ANOTHER = "is another table now: dropped and recreated, or renamed"


def at(version: int) -> str:
    return f"2026-01-01 00:{version:02}:00"


def table(*since: str | Commit, feed: bool = True, identity: str = "id-1") -> Head:
    """A table at version 3 on which the given commits were made since, one a minute."""
    commits = [Commit(v, at(v), "WRITE") for v in range(4)]
    for version, made in enumerate(since, 4):
        commit = Commit(0, "", made) if isinstance(made, str) else made
        commits.append(replace(commit, version=version, timestamp=at(version)))
    newest = commits[-1]
    history = tuple(reversed(commits))
    return Head(NAME, identity, newest.version, newest.timestamp, feed, history)


def commit(operation: str, **parameters: str) -> Commit:
    return Commit(0, "", operation, parameters=parameters)


def switched(value: str) -> Commit:
    properties = json.dumps({"delta.enableChangeDataFeed": value})
    return commit("SET TBLPROPERTIES", properties=properties)


def vacuum(minutes: int, files: int = 3) -> Commit:
    """A VACUUM that removed what had left the table some minutes before."""
    kept = str(minutes * 60_000)
    parameters = {"specifiedRetentionMillis": kept, "defaultRetentionMillis": "604800000"}
    metrics = {"numFilesToDelete": str(files)}
    return Commit(0, "", "VACUUM START", parameters=parameters, metrics=metrics)


@pytest.mark.parametrize(
    "operations",
    [
        (),
        ("CHANGE COLUMN", "Empty Commit", "DROP FEATURE"),
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
    [
        ("WRITE",),
        ("MERGE", "UPDATE", "DELETE"),
        ("OPTIMIZE", "WRITE"),
        ("RESTORE",),
        ("TRUNCATE",),
        (commit("SET TBLPROPERTIES", properties='{"comment":"x"}'), "WRITE"),
    ],
)
def test_the_feed_is_read(operations):
    assert classify(table(*operations), MARK).reading is Reading.FEED


@pytest.mark.parametrize(
    "renamed",
    [
        commit("RENAME COLUMN", oldColumnPath="A", newColumnPath="b"),
        commit("RENAME COLUMN", oldColumnPath="b", newColumnPath="a"),
        commit("DROP COLUMNS", columns='["x","a"]'),
        commit("DROP COLUMNS", columns='["a.field"]'),
    ],
)
def test_a_column_that_is_read_changes_its_name(renamed):
    head = table(renamed)
    assert classify(head, MARK, frozenset({"a", "k"})).reading is Reading.DIFFERENCE
    assert classify(head, MARK, frozenset({"k"})).reading is Reading.NOTHING
    assert classify(head, MARK, None).reading is Reading.DIFFERENCE


@pytest.mark.parametrize(
    ("since", "reading"),
    [
        (("DELETE", vacuum(0)), Reading.IMPOSSIBLE),
        (("DELETE", vacuum(0), "WRITE"), Reading.IMPOSSIBLE),
        (("OPTIMIZE", "WRITE", vacuum(0)), Reading.IMPOSSIBLE),
        (("DELETE", vacuum(1)), Reading.FEED),  # what left a minute ago is still there
        (("DELETE", vacuum(0, files=0)), Reading.FEED),
        ((commit("WRITE", mode="Append"), vacuum(0)), Reading.FEED),
        ((vacuum(0), "DELETE"), Reading.FEED),
        (("OPTIMIZE", vacuum(0)), Reading.NOTHING),
    ],
)
def test_vacuum_takes_what_had_left_the_table(since, reading):
    change = classify(table(*since), MARK)
    assert change.reading is reading
    if reading is Reading.IMPOSSIBLE:
        assert change.reason == "`shop.orders` was vacuumed of files that version 3 needs"


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (table("WRITE", feed=False), "the change data feed is off"),
        (table(switched("true"), "WRITE"), "the change data feed was off"),
        (table("WRITE", CHANGED), "CHANGE COLUMN since the last refresh"),
        (table("WRITE", "RENAME COLUMN"), "RENAME COLUMN since the last refresh"),
        (table("CREATE OR REPLACE TABLE AS SELECT", identity="id-2"), "the table was replaced"),
    ],
    ids=["feed off", "feed switched on", "column changed", "unknown commit", "replaced"],
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
        (
            table(),
            Mark(NAME, "id-1", 9, at(9)),
            ANOTHER,
        ),
        (recreated(), MARK, ANOTHER),
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
