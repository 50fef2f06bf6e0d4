"""Models with operators that ask about many rows, below and above each other."""

from __future__ import annotations

OUTER = {
    "left join": "select r.a, r.b, s.c from r left join s on r.a = s.a",
    "left join with a filter in on": "select r.a, s.n from r left join s on r.a = s.a and s.n > 0",
    "left join with a left filter in on": "select r.a, s.n from r left join s"
    " on r.a = s.a and r.v > 0",
    "left join with a filter in where": "select r.a, s.n from r left join s on r.a = s.a"
    " where s.n is null or r.v > 0",
    "left join on <=>": "select r.b, s.c from r left join s on r.a <=> s.a",
    "left join on an inequality": "select r.v, s.n from r left join s on r.v < s.n",
    "right join": "select r.b, s.c, s.a from r right join s on r.a = s.a",
    "full join": "select r.b, s.c from r full join s on r.a = s.a",
    "full join on more": "select r.b, s.c from r full join s on r.a = s.a and r.v <> s.n",
    "full join using": "select a, b, c from r full join s using (a)",
    "left join using": "select a, b, c from r left join s using (a)",
    "natural join": "select c, a, n, m from s natural join t",
    "natural left join": "select c, m, a, n from t natural left join s",
    "self left join": "select x.c as x, y.c as y from s x left join s y on x.a = y.n",
    "two left joins": "select r.b, s.n, t.m from r left join s on r.a = s.a"
    " left join t on s.c = t.c",
    "left join of an inner join": "select r.b, q.m from r left join"
    " (select s.a, t.m from s join t on s.c = t.c) q on q.a = r.a",
    "inner join of a left join": "select q.b, t.m from"
    " (select r.b, s.c from r left join s on r.a = s.a) q join t on q.c = t.c",
    "semi join": "select a, b from r left semi join s on r.a = s.a",
    "semi join on more": "select a, b from r left semi join s on r.a = s.a and r.v < s.n",
    "anti join": "select a, b from r left anti join s on r.a = s.a",
    "anti join on an inequality": "select a, v from r left anti join s on r.v < s.n",
    "anti join of a semi join": "select c, m from (select c, m from t left semi join s using (c)) q"
    " left anti join r on q.m = r.v",
    "left join, grouped": "select r.a, count(s.n) as n, sum(s.n) as x from r left join s"
    " on r.a = s.a group by r.a",
    "left join, grouped by the right": "select s.c, count(*) as n, max(r.v) as m from r"
    " left join s on r.a = s.a group by s.c",
    "left join of groups": "select s.c, q.n from s left join (select a, count(*) as n from r"
    " group by a) q on s.a = q.a",
    "groups left join groups": "select x.a, x.n, y.k from (select a, count(*) as n from r"
    " group by a) x left join (select a, max(n) as k from s group by a) y on x.a = y.a",
    "groups full join groups": "select x.a, x.n, y.k from (select a, count(*) as n from r"
    " group by a) x full join (select a, max(n) as k from s group by a) y on x.a = y.a",
}

