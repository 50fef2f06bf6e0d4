"""A `RefreshPlan` as text."""

from __future__ import annotations

from dbt_ivm.plan.model import RefreshPlan
from dbt_ivm.sources.facts import Reading, SourceChange


def explain(plan: RefreshPlan) -> str:
    """Algebra with families, strategy and reason, what each source contributes, the statements."""
    lines = [f"Model     {plan.model}", f"Strategy  {plan.strategy.value} ({plan.reason})"]
    lines += [f"Reads     {plan.reads}"] if plan.reads else []
    lines += [f"Estimate  {plan.estimates}"] if plan.estimates else []
    lines += [f"Note      {note}" for note in (*plan.notes, *plan.doubts)]
    lines += ["", "Algebra"]
    lines += [f"  {line}" for line in plan.tree] or ["  none: the model is rebuilt as written"]
    lines += ["", "Sources"]
    lines += [f"  {_source(change)}" for change in plan.changes] or ["  none"]
    lines += ["", "Statements"]
    for number, step in enumerate(plan.steps, 1):
        marked = ", commits the watermark" if step.commits else ""
        lines += [f"  {number}. {step.title}{marked}"]
        lines += [f"     {line}" for line in step.sql.splitlines()]
    if not plan.steps:
        lines.append("  none")
    return "\n".join(lines)


def _source(change: SourceChange) -> str:
    name = change.head.title
    if change.mark is None:
        return f"{name}: version {change.head.version}, read whole"
    if change.reading is Reading.NOTHING:
        return f"{name}: version {change.head.version}, unchanged since {change.mark.version}"
    span = f"versions {change.mark.version} -> {change.head.version}"
    why = f" ({change.reason})" if change.reason else ""
    return f"{name}: {span}, {change.reading.value}{why}"
