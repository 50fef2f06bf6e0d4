"""Statements as trees: MERGE, CREATE TABLE AS, CREATE VIEW, DESCRIBE, branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.algebra.scalar import call, column
from dbt_ivm.sql.catalog import ColumnFact
from dbt_ivm.sql.dialect import literal, render, table


@dataclass(frozen=True)
class Merge:
    """One MERGE: rows of `using` (`d`) against the extent (`t`), matched on equal keys."""

    target: TableName
    using: exp.Query
    keys: tuple[str, ...]
    delete_if: exp.Expr | None
    update_if: exp.Expr | None
    update: Mapping[str, exp.Expr]
    insert_if: exp.Expr | None
    insert: Mapping[str, exp.Expr]
    kept: tuple[tuple[str, exp.Query], ...] = ()
    """Results that `using` reads by name: they are made before and dropped after the MERGE."""

    def tree(self, into: exp.Table | None = None) -> exp.Merge:
        """`merge into t using (…) d on t.k <=> d.k when matched …`; `into` may name a branch."""
        whens: list[exp.Expr] = []
        if self.delete_if is not None:
            whens.append(
                exp.When(matched=True, condition=self.delete_if, then=exp.Var(this="DELETE"))
            )
        if self.update:
            whens.append(exp.When(matched=True, condition=self.update_if, then=self._update()))
        if self.insert:
            whens.append(exp.When(matched=False, condition=self.insert_if, then=self._insert()))
        pairs = [exp.NullSafeEQ(this=column(k, "t"), expression=column(k, "d")) for k in self.keys]
        return exp.Merge(
            this=exp.alias_(into or table(self.target), "t", table=True),
            using=exp.Subquery(this=self.using, alias=exp.TableAlias(this=exp.to_identifier("d"))),
            on=exp.and_(*pairs) if pairs else exp.true(),
            whens=exp.Whens(expressions=whens),
        )

    def _update(self) -> exp.Update:
        return exp.Update(
            expressions=[
                exp.EQ(this=column(name, "t"), expression=value)
                for name, value in self.update.items()
            ]
        )

    def _insert(self) -> exp.Insert:
        return exp.Insert(
            this=exp.Tuple(expressions=[column(name) for name in self.insert]),
            expression=exp.Tuple(expressions=list(self.insert.values())),
        )


def keep(name: str, query: exp.Query) -> exp.Cache:
    """`cache lazy table x as select …`: a result that lives in the session."""
    return exp.Cache(this=table((name,)), lazy=True, expression=query)


def drop_kept(name: str) -> exp.Drop:
    """`drop view if exists x`: what was kept is let go of with its name."""
    return exp.Drop(tables=[table((name,))], kind="VIEW", exists=True)


def create_table(
    name: TableName,
    query: exp.Expr,
    provider: str,
    properties: Mapping[str, str],
    partition_by: Sequence[str] = (),
    cluster_by: Sequence[str] = (),
    location: str | None = None,
    comment: str | None = None,
) -> exp.Create:
    """`create or replace table … using delta … as select …`."""
    clauses: list[exp.Expr] = [exp.FileFormatProperty(this=exp.Var(this=provider.upper()))]
    if partition_by:
        columns = exp.Schema(expressions=[exp.to_identifier(c, quoted=True) for c in partition_by])
        clauses.append(exp.PartitionedByProperty(this=columns))
    if cluster_by:
        clauses.append(exp.ClusterProperty(expressions=[column(c) for c in cluster_by]))
    if location:
        clauses.append(exp.LocationProperty(this=literal(location)))
    if comment is not None:
        clauses.append(exp.SchemaCommentProperty(this=literal(comment)))
    clauses.extend(_properties(properties))
    return exp.Create(
        this=table(name),
        kind="TABLE",
        replace=True,
        expression=query,
        properties=exp.Properties(expressions=clauses),
    )


def create_view(
    name: TableName,
    query: exp.Expr,
    columns: Sequence[tuple[str, str | None]],
    comment: str | None,
    properties: Mapping[str, str],
) -> exp.Create:
    """`create or replace view v (a comment '…', b) comment '…' tblproperties (…) as select …`."""
    header = exp.Schema(this=table(name), expressions=[_header(c, text) for c, text in columns])
    clauses: list[exp.Expr] = []
    if comment:
        clauses.append(exp.SchemaCommentProperty(this=literal(comment)))
    clauses.extend(_properties(properties))
    return exp.Create(
        this=header,
        kind="VIEW",
        replace=True,
        expression=query,
        properties=exp.Properties(expressions=clauses) if clauses else None,
    )


def describe(style: str, name: TableName, limit: int | None = None) -> exp.Describe:
    """`describe history t limit n`; the style is one of Spark's: DETAIL, TABLE EXTENDED, …."""
    statement = exp.Describe(this=table(name), style=style)
    if limit is not None:  # the place after the name, where Spark takes a partition or a limit
        statement.set("partition", exp.Limit(expression=literal(limit)))
    return statement