SUBQUERIES = {
    "exists": "select a, b from r where exists (select 1 from s where s.a = r.a)",
    "not exists": "select a, b from r where not exists (select 1 from s where s.a = r.a)",
    "exists on more": "select a, b from r where exists (select 1 from s where s.a = r.a"
    " and s.n > r.v)",
    "exists on an inequality": "select v from r where exists (select 1 from s where s.n > r.v)",
    "exists, uncorrelated": "select a from r where exists (select 1 from t where m > 0)",
    "not exists, uncorrelated": "select a from r where not exists (select 1 from t where m > 0)",
    "in": "select a, b from r where a in (select a from s)",
    "not in": "select a, b from r where a not in (select a from s)",
    "in with a filter": "select a, b from r where v > 0 and a in (select a from s where n >= 0)",
    "not in with a filter": "select a, b from r where a not in (select a from s where n > 0)",
    "in, correlated": "select a, b from r where v in (select n from s where s.a = r.a)",
    "not in, correlated": "select a, b from r where v not in (select n from s where s.a = r.a)",
    "in of groups": "select a, b from r where a in (select a from s group by a having count(*) > 1)",
    "tuple in": "select c, m from t where (c, m) in (select c, n from s)",
    "= any": "select a from r where a = any (select a from s)",
    "several subqueries": "select a, b from r where a in (select a from s) and b not in"
    " (select c from t where c is not null) and exists (select 1 from t where t.m = r.v)",
    "exists under or": "select a, b from r where v > 0 or exists (select 1 from s where s.a = r.a)",
    "in under or": "select a, b from r where v > 0 or a in (select a from s)",
    "not in under or": "select a, b from r where v > 0 or a not in (select a from s)",
    "in as a value": "select a, a in (select a from s) as x from r",
    "exists as a value": "select b, case when exists (select 1 from s where s.a = r.a and n > 0)"
    " then 'y' else 'n' end as x from r",
    "in under case": "select b, case when a in (select a from s where c = 'x') then 1 else 0 end as x"
    " from r",
    "scalar": "select a, (select max(n) from s) as x from r",
    "scalar in where": "select a, v from r where v > (select avg(n) from s)",
    "scalar, correlated": "select a, (select max(n) from s where s.a = r.a) as x from r",
    "correlated count": "select a, (select count(*) from s where s.a = r.a) as x from r",
    "correlated count and more": "select b, (select count(*) + 1 from s where s.a = r.a) as x from r",
    "correlated on an inequality": "select v, (select count(*) from s where s.n < r.v) as x from r",
    "correlated in where": "select a, v from r where v >= (select max(n) from s where s.a = r.a)",
    "correlated with itself": "select a, v from r where v > (select avg(v) from r z where z.a = r.a)",
    "scalar in having": "select a, sum(v) as x from r group by a having sum(v) >"
    " (select min(n) from s)",
    "scalar above groups": "select a, count(*) as n, (select max(m) from t) as x from r group by a",
    "correlated above groups": "select a, count(*) as n, (select sum(n) from s where s.a = r.a) as x"
    " from r group by a",
    "scalar inside an aggregate": "select b, sum(v + (select count(*) from t)) as x from r group by b",
    "scalar of one row at most": "select a, (select max(n) as x from s where s.a = r.a group by s.a) as x"
    " from r",
    "a key with a subquery": "select case when exists (select 1 from s where s.a = r.a) then 1 else 0 end"
    " as k, count(*) as n from r group by 1",
    "subquery in on": "select r.b, s.n from r join s on r.a = s.a and s.c in (select c from t)",
    "nested subqueries": "select a, b from r where a in (select a from s where c in"
    " (select c from t where m > 0))",
    "doubly correlated": "select a, b from r where exists (select 1 from s where s.a = r.a and exists"
    " (select 1 from t where t.c = s.c and t.m <= r.v))",
    "lateral": "select r.b, q.k from r, lateral (select n + 1 as k from s where s.a = r.a) q",
}

SETS = {
    "distinct": "select distinct a, b from r",
    "distinct of a join": "select distinct s.c from r join s on r.a = s.a",
    "union": "select a, b from r union select a, c from s",
    "union of three": "select b from r union select c from s union select c from t",
    "intersect": "select a, b from r intersect select a, c from s",
    "intersect all": "select b from r intersect all select c from s",
    "except": "select a, b from r except select a, c from s",
    "except all": "select b from r except all select c from s",
    "except of a union": "select b from r union all select c from t except select c from s",
    "distinct, grouped": "select a, count(*) as n from (select distinct a, b from r) q group by a",
    "union, joined": "select q.x, t.m from (select b as x from r union select c from s) q"
    " join t on t.c = q.x",
    "distinct below distinct": "select distinct a from (select distinct a, b from r) q",
}

