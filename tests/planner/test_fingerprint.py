"""Fingerprints: layout does not count, meaning does."""

from __future__ import annotations

import pytest

from tests.planner.facts import analyzed

MODEL = "select status, count(*) as n from orders where price > 10 group by status"


def fingerprint(sql: str) -> str:
    return analyzed(sql).fingerprint


SAME = {
    "keywords": "SELECT status, COUNT(*) AS n FROM orders WHERE price > 10 GROUP BY status",
    "whitespace": "select status,\n\tcount(*) n\nfrom   orders where price>10 group by status",
    "comments": "select status, count(*) as n -- how many\nfrom orders /* all */"
    " where price > 10 group by status",
    "quotes": "select `status`, Count( * ) as n from shop.orders where (price > 10) group by 1",
    "qualified": "select o.status, count(*) as n from orders as o where o.PRICE > 10"
    " group by o.status",
    "cte": "with q as (select * from orders) select status, count(*) as n from q"
    " where price > 10 group by all",
}


@pytest.mark.parametrize("sql", SAME.values(), ids=SAME)
def test_the_same_query_in_other_words(sql):
    assert fingerprint(sql) == fingerprint(MODEL)


@pytest.mark.parametrize(
    "sql",
    [
        MODEL.replace("10", "11"),
        MODEL.replace("> 10", ">= 10"),
        MODEL.replace("count(*)", "count(price)"),
        MODEL.replace("from orders", "from big_orders as orders").replace("status", "id"),
        MODEL.replace("group by status", "and status <> 'X' group by status"),
        MODEL.replace("price", "weight"),
    ],
)
def test_another_query(sql):
    assert fingerprint(sql) != fingerprint(MODEL)


def test_the_case_of_a_literal_counts():
    query = "select id from orders where status = '{}'"
    assert fingerprint(query.format("open")) != fingerprint(query.format("OPEN"))


def test_what_lives_in_the_view_does_not_count():
    """The extent stays as it is: only the view is written anew."""
    plain = "select status, count(*) as n from orders group by status"
    for above in (" having count(*) > 1", " order by n", " order by n limit 3"):
        assert fingerprint(plain + above) == fingerprint(plain)


def test_a_refused_query_has_a_fingerprint_of_its_text():
    query = "select distinct status from orders"
    assert fingerprint(query) == fingerprint(query)
    assert fingerprint(query) != fingerprint(query + " where id = 1")
