"""Random rounds of mixed changes: inserts, updates, deletes, duplicates and NULLs."""

from __future__ import annotations

import random

from tests.shop import Shop

SEGMENTS = ("'a'", "'b'", "'B'", "null")


def create_sources(shop: Shop, feed: bool = True) -> None:
    """Three small tables; the change data feed is on or off for all of them."""
    properties = f"tblproperties ('delta.enableChangeDataFeed' = '{str(feed).lower()}')"
    shop.sql(
        f"create table {{s}}.orders (id int, customer_id int, price decimal(10,2), qty int,"
        f" rate double, tags array<string>, placed timestamp, note string) using delta {properties}"
    )
    shop.sql(f"create table {{s}}.customers (id int, segment string) using delta {properties}")
    shop.sql(f"create table {{s}}.rates (id int, low int, high int) using delta {properties}")
    shop.sql("insert into {s}.customers values (1, 'a'), (2, 'b'), (3, null), (3, null), (4, 'B')")
    shop.sql("insert into {s}.rates values (1, 0, 5), (2, 3, 9), (3, null, 9)")


class Changer:
    """Changes sources the same way for the same seed."""

    def __init__(self, shop: Shop, seed: int) -> None:
        self._shop, self._random, self._next = shop, random.Random(seed), 1

    def orders(self, rows: int = 6) -> None:
        """Several commits: new rows (some twice), changed rows, removed rows."""
        values = ", ".join(self._order() for _ in range(rows))
        self._shop.sql(f"insert into {{s}}.orders values {values}")
        pick = self._random.randint(0, 4)
        self._shop.sql(
            "update {s}.orders set price = price + 1, customer_id = (customer_id % 4) + 1"
            f" where id % 5 = {pick}"
        )
        self._shop.sql(f"delete from {{s}}.orders where id % 7 = {self._random.randint(0, 6)}")
        self._shop.sql("update {s}.orders set note = 'seen' where id % 2 = 0")

    def others(self) -> None:
        """Customers move between segments, come and go; so do rate bands."""
        segment = self._random.choice(SEGMENTS)
        customer = self._random.randint(1, 4)
        self._shop.sql(f"update {{s}}.customers set segment = {segment} where id = {customer}")
        self._shop.sql(f"insert into {{s}}.customers values ({customer}, {segment})")
        self._shop.sql(f"update {{s}}.rates set low = {self._random.randint(0, 4)} where id = 1")

    def _order(self) -> str:
        number, self._next = self._next, self._next + self._random.randint(0, 1)
        customer = self._random.choice(("1", "2", "3", "4", "null"))
        price = self._random.choice(("0", "1.50", "-2.25", "7", "null"))
        rate = self._random.choice(("0.5", "1.25", "null", "double('nan')"))
        tags = self._random.choice(("array('x', 'y')", "array()", "null", "array('x', null)"))
        day = self._random.randint(1, 3)
        return (
            f"({number}, {customer}, {price}, {self._random.randint(0, 5)}, {rate}, {tags},"
            f" timestamp '2026-01-0{day} 10:00:00', 'new')"
        )
