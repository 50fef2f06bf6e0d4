"""Name resolution by Spark's rules: case, quotes, structs, stars, USING, aliases."""

from __future__ import annotations

import pytest

from dbt_ivm.plan.describe import tree_lines
from tests.planner.facts import analyzed


def shown(sql: str) -> list[str]:
    model = analyzed(sql).maintainable
    assert model is not None, analyzed(sql).refusal
    return [output.visible for output in model.outputs]


def algebra(sql: str) -> str:
    model = analyzed(sql).maintainable
    assert model is not None, analyzed(sql).refusal
    return "\n".join(tree_lines(model.tree))


def refusal(sql: str) -> str:
    found = analyzed(sql)
    assert found.maintainable is None, algebra(sql)
    return found.refusal


def test_names_ignore_case_and_outputs_keep_theirs():
    sql = "select ID, Status as STATE from ORDERS where PRICE > 1"
    assert shown(sql) == ["ID", "STATE"]
    assert "Filter `price` > 1" in algebra(sql)


def test_quoted_and_mixed_case_columns():
    sql = "select id, `order no`, `SELECT`, `tick``ed` from mixed"
    assert shown(sql) == ["id", "order no", "SELECT", "tick`ed"]
    assert "Scan shop.mixed (Id int, Order No string as Order_No, select int" in algebra(sql)


@pytest.mark.parametrize("name", ["id", "orders.id", "shop.orders.id", "`orders`.`ID`"])
def test_qualified_names(name):
    assert shown(f"select {name} from shop.orders") == ["id" if "ID" not in name else "ID"]


def test_an_alias_hides_the_table_name():
    assert shown("select o.id from orders o") == ["id"]
    assert "column `orders.id`, unknown here," in refusal("select orders.id from orders o")


@pytest.mark.parametrize("path", ["address.city", "customers.address.city", "address.CITY"])
def test_struct_fields(path):
    assert f"`address`.`{path.split('.')[-1]}`" in algebra(f"select {path} from customers")


def test_a_table_of_the_same_name_does_not_hide_a_struct():
    """`address` the table has no `city`, so `address.city` is a field of the column."""
    assert "`address`.`city`" in algebra("select address.city from customers, orders address")


@pytest.mark.parametrize(
    "call", ["dateadd(day, 1, payload)", "TimestampDiff(DAY, payload, payload)"]
)
def test_a_unit_is_no_column(call):
    assert "(DAY, " in algebra(f"select {call} as d from events")


JOIN = "from orders o join customers c on c.id = o.customer_id"


def test_an_ambiguous_column_is_refused():
    assert refusal(f"select id {JOIN}") == "ambiguous column `id` in the model"


def test_an_unknown_column_is_refused():
    assert refusal("select nope from orders") == "column `nope`, unknown here, in the model"


def test_star():
    assert shown("select * from orders") == ["id", "customer_id", "status", "price", "weight"]
    assert shown(f"select c.* {JOIN}") == ["id", "name", "segment", "address"]
    assert shown("select 1 as one, events.* from events")[:2] == ["one", "id"]
    assert "names no table of its FROM" in refusal("select x.* from orders")


def test_star_except():
    assert shown("select * except (Price, weight) from orders") == ["id", "customer_id", "status"]


def test_using_shows_its_columns_once_and_first():
    sql = "select * from (select name, id from customers) c join events e using (id)"
    assert shown(sql)[:2] == ["id", "name"]
    assert shown(sql).count("id") == 1
    assert "Join on `id` = `id_1`" in algebra(sql)


def test_both_sides_of_using_can_be_named():
    sql = "select c.id as a, e.id as b, id from customers c join events e using (id)"
    assert "Project `id`" in algebra(sql)
    assert "`id_1`" in algebra(sql)


def test_using_needs_the_column_on_both_sides():
    sql = "select name from customers join orders using (name)"
    assert refusal(sql) == "USING (`name`), which one side does not have, in the model"


def test_lateral_column_alias():
    assert "(`price` + 1) * 2 as q" in algebra("select price + 1 as p, p * 2 as q from orders")


def test_a_column_wins_over_a_lateral_alias():
    assert "`price` + 1 as q" in algebra("select id as price, price + 1 as q from orders")


def test_group_by_prefers_the_column_to_the_alias():
    """Here `status` is the table's column, so `customer_id` is not grouped."""
    sql = "select customer_id as status, count(*) as n from orders group by status"
    assert refusal(sql) == "column `customer_id`, not grouped, in the model"


@pytest.mark.parametrize("key", ["1", "s", "upper(status)", "UPPER(Status)", "all"])
def test_group_by_position_alias_expression_and_all(key):
    sql = f"select upper(status) as s, count(*) as n from orders group by {key}"
    assert "Aggregate by s: COUNT(*) as count" in algebra(sql)


def test_group_by_a_position_that_is_not_there():
    sql = "select status, count(*) from orders group by 3"
    assert refusal(sql) == "GROUP BY 3, which has no such column, in the model"


def test_having_sees_the_alias():
    sql = "select status, sum(price) as price from orders group by status having price > 1"
    assert "Filter (`sum`) > 1" in algebra(sql)


def test_inside_an_aggregate_having_sees_the_column():
    sql = "select status, sum(price) as price from orders group by status having sum(price) > 1"
    assert "Filter `sum` > 1" in algebra(sql)
    assert algebra(sql).count("SUM(") == 1


def test_having_may_be_an_alias_alone():
    sql = "select status, bool_or(price > 1) as ok from orders group by status having ok"
    assert "Filter `bool_or`" in algebra(sql)


def test_having_may_use_an_aggregate_that_is_not_shown():
    sql = "select status, count(*) as n from orders group by status having max(price) > n"
    assert "Filter `max` > (`count`)" in algebra(sql)
    assert shown(sql) == ["status", "n"]


def test_order_by_position_and_alias():
    for key in ("2", "n", "count(*)"):
        sql = f"select status, count(*) as n from orders group by status order by {key} limit 1"
        assert "Sort by" in algebra(sql)
        assert "count`" in algebra(sql).splitlines()[1]


def test_a_column_list_renames():
    assert shown("select b from customers as c (a, b, x, y)") == ["b"]
    assert "Scan shop.customers (name string" in algebra("select b from customers c (a, b, x, y)")


def test_a_lambda_has_names_of_its_own():
    sql = "select transform(tags, id -> upper(id)) as t from events"
    assert "Scan shop.events (tags array<string>)" in algebra(sql)


def test_columns_nobody_uses_are_not_read():
    sql = (
        "select q.id from (select * from orders) q join (select * from customers) c on c.id = q.id"
    )
    assert "Scan shop.orders (id bigint)" in algebra(sql)
    assert "Scan shop.customers (id int as id_1)" in algebra(sql)
