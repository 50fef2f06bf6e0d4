"""The choice between noop, incremental and full, and its reason."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_ivm.algebra.sizes import Sizes
from dbt_ivm.delta.rules import Changes
from dbt_ivm.errors import IvmError
from dbt_ivm.extents.base import Extent
from dbt_ivm.plan.analysis import Analysis
from dbt_ivm.plan.changes import changed_zone, lost
from dbt_ivm.plan.cost import Costs, Effort, Estimates, estimates, learned
from dbt_ivm.plan.model import Facts, Strategy
from dbt_ivm.plan.settings import OnLargeChange, Refresh
from dbt_ivm.plan.storage import changed_storage
from dbt_ivm.plan.watermark import STATE_FORMAT
from dbt_ivm.sources.facts import Reading, SourceChange
from dbt_ivm.sources.format import Trouble
from dbt_ivm.sources.formats import changed_rows

Moves = tuple[SourceChange, ...]


@dataclass(frozen=True)
class Decision:
    """How a model is brought up to date, and why."""

    strategy: Strategy
    reason: str
    estimates: Estimates | None = None


def decide(
    analysis: Analysis, extent: Extent | None, refusal: str, facts: Facts, changes: Moves
) -> Decision:
    """What cannot be built upon is rebuilt; of what can, the cheaper way is taken."""
    obstacle = _obstacle(analysis, extent, refusal, facts, changes)
    if obstacle:
        return Decision(Strategy.FULL, obstacle)
    if all(change.reading is Reading.NOTHING for change in changes):
        return Decision(Strategy.NOOP, "nothing changed")
    if extent is None:
        return Decision(Strategy.FULL, f"{refusal} has no rule")
    moved = moved_since(facts, changes)
    hazard = extent.hazard(moved)
    if hazard:
        return Decision(Strategy.FULL, hazard)
    found = estimates(costs_of(facts), moved.sizes, extent.change(moved))
    dear = _too_large(facts, moved) or _dearer(facts, found)
    if dear:
        return Decision(Strategy.FULL, dear, found)
    names = ", ".join(c.head.title for c in changes if c.reading is not Reading.NOTHING)
    return Decision(Strategy.INCREMENTAL, f"changed: {names}", found)


def _obstacle(
    analysis: Analysis, extent: Extent | None, refusal: str, facts: Facts, changes: Moves
) -> str:
    """Why what is stored cannot be built upon, or nothing."""
    target, watermark = facts.target, facts.target.watermark
    storage = changed_storage(facts)
    obstacles = (
        (facts.full_refresh, "asked for with --full-refresh"),
        (target.extent is None and target.view is not None, "the extent is gone"),
        (target.extent is None, "first build"),
        (bool(target.problem), target.problem),
        (watermark is None, "the extent carries no watermark"),
        (watermark is not None and watermark.format != STATE_FORMAT, "the stored format changed"),
        (
            watermark is not None and watermark.fingerprint != analysis.fingerprint,
            "the definition changed",
        ),
        (bool(changed_zone(facts)), changed_zone(facts)),
        (bool(storage), f"the setting {', '.join(storage)} changed"),
        (
            watermark is not None
            and extent is None
            and watermark.types.outputs != facts.types.outputs,
            "the model's columns changed",
        ),
        (facts.settings.refresh is Refresh.FULL, "the model sets ivm_refresh: full"),
        (analysis.tables is None or analysis.volatile, f"{refusal} has no rule"),
        (bool(lost(changes)), lost(changes)),
        (Trouble.HISTORY_LOST in facts.setbacks, Trouble.HISTORY_LOST.value),
    )
    return next((reason for stands, reason in obstacles if stands), "")


def _too_large(facts: Facts, moved: Changes) -> str:
    """The share of changed rows, where it is more than the model allows."""
    limit, known = facts.settings.max_change_ratio, sum(moved.sizes.changes.values())
    rows = sum(moved.sizes.tables.values())
    if limit is None or not rows or known <= limit * rows:
        return ""
    share = f"changes of {known / rows:.0%} of the source rows, more than ivm_max_change_ratio"
    if facts.settings.on_large_change is OnLargeChange.ERROR:
        raise IvmError(
            f"Model {facts.model} meets {share} {limit:g}; run it with --full-refresh, raise the"
            " setting, or let `ivm_on_large_change` be `full` or `incremental`."
        )
    return share if facts.settings.on_large_change is OnLargeChange.FULL else ""


def _dearer(facts: Facts, found: Estimates | None) -> str:
    """Why a rebuild should be cheaper, where the model leaves the choice to us."""
    if facts.settings.refresh is not Refresh.AUTO or found is None or not found.rebuild_pays:
        return ""
    return f"cheaper by estimate: {found}"


def moved_since(facts: Facts, changes: Moves) -> Changes:
    """The tables whose changes make terms, and how large all of them are."""
    moved = [c for c in changes if c.reading is not Reading.NOTHING]
    rows = {c.head.table: changed_rows(c) for c in moved}
    if Trouble.TOO_LARGE in facts.setbacks:  # what we thought of sizes was wrong
        return Changes(frozenset(rows))
    sizes = Sizes(
        {c.head.table: c.head.rows for c in changes if c.head.rows is not None},
        {name: n for name, n in rows.items() if n is not None},
    )
    return Changes(frozenset(rows), sizes)


def costs_of(facts: Facts) -> Costs:
    """What earlier commits of the model took, the last one included."""
    before = facts.target.watermark
    return learned(before.costs, before.effort, facts.target.commit) if before else Costs()


def effort(facts: Facts, strategy: Strategy, changes: Moves) -> Effort:
    """What the commit of a refresh is about to do, for the next one to learn from."""
    full = strategy is Strategy.FULL
    rows = [change.head.rows if full else changed_rows(change) for change in changes]
    total = None if None in rows else sum(n for n in rows if n is not None)
    return Effort(facts.began, full, total)
