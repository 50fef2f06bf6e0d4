"""The whole path once: join, aggregate, bag, chain."""


def test_join_aggregate_bag_chain(shop):
    shop.sql(
        "create table {s}.o using delta as select id, cast(id % 3 as int) as cid, cast(id as decimal(10,2)) as price from range(12)"
    )
    shop.sql(
        "create table {s}.c using delta as select cast(id as int) as id, if(id % 2 = 0, 'a', null) as segment from range(4)"
    )
    shop.model(
        "seg",
        "select c.segment, count(*) as n, sum(o.price) as rev, avg(o.price) as ap, max(o.price) as mx, min(o.id) as mn from {s}.o o join {s}.c c on c.id = o.cid group by c.segment having count(*) > 0",
    )
    shop.model("bag", "select o.cid, c.segment from {s}.o o, {s}.c c where o.cid = c.id")
    shop.model(
        "kw",
        "select cid, percentile(price, 0.5) as p, count(distinct price) as d from {s}.o group by 1",
    )
    shop.model(
        "glob", "select count(*) as n, sum(price) as s, max(price) as m from {s}.o where price > 3"
    )
    shop.model("chain", "select segment, n + 1 as n1, rev from {{ ref('seg') }} where n > 1")
    shop.model("chain2", "select n1, count(*) as k from {{ ref('chain') }} group by n1")
    names = ("seg", "bag", "kw", "glob", "chain", "chain2")
    r = shop.run()
    print(r)
    shop.check(*names)
    r = shop.run()
    print({k: v["ivm_strategy"] for k, v in r.items()})
    assert {v["ivm_strategy"] for v in r.values()} == {"noop"}
    for i in range(3):
        shop.sql(f"insert into {{s}}.o values (100 + {i}, {i}, 50), (200, 1, {i})")
        shop.sql(f"delete from {{s}}.o where id = {11 - i}")
        shop.sql(f"update {{s}}.o set price = price + 1, cid = (cid + 1) % 3 where id = {i}")
        if i == 1:
            shop.sql("update {s}.c set segment = 'z' where id = 1")
        r = shop.run()
        print(
            i,
            {
                k: (
                    v["ivm_strategy"],
                    v["rows_inserted"],
                    v["rows_updated"],
                    v["rows_deleted"],
                    v.get("rows_read"),
                    v["statements"],
                )
                for k, v in r.items()
            },
        )
        shop.check(*names)
        assert {v["ivm_strategy"] for v in r.values()} <= {"incremental", "noop"}, r
