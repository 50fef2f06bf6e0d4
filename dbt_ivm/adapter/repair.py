"""Repair of one model: compare at the watermark, put right what differs, or rebuild."""

from __future__ import annotations

from dataclasses import replace

from dbt_ivm.adapter.runner import Outcome, Request, Runner
from dbt_ivm.errors import IvmError
from dbt_ivm.plan.model import RefreshPlan, Strategy, Target
from dbt_ivm.plan.repair import DIFFERING, DOUBLED, plan_repair, why_rebuild
from dbt_ivm.plan.watermark import decode
from dbt_ivm.sources.formats import FORMATS


def repair(runner: Runner, request: Request) -> Outcome:
    """Make the extent what its SQL says at the watermark, in one commit and only where it differs.

    An extent that others changed is compared at the watermark it had before.
    """
    target = runner.target(request)
    if target.extent is None:
        raise IvmError(f"Model {request.model} has no extent to repair; run it first.")
    analysis = runner.analyze(request)
    facts = runner.gather(request, analysis, _with_last_watermark(target))
    stored = runner.facts.relation(request.extent).columns
    obstacle = why_rebuild(analysis, facts, stored)
    if obstacle:
        return _rebuilt(runner, request, obstacle)
    probe, plan = plan_repair(analysis, facts, runner.facts)
    found = runner.facts.ask(probe)[0]
    if found[DOUBLED]:
        return _rebuilt(runner, request, "a group is stored twice")
    if not found[DIFFERING] and target.watermark is not None:
        return Outcome(_said(plan, Strategy.NOOP, "nothing differs"))
    return runner.apply(
        _said(plan, plan.strategy, f"groups that differed: {found[DIFFERING]}"), request
    )


def _with_last_watermark(target: Target) -> Target:
    history = FORMATS[target.extent.format].lineage(target.extent) if target.extent else ()
    known = (decode(commit.metadata) for commit in history)
    return replace(target, watermark=next((w for w in known if w is not None), None))


def _rebuilt(runner: Runner, request: Request, obstacle: str) -> Outcome:
    outcome = runner.refresh(replace(request, full_refresh=True))
    outcome.plan = _said(outcome.plan, outcome.plan.strategy, f"rebuilt: {obstacle}")
    return outcome


def _said(plan: RefreshPlan, strategy: Strategy, reason: str) -> RefreshPlan:
    return replace(plan, strategy=strategy, reason=reason)
