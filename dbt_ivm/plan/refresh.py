"""Facts in, `RefreshPlan` out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt_ivm.delta.self_maintenance import tables_read
from dbt_ivm.errors import IvmError, Unsupported
from dbt_ivm.extents.base import Extent
from dbt_ivm.names import CLOCK
from dbt_ivm.plan.analysis import Analysis
from dbt_ivm.plan.changes import changes_since
from dbt_ivm.plan.describe import tree_lines
from dbt_ivm.plan.doubts import doubts
from dbt_ivm.plan.layout import extent_of
from dbt_ivm.plan.model import Facts, RefreshPlan, Step, Strategy
from dbt_ivm.plan.settings import OnUnsupported, Refresh
from dbt_ivm.plan.storage import (
    apply_steps,
    build_step,
    drop_table_step,
    schema_step,
    view_step,
)
from dbt_ivm.plan.strategy import costs_of, decide, effort, moved_since
from dbt_ivm.plan.watermark import Watermark
from dbt_ivm.sources.facts import Reading, SourceChange
from dbt_ivm.sources.format import Trouble
from dbt_ivm.sources.reader import SourceReader
from dbt_ivm.sql.catalog import Catalog


@dataclass(frozen=True)
class _Form:
    """The shape a model is kept in: an extent with rules, or a plain copy of its result."""

    extent: Extent | None
    refusal: str
    note: str


def plan_refresh(analysis: Analysis, facts: Facts, catalog: Catalog) -> RefreshPlan:
    """Decide between noop, incremental and full, and write the statements of the choice."""
    form = _form(analysis, facts)
    _refuse_if_asked(form, facts)
    since = changes_since(analysis, facts.heads, facts.target.watermark)
    changes = tuple(_readable(change, facts) for change in since)
    decision = decide(analysis, form.extent, form.refusal, facts, changes)
    strategy = decision.strategy
    view, digest = view_step(analysis, form.extent, facts)
    current = facts.target.watermark
    watermark = Watermark(
        generation=current.generation + 1 if current else facts.clock,
        fingerprint=analysis.fingerprint,
        shape=analysis.shape,
        marks=tuple(change.head.mark() for change in changes),
        types=facts.types,
        package=facts.package,
        writer=facts.writer,
        zone=facts.zone,
        effort=effort(facts, strategy, changes),
        costs=costs_of(facts),
    )
    steps: list[Step] = []
    reads = ""
    if facts.target.extent is None and (facts.settings.schema or facts.settings.catalog):
        steps.append(schema_step(facts.extent))
    if strategy is Strategy.FULL:
        steps.append(build_step(analysis, form.extent, facts, catalog))
    elif strategy is Strategy.INCREMENTAL and form.extent is not None:
        applying, reads = _merge_steps(form.extent, facts, changes)
        steps += applying
    if facts.target.kind == "table":
        steps.append(drop_table_step(facts.view))
    if facts.target.kind != "view" or facts.target.view != digest:
        steps.append(view)
    return RefreshPlan(
        model=facts.model,
        strategy=strategy,
        reason=decision.reason,
        estimates=decision.estimates,
        steps=tuple(steps),
        watermark=None if strategy is Strategy.NOOP else watermark,
        changes=changes,
        tree=_tree(analysis, form),
        notes=_notes(form, changes),
        reads=reads,
        refusal=form.refusal,
        doubts=doubts(analysis.maintainable.tree) if analysis.maintainable else (),
    )


def _form(analysis: Analysis, facts: Facts) -> _Form:
    if analysis.maintainable is None:
        return _Form(None, analysis.refusal, "")
    try:
        extent, note = extent_of(analysis.maintainable, facts.types, facts.extent)
    except Unsupported as refusal:
        return _Form(None, str(refusal), "")
    return _Form(extent, "", note)


def _refuse_if_asked(form: _Form, facts: Facts) -> None:
    if not form.refusal:
        return
    settings = facts.settings
    asked = (
        "ivm_on_unsupported: error"
        if settings.on_unsupported is OnUnsupported.ERROR
        else "ivm_refresh: incremental"
        if settings.refresh is Refresh.INCREMENTAL
        else ""
    )
    if asked:
        raise IvmError(
            f"Model {facts.model} cannot be maintained incrementally: {form.refusal} has no rule."
            f" Rewrite it, or allow rebuilding by removing `{asked}`."
        )


def _readable(change: SourceChange, facts: Facts) -> SourceChange:
    """The change as this attempt can read it, after what earlier attempts ran into."""
    if Trouble.FEED_REFUSED in facts.setbacks and change.reading is Reading.FEED:
        return replace(change, reading=Reading.DIFFERENCE, reason=Trouble.FEED_REFUSED.value)
    return change


def _merge_steps(
    extent: Extent, facts: Facts, changes: tuple[SourceChange, ...]
) -> tuple[list[Step], str]:
    """The MERGE, and whether it reads more than the changes (self-maintenance)."""
    by_table = {change.head.table: change for change in changes}
    moved = moved_since(facts, changes)
    # A source whose commits changed no row is read at its head on both sides.
    merge = extent.merge(moved, SourceReader(by_table))
    read = [name for name in tables_read(extent.change(moved)) if name != extent.table]
    others = [".".join(name) for name in read if name[0] != CLOCK]
    reads = f"changes, and {', '.join(others)}" if others else "changes only"
    return apply_steps("apply the change", merge, facts), reads


def _tree(analysis: Analysis, form: _Form) -> tuple[str, ...]:
    model = analysis.maintainable
    if model is None:
        return ()
    lines = tree_lines(model.tree)
    family = form.extent.family if form.extent else "not maintained"
    above = len(lines) - len(tree_lines(model.core))
    depth = len(lines[above]) - len(lines[above].lstrip())
    core = tree_lines(model.core, depth // 2)
    core[0] = f"{core[0].split('  [')[0]}  <- extent, {family}"
    return tuple(f"{line.split('  [')[0]}  [view]" for line in lines[:above]) + tuple(core)


def _notes(form: _Form, changes: tuple[SourceChange, ...]) -> tuple[str, ...]:
    notes = [form.note] if form.note else []
    notes += [
        f"`{'.'.join(c.head.table)}` is read as a {c.reading.value}: {c.reason}"
        for c in changes
        if c.reading is Reading.DIFFERENCE
    ]
    return tuple(notes)