NESTED = {
    "groups of groups": "select n, count(*) as k from (select a, count(*) as n from r group by a) q"
    " group by n",
    "coarser groups": "select a, sum(x) as s from (select a, b, sum(v) as x from r group by a, b) q"
    " group by a",
    "max of sums": "select max(x) as m from (select a, sum(v) as x from r group by a) q",
    "join of groups": "select x.a, x.n, y.s from (select a, count(*) as n from r group by a) x"
    " join (select a, sum(n) as s from s group by a) y on x.a = y.a",
    "rows beside their group": "select r.a, r.v, q.s from r join (select a, sum(v) as s from r"
    " group by a) q on q.a <=> r.a",
    "having below a join": "select s.c, q.n from s join (select a, count(*) as n from r group by a"
    " having count(*) > 1) q on q.a = s.a",
    "key-wise below": "select n, count(*) as k from (select a, count(distinct b) as n from r"
    " group by a) q group by n",
    "union of groups": "select a, count(*) as n from r group by a union all select a, sum(n) from s"
    " group by a",
    "group of a union of groups": "select a, sum(n) as n from (select a, count(*) as n from r"
    " group by a union all select a, count(*) from s group by a) q group by a",
    "CTE of groups used twice": "with q as (select a, count(*) as n from r group by a)"
    " select x.a, y.a as b from q x join q y on x.n = y.n and x.a < y.a",
    "doubles below a join": "select s.c, q.x from s join (select a, sum(f) as x from r group by a) q"
    " on q.a = s.a",
    "rows beside the total": "select a, v, t from r cross join (select sum(v) as t from r) q",
    "filter on groups": "select a, n * 2 as m from (select a, count(*) as n from r group by a) q"
    " where n > 1",
}

WINDOWS = {
    "running sum": "select a, v, sum(v) over (partition by a order by v) as s from r",
    "count per partition": "select a, b, count(*) over (partition by a) as n from r",
    "rank": "select a, v, rank() over (partition by a order by v desc) as k,"
    " dense_rank() over (partition by a order by v desc) as d from r",
    "row_number of one": "select a, v from (select a, v, row_number() over (partition by a"
    " order by v desc) as k from r) q where k = 1",
    "top two": "select a, v from (select a, v, row_number() over (partition by a"
    " order by v desc) as k from r) q where k <= 2",
    "lag": "select c, m, lag(m) over (partition by c order by m) as p from t",
    "two partitions": "select a, b, v, sum(v) over (partition by a) as x,"
    " count(*) over (partition by b) as y from r",
    "window over groups": "select a, b, n, sum(n) over (partition by a) as t from"
    " (select a, b, count(*) as n from r group by a, b) q",
    "window in a grouped select": "select a, b, count(*) as n, rank() over (partition by a"
    " order by count(*)) as k from r group by a, b",
    "groups over a window": "select k, count(*) as n from (select rank() over (partition by a"
    " order by v) as k from r) q group by k",
    "window of a join": "select r.b, s.n, sum(s.n) over (partition by r.a) as x from r join s"
    " on r.a = s.a",
    "window over sums of doubles": "select c, x, rank() over (partition by c order by x desc) as k from"
    " (select s.c, r.a, sum(r.f) as x from r join s on r.a = s.a group by s.c, r.a) q",
    "rows of a window over sums of doubles": "select b, c, x from (select r.b, s.c, sum(r.f) as x,"
    " row_number() over (partition by s.c order by sum(r.f), r.b) as k from r join s on r.a = s.a"
    " group by r.b, s.c) q where k <= 2",
    "window over all rows": "select c, m, rank() over (order by m) as k from t",
    "groups over a window over all rows": "select k, count(*) as n from (select rank()"
    " over (order by m) as k from t) q group by k",
    "frames": "select c, m, sum(m) over (partition by c order by m rows between 1 preceding and"
    " 1 following) as s from t",
    "named window": "select c, sum(m) over w as s, min(m) over w as lo from t"
    " window w as (partition by c)",
    "limit below": "select c, count(*) as n from (select c, m from t order by m desc, c limit 3) q"
    " group by c",
    "limit below a join": "select s.c, q.m from s join (select c, m from t order by m, c limit 2) q"
    " on q.c = s.c",
    "order by what is not shown": "select c from t order by m, c limit 2",
    "values": "select r.b, q.w from r join values (0, 'zero'), (1, 'one') as q(k, w) on q.k = r.a",
    "rollup": "select a, b, count(*) as n, sum(v) as s, grouping(a) as g from r where v is not null"
    " group by rollup (a, b) having count(*) > 0",
    "cube": "select a, p, count(*) as n, grouping_id(a, p) as g from r group by cube (a, p)"
    " having count(*) > 0",
    "grouping sets": "select a, b, max(v) as m from r group by grouping sets ((a, b), (b), ())"
    " having count(*) > 0",
}

NESTED_MODELS = OUTER | SUBQUERIES | SETS | NESTED | WINDOWS
