"""SQL the way people write it: many forms of the supported operators over many types."""

from __future__ import annotations

import pytest

from tests.shop import Shop

ROWS = """
select cast(id as int) as id, cast(id % 4 as bigint) as k,
  cast(id * 1.25 as decimal(18,4)) as price, cast(id as decimal(30,10)) as wide,
  cast(id % 3 as double) - 0.0D as f, if(id % 5 = 0, null, concat('name ', id % 3)) as name,
  date_add(date '2026-01-30', cast(id % 4 as int)) as day, timestamp_ntz '2026-03-29 01:30:00' as ts,
  named_struct('city', concat('c', id % 2), 'zip', cast(id % 3 as int)) as addr,
  map('a', cast(id as int), 'b', null) as m, array(cast(id % 2 as int), null, 7) as xs,
  id % 2 = 0 as flag, cast(concat('b', id % 2) as binary) as bin
from range({first}, {last})
"""
BAGS = {
    "scalars": "select id, nvl(name, 'none') as name, case when k > 1 then 'hi' else name end as c,"
    " price between 1 and 9 as mid, k in (1, 3) as odd, name like '%1' as one, try_cast(name as int)"
    " as n, day + interval 2 days as later, year(day) as y, 'it\\'s \\\\ \\n \"q\"' as text from {s}.t",
    "nested": "select addr, addr.city, t.addr.zip as zip, m['a'] as a, xs[0] as x0, bin, ts,"
    " transform(xs, x -> x + t.k) as plus, struct(k, name as n) as both, date '2026-01-01' as d"
    " from {s}.t t",
    "exploded": "select id, pos, x, key, value from {s}.t lateral view posexplode(xs) p as pos, x"
    " lateral view outer explode(m) e as key, value where x is not null",
    "floats": "select f, -f as minus, f / 0 as broken, sqrt(-1 - f) as nan from {s}.t",
    "hinted": "select /*+ broadcast(u) */ t.* except (m), u.id as uid from {s}.u u, {s}.t as t"
    " where t.k = u.id and t.price > u.low",
    "four": "select a.id, b.id as b, c.id as c, d.city from {s}.t a join {s}.u b on a.k = b.id"
    " join {s}.u c on c.id = b.id + 1 and c.low <= b.low join (select distinct_zip.addr.city,"
    " distinct_zip.id from {s}.t distinct_zip) d on d.id = a.id",
    "stacked": "with x as (select id, k from {s}.t where flag union all select id, low from {s}.u),"
    " y as (select x.*, id + k as s from x) select s, k from y where s > 2 union all"
    " select id, null from y",
    "renamed": "select v.one, w.two from {s}.outer_view v join (select id, low from {s}.u) as w(one,"
    " two) using (one)",
}
GROUPS = {
    "keys": "select addr.city as city, day, flag, count(1) as n, count(name) as named,"
    " count(distinct name) as names from {s}.t group by addr.city, day, flag",
    "sums": "select k, sum(price) as p, avg(price) as ap, sum(id) as i, avg(id) as ai, avg(k) as ak,"
    " sum(case when flag then price end) as fp, sum(price * 2 - k) as e, count_if(flag) as c,"
    " avg(price) filter (where name is not null) as af from {s}.t group by k",
    "wide": "select k, sum(wide) as w, avg(wide) as aw, sum(f) as f from {s}.t group by k",
    "floats_as_keys": "select f / 0 as z, -f as m, count(*) as n from {s}.t group by 1, 2",
    "extremes": "select name, max(day) as d, min(ts) as t, max(addr) as a, min(f) as f, max(bin) as b,"
    " min(flag) as fl, max(price) - min(price) as spread from {s}.t group by name",
    "gathered": "select flag, sort_array(collect_set(k)) as ks, min_by(id, price) as mb, mode(k) as mo,"
    " bit_xor(id) as bx, percentile_approx(id, 0.5) as pa, max_by(m, id) as mm,"
    " listagg(distinct city) within group (order by city) as cs from (select *, addr.city from {s}.t)"
    " group by flag",
    "shaped": "select upper(name) as who, case when count(*) > 2 then 'many' else 'few' end as size,"
    " round(sum(price) / nullif(count(name), 0), 2) as per, named_struct('n', count(*)) as s"
    " from {s}.t group by upper(name) having size = 'many' or max(k) > 1 order by per desc limit 5",
    "self": "select a.name, count(*) as pairs, sum(b.price) as p from {s}.t a join {s}.t b"
    " on a.k = b.k and a.id < b.id group by a.name",
    "nothing": "select count(*) as n, sum(price) as p, max(name) as m, bool_and(flag) as b, avg(k)"
    " as a from {s}.t where id < 0",
    "derived": "select z.c, sum(z.n) + 1 as n from (select k as c, id as n, xs from {s}.t where id > 1)"
    " z lateral view explode(z.xs) e as x group by z.c",
}


def create(shop: Shop) -> None:
    shop.sql(f"create table {{s}}.t using delta as {ROWS.format(first=0, last=9)}")
    shop.sql(
        "create table {s}.u using delta as select cast(id as int) as id, id % 2 as low from range(4)"
    )
    shop.sql("create view {s}.inner_view as select id, low, id + 1 as next from {s}.u")
    shop.sql(
        "create view {s}.outer_view (one comment 'the one', more) as"
        " select next, low from {s}.inner_view where low >= 0"
    )


@pytest.mark.parametrize("models", [BAGS, GROUPS], ids=["bags", "groups"])
def test_many_forms_stay_equal_to_recomputation(shop, models):
    create(shop)
    for name, sql in models.items():
        shop.model(name, sql, ivm_refresh="incremental")
    shop.run()
    for changes in (
        (
            f"insert into {{s}}.t {ROWS.format(first=7, last=12)}",
            "delete from {s}.t where id in (1, 8)",
            "update {s}.u set low = low + 1 where id = 2",
        ),
        (
            "update {s}.t set price = price - 0.0625, name = 'NAME 1', k = k + 1 where id % 3 = 0",
            "delete from {s}.u where id = 1",
            "delete from {s}.t where id % 4 = 2",
        ),
    ):
        for change in changes:
            shop.sql(change)
        done = shop.run()
        assert {r["ivm_strategy"] for r in done.values()} == {"incremental"}, done
        shop.check(*models)
