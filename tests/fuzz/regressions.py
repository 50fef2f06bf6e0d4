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
    Regression(
        "a subquery of one group",
        "select r.a, (select count(*) from s where s.b = r.b group by s.b) as n from r",
        "the error for a second row was refused as a function that the model does not declare",
    ),
    Regression(
        "a subquery beside a correlated total",
        "select r.a, (select count(*) + (select max(t.a) from t) from s where s.b = r.b) as n"
        " from r",
        "a total with a subquery beside it was not known to have a row where there are none",
    ),
    Regression(
        "in a correlated total",
        "select a from r where 0 in (select count(*) from s where s.b = r.b)",
        "an aggregate without GROUP BY has a row even where there is nothing to aggregate",
    ),
    Regression(
        "not in a correlated total",
        "select a from r where a not in (select max(s.a) from s where s.b = r.b)",
        "an aggregate without GROUP BY has a row even where there is nothing to aggregate",
    ),
    Regression(
        "a correlated total exists",
        "select a, exists (select count(*) from s where s.a = r.a) as e from r",
        "an aggregate without GROUP BY has a row even where there is nothing to aggregate",
    ),
    Regression(
        "a lateral total",
        "select r.a, q.n from r, lateral (select count(*) as n from s where s.b = r.b) q",
        "was refused, as an aggregate without GROUP BY needs a row for every row around it",
    ),
    Regression(
        "having of a correlated total",
        "select a, (select count(*) from s where s.b = r.b having count(*) < 2) as e from r",
        "was refused, as an aggregate without GROUP BY needs a row for every row around it",
    ),
    Regression(
        "a union that is correlated in two ways",
        "select a from r where exists (select s.a from s where s.c = r.c"
        " union all select t.a from t where t.c < r.c)",
        "the branch of the equality matched NULLs because the other one may",
    ),
    Regression(
        "a sum in a subquery",
        "select b, sum(a) in (select s.a from s) as x from r group by b"
        " having sum(distinct d) in (select t.a from t where t.b <> r.b) or max(a) > 0",
        "the sum was printed into the condition of the join above the groups",
    ),
    Regression(
        "a total in a subquery",
        "select sum(a) not in (select s.a from s) as x from r",
        "the sum on the left of IN was taken for one inside the subquery",
    ),
    Regression(
        "a subquery inside an aggregate of having",
        "select b from r group by b having count_if(a not in (select s.a from s)) = count(*)",
        "only subqueries beside the aggregates of HAVING were joined",
    ),
    Regression(
        "a correlated subquery below or, inside a correlated one",
        "select a from r where c in (select s.c from s where s.a < r.d and (s.b > 'y' or s.a in"
        " (select t.d from t where t.a <> s.a)))",
        "the values to compare with were taken from both queries around, not from the nearer one",
    ),
)
