"""Iceberg from facts alone: which snapshots are read how, and how a change is applied once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from dbt_ivm.algebra.nodes import Field, Scan, State
from dbt_ivm.errors import Unsupported
from dbt_ivm.plan.model import Target
from dbt_ivm.plan.refresh import plan_refresh
from dbt_ivm.plan.settings import Settings
from dbt_ivm.sources.facts import Commit, Counts, Head, Mark, Reading
from dbt_ivm.sources.format import Row, Trouble
from dbt_ivm.sources.formats import FORMATS, classify
from dbt_ivm.sources.iceberg_history import commit, counts, snapshots
from dbt_ivm.sources.reader import SourceReader
from dbt_ivm.sql.dialect import render
from tests.planner.facts import ShopCatalog, analyzed, built, columns, facts, types_of

NAME = ("ice", "shop", "Orders")
ICEBERG = FORMATS["iceberg"]
MARK = Mark(NAME, "", 102, "t102")
ADDED = {"added-data-files": "1", "added-records": "3"}


def snapshot(number: int, parent: int | None, operation: str = "append", **told: object) -> Commit:
    """One snapshot; `schema` is the id of the columns it was written with."""
    row = {
        "snapshot_id": number,
        "parent_id": parent,
        "committed_at": f"t{number}",
        "operation": operation,
        "summary": told.get("summary", ADDED),
        "schema": told.get("schema", "0"),
    }
    return commit(row)


def table(*since: Commit) -> Head:
    """A table that had snapshots 101 and 102, and the given ones since."""
    commits = (*reversed(since), snapshot(102, 101), snapshot(101, None))
    return Head(NAME, "", commits[0].version, commits[0].timestamp, True, commits, "iceberg")


COMPACTED = snapshot(103, 102, "replace")


@pytest.mark.parametrize(
    ("head", "reading", "reason"),
    [
        (table(), Reading.NOTHING, ""),
        (table(COMPACTED), Reading.NOTHING, ""),
        (table(snapshot(103, 102, "overwrite", summary={})), Reading.NOTHING, ""),
        (table(snapshot(103, 102)), Reading.FEED, ""),
        (table(COMPACTED, snapshot(104, 103, "delete")), Reading.FEED, ""),
        (
            table(snapshot(103, 102, schema="1")),
            Reading.DIFFERENCE,
            "the columns changed",
        ),
        (
            table(snapshot(103, 102, summary=ADDED | {"total-delete-files": "1"})),
            Reading.DIFFERENCE,
            "delete files, which the changelog cannot read",
        ),
        (
            table(snapshot(103, 101)),
            Reading.DIFFERENCE,
            "the table was rolled back or replaced",
        ),
    ],
)
def test_how_the_changes_are_read(head, reading, reason):
    change = classify(head, MARK)
    assert (change.reading, change.reason) == (reading, reason)


def test_a_snapshot_that_is_gone_means_a_rebuild():
    change = classify(table(snapshot(103, 102)), replace(MARK, version=77))
    assert change.reading is Reading.IMPOSSIBLE
    assert "`ice.shop.Orders` has the snapshot of the last refresh no more" in change.reason
    assert classify(table(), None).reason == "`ice.shop.Orders` is new to the model"


def test_a_table_is_read_as_it_is_shown_or_not_at_all():
    def ask(statement: exp.Expr) -> list[Row]:
        assert "VERSION AS OF 103" in render(statement)
        return [{"col_name": "k", "data_type": "int"}]

    head = table(snapshot(103, 102))
    ICEBERG.check_source(ask, head, columns("k int"))
    for other in ("k bigint", "k int, v int", "j int"):
        with pytest.raises(Unsupported, match="whose columns changed since its last snapshot"):
            ICEBERG.check_source(ask, head, columns(other))
    with pytest.raises(Unsupported, match="which has no snapshot yet"):
        ICEBERG.check_source(ask, Head(NAME, "", 0, "", True, (), "iceberg"), columns("k int"))


def test_only_ancestors_are_the_history_of_a_head():
    head = table(snapshot(103, 102), snapshot(104, 102))
    assert [c.version for c in ICEBERG.lineage(head)] == [104, 102, 101]
    assert not ICEBERG.lost_its_start(head)
    assert ICEBERG.lost_its_start(replace(head, history=head.history[:-1]))
    assert ICEBERG.is_behind(head, 999)
    assert not ICEBERG.is_behind(head, 103)


def test_states_and_changes_are_read_by_snapshot():
    scan = Scan(NAME, (Field("k", "k", "int"),))

    def printed(state: State, head: Head) -> str:
        reader = SourceReader({NAME: classify(head, MARK)})
        return render(reader(replace(scan, state=state)), pretty=False)

    head = table(snapshot(103, 102))
    name = "`ice`.`shop`.`Orders`"
    assert printed(State.NEW, head).endswith(f"FROM {name} VERSION AS OF 103")
    assert printed(State.OLD, head).endswith(f"FROM {name} VERSION AS OF 102")
    assert printed(State.DELTA, head) == (
        "SELECT `k` AS `k`, CASE WHEN `_change_type` = 'INSERT' THEN 1 ELSE -1 END"
        f" AS `__ivm_weight` FROM {name}.`changes`"
        " WITH ('start-snapshot-id' = '102', 'end-snapshot-id' = '103')"
    )
    assert f"{name}.`metadata_log_entries`" in render(snapshots(NAME))


def test_a_change_is_merged_into_a_branch_and_published():
    model = analyzed("select id from orders")
    extent = ("ice", "shop", "m__ivm")
    told = facts(model, settings=Settings(file_format="iceberg"), extent=extent, writer="w1")
    build = plan_refresh(model, told, ShopCatalog()).steps[0].sql
    assert "CREATE OR REPLACE TABLE `ice`.`shop`.`m__ivm`\nUSING ICEBERG" in build
    assert "'dbt_ivm.key'='[\"id\"]'" in build
    refused = analyzed("select id from orders sort by id")
    rebuilt = plan_refresh(refused, replace(told, types=types_of(refused)), ShopCatalog())
    assert "'dbt_ivm.key'='null'" in rebuilt.steps[0].sql  # replacing keeps old properties
    properties = {"dbt_ivm.storage": '{"file_format": "iceberg"}'}
    before = built(model, told).target
    head = Head(extent, "", 102, "t102", True, (), "iceberg")
    target = Target("view", head, before.watermark, view=before.view, properties=properties)
    plan = plan_refresh(model, replace(told, target=target), ShopCatalog())
    stage, merge, publish, clear = plan.steps
    assert "CREATE BRANCH `ivm_w1` AS" in stage.sql
    assert "OF VERSION 102 RETAIN 1 DAYS" in stage.sql
    assert merge.sql.startswith("MERGE INTO `ice`.`shop`.`m__ivm`.`branch_ivm_w1` AS `t`")
    assert publish.sql == ("CALL `ice`.`system`.fast_forward('`shop`.`m__ivm`', 'main', 'ivm_w1')")
    assert "DROP BRANCH IF EXISTS `ivm_w1`" in clear.sql
    assert [step.commits for step in plan.steps] == [False, True, True, False]


@pytest.mark.parametrize(
    ("message", "trouble"),
    [
        ("Cannot fast-forward: main is not an ancestor of ivm_w1", Trouble.CONFLICT),
        ("CommitFailedException: Cannot commit: stale metadata", Trouble.BUSY),
        ("Delete files are currently not supported in changelog scans", Trouble.FEED_REFUSED),
        ("Cannot find snapshot with ID 7", Trouble.HISTORY_LOST),
        ("[TABLE_OR_VIEW_NOT_FOUND] x", None),
    ],
)
def test_what_an_error_means(message, trouble):
    assert ICEBERG.trouble(message) is trouble


def test_rows_are_counted_as_the_merge_reports_them():
    kinds = {"inserted": "1", "updated": "2", "deleted": "3"}
    told = {f"spark.merge-into.num-target-rows-{kind}": n for kind, n in kinds.items()}
    assert counts(snapshot(103, 102, summary=told)) == Counts(1, 2, 3)
    rewritten = {"added-records": "5", "deleted-records": "4"}
    assert counts(snapshot(103, 102, summary=rewritten)) == Counts(inserted=1)


def test_a_cached_table_is_never_planned_from():
    asked: list[str] = []

    def ask(statement: exp.Expr) -> list[Row]:
        asked.append(render(statement, pretty=False))
        return [{"key": "current-snapshot-id", "value": "7"}]

    assert ICEBERG.identity(ask, NAME).properties == {"current-snapshot-id": "7"}
    name = "`ice`.`shop`.`Orders`"
    assert asked == [f"REFRESH TABLE {name}", f"SHOW TBLPROPERTIES {name}"]
