"""Iceberg tables: changes by changelog or snapshot difference, states by snapshot id."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Scan, TableName
from dbt_ivm.algebra.scalar import column
from dbt_ivm.errors import Unsupported
from dbt_ivm.sources import iceberg_history, scans
from dbt_ivm.sources.facts import Commit, Counts, Head, Identity, Mark, SourceChange
from dbt_ivm.sources.format import Apply, Ask, Columns, Row, TableFormat, Trouble
from dbt_ivm.sources.iceberg_history import SUMMARY_KEY
from dbt_ivm.sql import statements
from dbt_ivm.sql.catalog import ColumnFact
from dbt_ivm.sql.dialect import literal
from dbt_ivm.sql.statements import Merge

_SESSION_CATALOG = "spark_catalog"
_TROUBLES = {
    Trouble.CONFLICT: ("Cannot fast-forward", "ValidationException"),
    # Of two commits at the same time one is refused, even where one only makes a branch.
    Trouble.BUSY: ("CommitFailedException",),
    Trouble.FEED_REFUSED: (
        "Delete files are currently not supported in changelog scans",
        "is not a parent ancestor of end snapshot",
    ),
    Trouble.HISTORY_LOST: ("Cannot find snapshot with ID", "Cannot find a snapshot"),
}


class Iceberg(TableFormat):
    """Versions are snapshots, their summaries carry properties, and a branch makes commits safe.

    Iceberg has no token that keeps a commit from happening twice. A change is therefore merged into
    a branch of its own, made at the snapshot it was planned from, and the table is moved forward to
    it: Iceberg does that only if nothing else was committed in between.
    """

    name = "iceberg"
    can_cluster = False
    replace_keeps_properties = True

    def identity(self, ask: Ask, name: TableName) -> Identity:
        # A catalog that caches tables would show this session an older snapshot.
        ask(statements.refresh(name))
        rows = ask(statements.show_properties(name))
        return Identity(self.name, "", {row["key"]: row["value"] for row in rows})

    def head(self, ask: Ask, name: TableName, identity: Identity) -> Head:
        commits = [iceberg_history.commit(row) for row in ask(iceberg_history.snapshots(name))]
        current = identity.properties.get("current-snapshot-id")
        newest = next((c for c in commits if str(c.version) == current), None)
        version, timestamp = (newest.version, newest.timestamp) if newest else (0, "")
        rows = iceberg_history.records(newest) if newest else 0
        history = tuple(commits)
        return Head(name, identity.id, version, timestamp, True, history, self.name, rows)

    def reaching(self, ask: Ask, head: Head, version: int) -> Head:
        return head

    def is_behind(self, head: Head, version: int) -> bool:
        return all(commit.version != version for commit in head.history)

    def committed(self, ask: Ask, name: TableName, metadata: str) -> Counts | None:
        head = self.head(ask, name, self.identity(ask, name))
        ours = next((c for c in self.lineage(head) if c.metadata == metadata), None)
        return iceberg_history.counts(ours) if ours else None

    def lineage(self, head: Head) -> tuple[Commit, ...]:
        return iceberg_history.lineage(head)

    def lost_its_start(self, head: Head) -> bool:
        line = self.lineage(head)
        return bool(line) and iceberg_history.parent(line[-1]) is not None

    def check_source(self, ask: Ask, head: Head, columns: tuple[ColumnFact, ...]) -> None:
        """Reading a snapshot shows the columns it was written with.

        When they changed since, the table has to be written to before it can be pinned.
        """
        name = ".".join(head.table)
        if not head.version:
            raise Unsupported(f"`{name}` (iceberg), which has no snapshot yet,")
        pinned = exp.select(exp.Star()).from_(self.at(head.table, head.version))
        if statements.described(ask(exp.Describe(this=pinned, style="QUERY"))) != columns:
            raise Unsupported(f"`{name}` (iceberg), whose columns changed since its last snapshot,")

    def classify(self, head: Head, mark: Mark | None, used: Columns) -> SourceChange:
        return iceberg_history.classify(head, mark)

    def at(self, name: TableName, version: int) -> exp.Table:
        return statements.version_of(name, version)

    def changes(self, scan: Scan, mark: Mark, head: Head) -> exp.Query:
        """`select …, ±1 from t.changes with (…)`; the start is exclusive, the end inclusive.

        Rewritten files come as pairs of rows that left and came; netting cancels them.
        """
        options = {"start-snapshot-id": mark.version, "end-snapshot-id": head.version}
        log = statements.part_of(scan.table, "changes", {k: str(v) for k, v in options.items()})
        came = exp.EQ(this=column("_change_type"), expression=literal("INSERT"))
        return scans.weighted(scan, log, scans.came_or_left(came))

    def is_neutral(self, commit: Commit) -> bool:
        return iceberg_history.is_neutral(commit)

    def extent_properties(self) -> dict[str, str]:
        return {}

    def commit_settings(self, metadata: str, generation: int) -> dict[str, str]:
        return {f"spark.sql.iceberg.snapshot-property.{SUMMARY_KEY}": metadata}

    def apply(self, merge: Merge, extent: Head, writer: str) -> Apply:
        branch = f"ivm_{writer}"
        catalog = merge.target[0] if len(merge.target) > 2 else _SESSION_CATALOG
        return Apply(
            merge.tree(statements.part_of(merge.target, f"branch_{branch}")),
            before=(statements.create_branch(merge.target, branch, extent.version),),
            publish=statements.fast_forward(catalog, merge.target[-2:], branch),
            after=(statements.drop_branch(merge.target, branch),),
        )

    def counts(self, result: list[Row]) -> Counts | None:
        return None

    def trouble(self, message: str) -> Trouble | None:
        found = (t for t, signs in _TROUBLES.items() if any(sign in message for sign in signs))
        return next(found, None)
