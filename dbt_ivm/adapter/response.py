"""What a refresh reports to dbt: the log line and the fields of `run_results.json`."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from dbt.adapters.contracts.connection import AdapterResponse

from dbt_ivm.adapter.runner import Outcome
from dbt_ivm.plan.model import Strategy


@dataclass
class IvmResponse(AdapterResponse):
    """dbt's response with the strategy, its reason and the counts of a refresh."""

    ivm_strategy: str | None = None
    ivm_reason: str | None = None
    rows_inserted: int | None = None
    rows_updated: int | None = None
    rows_deleted: int | None = None
    rows_read: int | None = None
    statements: int | None = None
    ivm_estimate: str | None = None
    ivm_warning: str | None = None


def response_of(outcome: Outcome) -> IvmResponse:
    """`incremental +2 ~1 -0 (changed: shop.orders)`."""
    plan = outcome.plan
    counts = astuple(outcome.counts)
    moved = "" if plan.strategy is Strategy.NOOP else " +{} ~{} -{}".format(*counts)
    return IvmResponse(
        _message=f"{plan.strategy.value}{moved} ({plan.reason})",
        code=plan.strategy.value.upper(),
        rows_affected=sum(counts),
        ivm_strategy=plan.strategy.value,
        ivm_reason=plan.reason,
        rows_inserted=counts[0],
        rows_updated=counts[1],
        rows_deleted=counts[2],
        rows_read=outcome.rows_read,
        statements=outcome.statements,
        ivm_estimate=str(plan.estimates) if plan.estimates else None,
        ivm_warning=_warning(outcome),
    )


def _warning(outcome: Outcome) -> str | None:
    plan = outcome.plan
    if not plan.refusal:
        told = plan.doubts if plan.strategy is Strategy.FULL else ()
        return f"{plan.model}: {'; '.join(told)}." if told else None
    return (
        f"{plan.model} is rebuilt on every change: {plan.refusal} has no"
        " incremental rule. Set ivm_on_unsupported: error to stop instead."
    )
