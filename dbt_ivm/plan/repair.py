"""Repair: the groups of an extent that differ from its SQL at the watermark, and only those."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import is_comparable
from dbt_ivm.algebra.scalar import call, column
from dbt_ivm.extents.base import Extent
from dbt_ivm.names import HIDDEN_PREFIX, WEIGHT
from dbt_ivm.plan.analysis import Analysis
from dbt_ivm.plan.changes import changed_zone, changes_since, lost, standing
from dbt_ivm.plan.layout import extent_of
from dbt_ivm.plan.model import Facts, RefreshPlan, Strategy
from dbt_ivm.plan.storage import apply_steps, state_query, view_step
from dbt_ivm.plan.watermark import STATE_FORMAT
from dbt_ivm.sql.catalog import Catalog, ColumnFact
from dbt_ivm.sql.dialect import literal, table
from dbt_ivm.sql.statements import Merge

DIFFERING, DOUBLED = "differing", "doubled"
_NET = HIDDEN_PREFIX + "net"
_KEPT = HIDDEN_PREFIX + "kept"


def why_rebuild(analysis: Analysis, facts: Facts, stored: tuple[ColumnFact, ...]) -> str:
    """Why an extent cannot be compared group by group at its watermark; nothing where it can."""
    watermark = facts.target.watermark
    if watermark is None:
        return facts.target.problem or "there is no watermark to compare at"
    if watermark.format != STATE_FORMAT or watermark.fingerprint != analysis.fingerprint:
        return "the definition changed"
    if analysis.maintainable is None:
        return f"{analysis.refusal} has no rule"
    opaque = [c.name for c in stored if not is_comparable(c.type)]
    if opaque:
        return f"`{opaque[0]}` cannot be compared"
    return changed_zone(facts) or lost(changes_since(analysis, facts.heads, watermark))


def plan_repair(
    analysis: Analysis, facts: Facts, catalog: Catalog
) -> tuple[exp.Query, RefreshPlan]:
    """A query that counts what is wrong, and the MERGE that puts it right.

    net = γ_{all columns; sum}(extent × 1 + SQL at the watermark × -1), weights ≠ 0
    """
    watermark = facts.target.watermark
    if watermark is None or analysis.maintainable is None:
        raise AssertionError("an extent without watermark or rules is rebuilt")
    changes = changes_since(analysis, facts.heads, watermark)
    facts = replace(facts, heads={c.head.table: standing(c) for c in changes})
    extent, _ = extent_of(analysis.maintainable, watermark.types, facts.extent)
    expected = state_query(analysis, extent, facts, catalog)
    view, digest = view_step(analysis, extent, facts)
    steps = apply_steps("put the groups right", correction(extent, expected), facts)
    if facts.target.kind != "view" or facts.target.view != digest:
        steps.append(view)
    marked = replace(watermark, generation=watermark.generation + 1, writer=facts.writer)
    plan = RefreshPlan(
        facts.model, Strategy.INCREMENTAL, "repaired", tuple(steps), marked, changes=(), tree=()
    )
    return probe(extent, expected), plan


def probe(extent: Extent, expected: exp.Expr) -> exp.Query:
    """`select (groups that differ) as differing, (keys stored twice) as doubled`."""
    keys = [column(name) for name in extent.keys]
    one = exp.alias_(literal(1), "n", quoted=True)
    differing = exp.select(one).from_(_derived(_net(extent, expected), "d"))
    twice = exp.GT(this=call("count", exp.Star()), expression=literal(1))
    doubled = exp.select(one.copy()).from_(table(extent.table)).having(twice)
    if keys:
        differing = differing.group_by(*keys)
        doubled = doubled.group_by(*(key.copy() for key in keys))
    else:
        differing = differing.limit(1)
    return exp.select(
        exp.alias_(_counted(differing), DIFFERING, quoted=True),
        exp.alias_(_counted(doubled), DOUBLED, quoted=True),
    )


def correction(extent: Extent, expected: exp.Expr) -> Merge:
    """Rows that should be there are written, groups that should not be there are deleted."""
    names = [column(name, "n") for name in extent.stored]
    missing = _net_rows(names, exp.true(), exp.LT)
    # A join, not EXISTS: Delta cannot read the target of a MERGE in a subquery of its source.
    same = [exp.NullSafeEQ(this=column(k, "n"), expression=column(k, "e")) for k in extent.keys]
    also = exp.LT(this=column(WEIGHT, "e"), expression=literal(0))
    twin = exp.Join(
        this=exp.alias_(exp.to_table(_NET), "e", table=True),
        side="LEFT",
        kind="ANTI",
        on=exp.and_(*same, also),
    )
    surplus = _net_rows(names, exp.false(), exp.GT)
    surplus.append("joins", twin)
    using = exp.Union(this=missing, expression=surplus, distinct=False)
    values = [name for name in extent.stored if name not in extent.keys]
    return Merge(
        extent.table,
        using.with_(_NET, as_=_net(extent, expected)),
        extent.keys,
        delete_if=exp.Not(this=column(_KEPT, "d")),
        update_if=None,
        update={name: column(name, "d") for name in values},
        insert_if=column(_KEPT, "d"),
        insert={name: column(name, "d") for name in extent.stored},
    )


def _net_rows(names: list[exp.Column], kept: exp.Expr, sign: type[exp.Binary]) -> exp.Select:
    """`select n.…, true as kept from net n where n.weight < 0`."""
    mark = exp.alias_(kept, _KEPT, quoted=True)
    source = exp.alias_(exp.to_table(_NET), "n", table=True)
    rows = exp.select(*(name.copy() for name in names), mark).from_(source)
    return rows.where(sign(this=column(WEIGHT, "n"), expression=literal(0)))


def _net(extent: Extent, expected: exp.Expr) -> exp.Select:
    names = [column(name) for name in extent.stored]
    sides = []
    for source, sign in (
        (table(extent.table), literal(1)),
        (_derived(expected.copy(), "q"), exp.Neg(this=literal(1))),
    ):
        weight = exp.alias_(sign, WEIGHT, quoted=True)
        sides.append(exp.select(*(n.copy() for n in names), weight).from_(source))
    both = exp.Union(this=sides[0], expression=sides[1], distinct=False)
    total = call("sum", column(WEIGHT))
    return (
        exp.select(*names, exp.alias_(total, WEIGHT, quoted=True))
        .from_(_derived(both, "s"))
        .group_by(*(n.copy() for n in names))
        .having(exp.NEQ(this=total.copy(), expression=literal(0)))
    )


def _counted(query: exp.Query) -> exp.Subquery:
    counted = exp.select(call("count", exp.Star())).from_(_derived(query, "c"))
    return exp.Subquery(this=counted)


def _derived(body: exp.Expr, alias: str) -> exp.Subquery:
    return exp.Subquery(this=body, alias=exp.TableAlias(this=exp.to_identifier(alias)))
