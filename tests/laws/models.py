"""The models the laws are checked on: every operator rule, every combinable aggregate."""

from __future__ import annotations

from dbt_ivm.aggregates.registry import REGISTRY
from tests.laws.models_nested import NESTED_MODELS

OPERATORS = {
    "filter": "select a, b from r where v > 0 or b is null",
    "filter on nothing": "select a from r where false",
    "project": "select v + 1 as u, upper(b) as b, case when p then a else v end as c from r",
    "project to a constant": "select 1 as one from r",
    "a column twice": "select a, a as again from r",
    "union all": "select a, b from r where p union all select a, c from s",
    "union all of three": "select b as x from r union all select c from s"
    " union all select c from t",
    "union all with itself": "select a, b from r union all select a, b from r where v >= 0",
    "union all below a filter": "select x from (select b as x, a from r union all"
    " select c, a from s) q where a = 1",
    "explode": "select a, x from r lateral view explode(xs) e as x",
    "explode in the select list": "select b, explode(xs) as x from r",
    "explode, grouped": "select x, count(*) as n from r lateral view explode(xs) e as x group by x",
    "join on equality": "select r.b, s.c from r join s on r.a = s.a",
    "join on <=>": "select r.b, s.c, s.n from r join s on r.a <=> s.a",
    "join on an inequality": "select r.v, s.n from r join s on r.v < s.n",
    "join on equality and more": "select r.a, s.n from r join s on r.a = s.a and r.v <> s.n",
    "join using": "select a, b, c from r join s using (a)",
    "cross join": "select r.b, t.m from r cross join t",
    "comma join": "select r.b, s.c from r, s where r.a = s.a and s.n >= 0",
    "self-join": "select x.c as x, y.c as y from s x join s y on x.a = y.a and x.n <= y.n",
    "three-way join": "select r.b, s.n, t.m from r join s on r.a = s.a join t on s.c = t.c",
    "three-way self-join": "select x.m, y.m as ym, z.m as zm from t x join t y on x.c = y.c"
    " join t z on y.c = z.c",
    "join of unions": "select q.x, t.m from (select b as x from r union all select c from s) q"
    " join t on q.x = t.c",
    "join of a projection": "select q.u, s.c from (select a, v * 2 as u from r where p) q"
    " join s on s.a = q.a",
    "union of joins": "select r.b as x from r join s on r.a = s.a"
    " union all select t.c from t join s on s.c = t.c",
    "CTE used twice": "with q as (select a, c from s where n >= 0)"
    " select x.c as x, y.c as y from q x join q y on x.a <=> y.a",
    "CTE over a CTE": "with q as (select a, v from r), z as (select a, v from q where v > 0)"
    " select z.v, q.v as w from z join q on z.a = q.a",
    "derived table": "select u from (select a + v as u from r) q where u > 0",
    "names swapped": "select a as b, b as a from r",
    "order by in the view": "select c, m from t order by c, m",
    "limit in the view": "select c, m from t order by c desc, m limit 3 offset 1",
}

GROUPS = {
    "group by column": "select b, count(*) as n, sum(v) as s from r group by b",
    "group by two columns": "select a, b, count(v) as n from r group by a, b",
    "group by expression": "select v % 2 as odd, count(*) as n from r group by v % 2",
    "group by position": "select upper(b) as x, sum(v) as s from r group by 1",
    "group by alias": "select coalesce(a, 0) as k, sum(v) as s from r group by k",
    "group by all": "select a, b, max(v) as m from r group by all",
    "group without an aggregate": "select a from r group by a",
    "group by nothing shown": "select count(*) as n from r group by a",
    "group by date": "select d, count(*) as n from r group by d",
    "names swapped, grouped": "select a as b, b as a, count(*) as n from r group by a, b",
    "top groups in the view": "select b, count(*) as n from r group by b"
    " order by n desc, b limit 2",
    "having on what is not shown": "select b, count(*) as n from r group by b having max(v) > n",
    "having": "select a, sum(v) as s from r group by a having count(*) > 1 and sum(v) >= 0",
    "having by alias": "select b, count(*) as n from r group by b having n > 1",
    "expression over aggregates": "select a, sum(v) + count(*) * 2 as x from r group by a",
    "global aggregate": "select count(*) as n, sum(v) as s, max(v) as m, avg(w) as x from r",
    "global aggregate of a filter": "select count(*) as n, sum(v) as s from r where p",
    "global extrema": "select min(v) as lo, max(d) as hi from r",
    "global key-wise": "select count(distinct a) as n, median(f) as m from r",
    "join, grouped": "select s.c, count(*) as n, sum(r.v) as x, max(r.w) as m"
    " from r join s on r.a = s.a group by s.c",
    "self-join, grouped": "select x.c, sum(y.n) as s from s x join s y on x.a = y.a group by x.c",
    "union, grouped": "select x, count(*) as n, min(u) as lo from (select b as x, v as u from r"
    " union all select c, m from t) q group by x",
    "extrema": "select a, min(v) as lo, max(v) as hi from r group by a",
    "extrema of text": "select a, min(b) as lo, max(b) as hi from r group by a",
    "extrema beside sums": "select a, max(v) as hi, sum(w) as s, count(p) as n from r group by a",
    "extrema of a join": "select s.c, min(r.v) as lo, max(s.n) as hi"
    " from r join s on r.a <=> s.a group by s.c",
    "key-wise count distinct": "select b, count(distinct v) as n from r group by b",
    "key-wise sum distinct": "select b, sum(distinct v) as s, count(*) as n from r group by b",
    "key-wise sum of double": "select a, sum(f) as s, avg(f) as m from r group by a",
    "key-wise median": "select a, median(v) as m from r group by a",
    "key-wise over a join": "select s.c, count(distinct r.v) as n from r join s on r.a = s.a"
    " group by s.c",
    "key-wise with filter": "select b, count(distinct v) filter (where p) as n from r group by b",
}

ARGUMENTS = {
    "count": ("*", "v", "a, v", "1", "xs"),
    "count_if": ("v > 0", "p"),
    "sum": ("v", "w", "v * 2"),
    "avg": ("v", "w"),
    "mean": ("v",),
    "bool_or": ("p", "v > 0"),
    "any": ("p",),
    "some": ("v > 0",),
    "bool_and": ("p", "v > 0"),
    "every": ("p",),
    "min": ("v", "w", "d", "f"),
    "max": ("v", "w", "d", "b"),
}
"""Per combinable aggregate, arguments to try it on, without and with FILTER."""


def _aggregates() -> dict[str, str]:
    return {
        f"every {function}": "select a, "
        + ", ".join(
            f"{function}({argument}){condition} as x{number}{'f' if condition else ''}"
            for number, argument in enumerate(ARGUMENTS.get(function, ()))
            for condition in ("", " filter (where b = 'x')")
        )
        + " from r group by a"
        for function in REGISTRY
        if function in ARGUMENTS
    }


MODELS = OPERATORS | GROUPS | _aggregates() | NESTED_MODELS
