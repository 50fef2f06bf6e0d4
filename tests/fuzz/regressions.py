"""Models on which the fuzzer found a fault, as small as they could be made."""

from __future__ import annotations

from dataclasses import dataclass

SCHEMA = {
    "r": {"a": "int", "b": "string", "c": "boolean", "d": "int"},
    "s": {"a": "int", "b": "string", "c": "boolean", "d": "int"},
    "t": {"a": "int", "b": "string", "c": "boolean", "d": "int"},
}


@dataclass(frozen=True)
class Regression:
    """A model and what went wrong with it."""

    title: str
    sql: str
    why: str


REGRESSIONS = (
    Regression(
        "rows of a total that nobody reads",
        "select (select count(*) from (select sum(a) as m from r) q) as x from s",
        "pruning left an aggregate without keys and without calls: a SELECT of nothing",
    ),
    Regression(
        "a subquery beside a total",
        "select count(*) as n, (select max(s.a) from s) as m from r",
        "without GROUP BY the SELECT was not seen to group, and the subquery joined below it",
    ),
    Regression(
        "exists beside a total",
        "select sum(a) as n, exists (select 1 from s where s.a > 0) as m from r",
        "without GROUP BY the SELECT was not seen to group, and the subquery joined below it",
    ),
)
