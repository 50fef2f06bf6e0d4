"""What a function of the time is, given the time as a number."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.scalar import call
from dbt_ivm.sql.dialect import literal, spark_type

CLOCK_DATES = {"current_date", "curdate"}
_MADE = {"date": "date_from_unix_date", "timestamp": "timestamp_micros"}


def grain_of(function: str) -> str:
    """Whether a function asks for the day or for the time of day."""
    return "date" if function in CLOCK_DATES else "timestamp"


def clock_literal(grain: str, version: int) -> exp.Expr:
    """The time itself, whatever the zone of the session that reads it."""
    return call(_MADE[grain], literal(version))


def clock_value(function: str, version: int) -> exp.Expr:
    """`current_date()` at a given day, `now()` at a given microsecond."""
    grain = grain_of(function)
    return as_asked(function, clock_literal(grain, version))


def as_asked(function: str, time: exp.Expr) -> exp.Expr:
    """The answer of one function, from the day or the time it asks for."""
    if function == "localtimestamp":
        return exp.Cast(this=time, to=spark_type("timestamp_ntz"))
    return call("unix_timestamp", time) if function == "unix_timestamp" else time
