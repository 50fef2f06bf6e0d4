"""Selections, products and joins of the source documents (algebra.md, section 10)."""

from __future__ import annotations

from tests.golden.cases import Story, column

ONE = {"r1": {"value": "int"}}
TWO = {"r1": {"value": "int"}, "r2": {"value": "int"}}
R1 = column(799, 200, 179)
R1_MOVES = (column(799, 179), column(700, 98))
R2 = column(799, 179, 200, 700, 98)
R2_MOVES = (column(179, 200, 98), column(645, 503))


def test_selection():
    """002 ex. 1: of the rows that leave and come only those that qualify show."""
    story = Story("select value from r1 where value >= 200", ONE, {"r1": R1})
    assert story.move(r1=R1_MOVES) == (column(799), column(700))
    assert sorted(story.touched.keys) == column(700, 799)


def test_product():
    """002 ex. 3: 13 rows leave, 10 come, two stay untouched."""
    sql = "select r1.value as x, r2.value as y from r1 cross join r2"
    story = Story(sql, TWO, {"r1": R1, "r2": R2})
    left, came = story.move(r1=R1_MOVES, r2=R2_MOVES)
    assert (len(left), len(came)) == (13, 10)
    assert len(story.touched.keys) == 23
    stay = {(200, 799), (200, 700)}
    assert stay <= set(story.engine.shown())
    assert stay.isdisjoint(story.touched.keys)


def test_join_with_both_sides_changed():
    """003 §1.5.3: Δp = {(1,3), (1,4)} from Δq = {(1,2)} and Δr = {(1,4)}."""
    schema = {"q": {"x": "int", "y": "int"}, "r": {"y": "int", "z": "int"}}
    sql = "select q.x, r.z from q join r on q.y = r.y"
    story = Story(sql, schema, {"q": [(1, 1)], "r": [(1, 2), (2, 3)]})
    assert story.move(q=([], [(1, 2)]), r=([], [(1, 4)])) == ([], [(1, 3), (1, 4)])
    assert sorted(story.touched.keys) == [(1, 3), (1, 4)]


def test_union_all_with_a_row_that_changes_sides():
    """001 prop. 1 as bags: b leaves one side and comes to the other, so only c comes."""
    schema = {"r1": {"x": "string"}, "r2": {"x": "string"}}
    sql = "select x from r1 union all select x from r2"
    story = Story(sql, schema, {"r1": column("a", "b"), "r2": column("a")})
    assert story.move(r1=(column("b"), []), r2=([], column("b", "c"))) == ([], column("c"))
    assert story.touched.keys == column("c")


def test_union_all_of_two_changed_tables():
    """002 ex. 4 as bags: 98 moves from one table to the other and is not touched."""
    sql = "select value from r1 union all select value from r2"
    story = Story(sql, TWO, {"r1": R1, "r2": R2})
    left, came = story.move(r1=R1_MOVES, r2=R2_MOVES)
    assert left == column(179, 179, 200, 799)
    assert came == column(503, 645, 700)
    assert (98,) not in story.touched.keys


STOCK = {
    "item": {"name": "string", "quantity": "int", "consume_freq": "int", "min_stock": "int"},
    "supply": {"name": "string", "delivery_time": "int"},
}
ITEM_1, ITEM_2 = ("item1", 5000, 20, 100), ("item2", 7500, 30, 200)
MONITOR = """
    select i.name
    from item i
    join supply s on s.name = i.name
    where i.quantity < i.consume_freq * s.delivery_time + i.min_stock
"""


def monitored() -> Story:
    supply = [("item1", 2), ("item2", 3)]
    return Story(MONITOR, STOCK, {"item": [ITEM_1, ITEM_2], "supply": supply})


def with_quantity(item: tuple[str, int, int, int], quantity: int) -> tuple[object, ...]:
    return (item[0], quantity, *item[2:])


def test_a_condition_is_entered_once_when_the_threshold_is_crossed():
    """003 §1.4: thresholds are 140 and 290."""
    story = monitored()
    at, below, further = (with_quantity(ITEM_1, q) for q in (140, 139, 120))
    assert story.move(item=([ITEM_1], [at])) == ([], [])
    assert story.move(item=([at], [below])) == ([], column("item1"))
    assert story.move(item=([below], [further])) == ([], [])
    assert story.touched.keys == []
    assert story.move(item=([ITEM_2], [with_quantity(ITEM_2, 289)])) == ([], column("item2"))
    assert story.move(item=([further], [ITEM_1])) == (column("item1"), [])


def test_a_condition_is_entered_when_the_threshold_itself_moves():
    """003 §1.4: a longer delivery raises the threshold of item1 from 140 to 160."""
    story = monitored()
    near = with_quantity(ITEM_1, 150)
    assert story.move(item=([ITEM_1], [near])) == ([], [])
    assert story.move(supply=([("item1", 2)], [("item1", 3)])) == ([], column("item1"))


def test_a_counteracted_update_has_no_net_change():
    """003 §1.5.2: min_stock 100 → 150 → 100 touches nothing, in a bag and in a sum."""
    changed = (*ITEM_1[:3], 150)
    there_and_back = ([ITEM_1, changed], [changed, ITEM_1])
    for sql in (
        "select name, min_stock from item",
        "select sum(min_stock) as s from item",
        "select name, max(min_stock) as m from item group by name",
        MONITOR,
    ):
        story = Story(sql, STOCK, {"item": [ITEM_1], "supply": [("item1", 2)]})
        assert story.move(item=there_and_back) == ([], [])
        assert story.touched.keys == []
