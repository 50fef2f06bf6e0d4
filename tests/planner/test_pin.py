"""The judge's query: the model's own text with versions spliced in and nothing else changed."""

from __future__ import annotations

import pytest

from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.functions import Functions
from dbt_ivm.sql.pin import pin, references
from tests.planner.facts import ShopCatalog

VERSIONS = {("shop", "orders"): 7, ("shop", "customers"): 3, ("shop", "mixed"): 0}


def pinned(text: str) -> str:
    return pin(text, ShopCatalog(), VERSIONS.get)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("select id from orders", "select id from orders VERSION AS OF 7"),
        ("select id from orders o", "select id from orders VERSION AS OF 7 o"),
        ("select o.id from orders AS o", "select o.id from orders VERSION AS OF 7 AS o"),
        ("select id from shop.orders", "select id from shop.orders VERSION AS OF 7"),
        ("select id from `shop`.`orders`", "select id from `shop`.`orders` VERSION AS OF 7"),
        ("select id from `Mixed` `m x`", "select id from `Mixed` VERSION AS OF 0 `m x`"),
        ("select tags from events", "select tags from events"),
        (
            "select o.id from orders o, customers c",
            "select o.id from orders VERSION AS OF 7 o, customers VERSION AS OF 3 c",
        ),
        (
            "select a.id from orders a join orders b on true",
            "select a.id from orders VERSION AS OF 7 a join orders VERSION AS OF 7 b on true",
        ),
        (
            "select id from orders where id in (from orders)",
            "select id from orders VERSION AS OF 7 where id in (from orders VERSION AS OF 7)",
        ),
    ],
)
def test_every_table_is_pinned(text, want):
    assert pinned(text) == want


@pytest.mark.parametrize(
    "text",
    [
        "select id /* from orders */ from orders -- orders\n",
        "select 'from orders 😀', `id` from orders",
        "select\n\tid\n  FROM   Orders\n\n",
        "/* é😀 */ select 'it''s \\' orders' as x from orders",
    ],
    ids=["comments", "literals", "layout", "wide characters"],
)
def test_the_rest_of_the_text_stays_as_it_is(text):
    assert pinned(text).replace(" VERSION AS OF 7", "") == text
    assert pinned(text).count("VERSION AS OF 7") == 1


def test_a_cte_is_not_a_table():
    text = "with Customers as (select id from orders) select id from customers"
    assert pinned(text) == (
        "with Customers as (select id from orders VERSION AS OF 7) select id from customers"
    )


def test_a_cte_may_read_the_table_it_hides():
    text = "with orders as (select id from orders where id > 1) select id from orders"
    assert pinned(text) == (
        "with orders as (select id from orders VERSION AS OF 7 where id > 1) select id from orders"
    )


def test_a_cte_does_not_see_later_ones():
    text = (
        "with a as (select id from orders), orders as (select id from a)"
        " select id from orders where id in (select id from orders)"
    )
    assert pinned(text).count("VERSION AS OF 7") == 1


def test_a_cte_is_seen_below_its_own_query_only():
    text = "select id from (with orders as (select 1 as id) select id from orders) q, orders o"
    assert pinned(text).replace("orders VERSION AS OF 7 o", "orders o") == text
    assert pinned(text) != text


def test_a_recursive_cte_sees_itself():
    text = (
        "with recursive orders as (select 1 as id union all select id + 1 from orders)"
        " select id from orders"
    )
    assert pinned(text) == text


def test_a_qualified_name_is_no_cte():
    text = "with orders as (select 1 as id) select o.id from shop.orders o, orders"
    assert pinned(text).count("VERSION AS OF 7") == 1


def test_a_view_becomes_its_pinned_query():
    assert pinned("select id from big_orders b") == (
        "select id from (SELECT `id` AS `id`, `customer_id` AS `customer_id`, `price` AS `price`"
        " FROM (select id, customer_id, price from orders VERSION AS OF 7 where price > 100\n"
        ") AS `v`) b"
    )


def test_a_view_without_an_alias_keeps_its_name():
    assert pinned("select big_orders.id from shop.big_orders").endswith(") AS `v`) AS `big_orders`")


def test_a_view_shows_its_own_column_names():
    text = pinned("select who from named_customers")
    assert "SELECT `id` AS `customer`, `upper(name)` AS `who` FROM (" in text


def test_a_view_whose_query_names_are_unknown_is_read_by_position():
    assert pinned("select n from counted").endswith(") AS `v`(`n`)) AS `counted`")


def test_views_over_views_are_pinned_below():
    assert pinned("select id from chained").count("orders VERSION AS OF 7") == 1


def test_a_table_read_at_a_version_cannot_be_pinned():
    with pytest.raises(Unsupported, match="a table read at a fixed version"):
        pinned("select id from orders version as of 3")


def test_a_table_function_cannot_be_pinned():
    with pytest.raises(Unsupported, match="the table function `range`"):
        pinned("select id from range(3)")


def found(text: str) -> tuple[list[str], bool]:
    result = references(text, ShopCatalog(), Functions())
    return [name[-1] for name in result.tables], result.volatile


def test_references_are_the_tables_below_every_view():
    text = "select 1 from chained join customers on true where exists (select 1 from orders)"
    assert set(found(text)[0]) == {"orders", "customers"}


@pytest.mark.parametrize(
    ("expression", "drifts"),
    [
        ("max(id) over ()", False),
        ("upper(status)", False),
        ("rand()", True),
        ("current_date", True),
        ("current_timestamp()", True),
        ("current_user()", True),
        ("my_udf(id)", True),
        ("(select uuid())", True),
    ],
)
def test_references_know_what_drifts(expression, drifts):
    assert found(f"select {expression} as x from orders") == (["orders"], drifts)


def test_a_sample_drifts():
    assert found("select id from orders tablesample (10 percent)") == (["orders"], True)