def described(rows: Sequence[Mapping[str, str]]) -> tuple[ColumnFact, ...]:
    """The columns that a DESCRIBE begins with."""
    columns: list[ColumnFact] = []
    for row in rows:
        if not row["col_name"] or row["col_name"].startswith("#"):
            break
        columns.append(ColumnFact(row["col_name"], row["data_type"]))
    return tuple(columns)


def version_of(name: TableName, version: int) -> exp.Table:
    """`t version as of n`."""
    reference = table(name)
    as_of = exp.Version(this="VERSION", kind="AS OF", expression=literal(version))
    reference.set("version", as_of)
    return reference


def part_of(name: TableName, part: str, options: Mapping[str, str] | None = None) -> exp.Table:
    """What belongs to a table, `t.snapshots`, perhaps with options: `t.changes with ('a'='b')`."""
    reference = table(name)
    inner = exp.to_identifier(part, quoted=True)
    reference.set("this", exp.Dot(this=reference.this, expression=inner))
    if options:  # the place after the name
        pairs = [exp.EQ(this=literal(k), expression=literal(v)) for k, v in options.items()]
        reference.set("partition", exp.WithTableHint(expressions=pairs))
    return reference


def refresh(name: TableName) -> exp.Command:
    """`refresh table t`: forget what the session remembers of a table."""
    return exp.Command(this="REFRESH TABLE", expression=render(table(name), pretty=False))


def show_properties(name: TableName) -> exp.Command:
    """`show tblproperties t`."""
    return exp.Command(this="SHOW TBLPROPERTIES", expression=render(table(name), pretty=False))


def session() -> exp.Select:
    """`select current_timezone() as zone, current_timestamp() as now`."""
    zone = exp.alias_(call("current_timezone"), "zone")
    return exp.select(zone, exp.alias_(call("current_timestamp"), "now"))


def show_create(name: TableName) -> exp.Command:
    """`show create table t`."""
    return exp.Command(this="SHOW CREATE TABLE", expression=render(table(name), pretty=False))


def show_in(kind: str, schema: TableName) -> exp.Command:
    """`show views in s`, `show table extended in s like '*'`."""
    like = " LIKE '*'" if kind.endswith("EXTENDED") else ""
    place = render(table(schema), pretty=False)
    return exp.Command(this=f"SHOW {kind} IN", expression=f"{place}{like}")


def create_branch(name: TableName, branch: str, version: int) -> exp.Alter:
    """`alter table t create branch b as of version n retain 1 days`.

    A branch that a killed run left behind goes with the next clean-up of old snapshots.
    """
    place = exp.Var(this=f"OF VERSION {int(version)} RETAIN 1 DAYS")
    made = exp.Create(this=exp.to_identifier(branch, quoted=True), kind="BRANCH", expression=place)
    return exp.Alter(this=table(name), kind="TABLE", actions=[made])


def drop_branch(name: TableName, branch: str) -> exp.Alter:
    """`alter table t drop branch if exists b`."""
    gone = exp.Drop(tables=[exp.to_identifier(branch, quoted=True)], kind="BRANCH", exists=True)
    return exp.Alter(this=table(name), kind="TABLE", actions=[gone])


def fast_forward(catalog: str, name: TableName, branch: str) -> exp.Command:
    """`call c.system.fast_forward('s.t', 'main', 'b')`; fails unless b is ahead of main."""
    called = exp.Dot.build(
        [
            exp.to_identifier(catalog, quoted=True),
            exp.to_identifier("system", quoted=True),
            exp.Anonymous(
                this="fast_forward",
                expressions=[
                    literal(render(table(name), pretty=False)),
                    literal("main"),
                    literal(branch),
                ],
            ),
        ]
    )
    return exp.Command(this="CALL", expression=render(called, pretty=False))


def _properties(values: Mapping[str, str]) -> list[exp.Expr]:
    return [exp.Property(this=literal(key), value=literal(value)) for key, value in values.items()]


def _header(name: str, comment: str | None) -> exp.ColumnDef:
    constraints = []
    if comment:
        kind = exp.CommentColumnConstraint(this=literal(comment))
        constraints.append(exp.ColumnConstraint(kind=kind))
    return exp.ColumnDef(this=exp.to_identifier(name, quoted=True), constraints=constraints)
