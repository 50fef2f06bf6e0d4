"""Models as analysts write them, while every source changes, empties and fills again."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.shop import Shop

MARTS = dict(
    re.findall(r"(?ms)^-- (\w+)\n(.*?);\n", (Path(__file__).parent / "marts.sql").read_text())
)

TABLES = {
    "events": "event_id bigint, user_id int, at timestamp, kind string, page string,"
    " amount decimal(10,2), tags array<string>, device struct<os: string, v: int>,"
    " props map<string, string>",
    "users": "user_id int, name string, country string, signed_up date, plan string, referrer int",
    "prices": "plan string, valid_from date, valid_to date, price decimal(8,2)",
    "refunds": "event_id bigint, amount decimal(10,2), at timestamp",
}
_CHOICES = {
    "user": ("1", "2", "3", "4", "5", "null"),
    "kind": ("'view'", "'view'", "'cart'", "'buy'", "'buy'", "null"),
    "page": ("'/shop/1'", "'/shop/22'", "'/Home '", "'about'", "null"),
    "amount": ("1.50", "7.25", "7.25", "19.00", "40.75", "-3.00", "null"),
    "tags": ("array('x', 'y')", "array('y', 'z', null)", "array()", "null", "array('x', 'x')"),
    "device": ("named_struct('os', 'ios', 'v', 1)", "named_struct('os', null, 'v', 2)", "null"),
    "props": ("map('ref', 'mail')", "map('ref', null, 'x', 'y')", "map()", "null"),
    "country": ("'de'", "'fr'", "null"),
    "plan": ("'free'", "'pro'", "null"),
    "referrer": ("1", "2", "3", "9"),
}


class Changer:
    """Random rows and changes, the same for the same seed."""

    def __init__(self, shop: Shop, seed: int) -> None:
        self._shop, self._random = shop, random.Random(seed)

    def create(self) -> None:
        for name, columns in TABLES.items():
            self._shop.sql(
                f"create table {{s}}.{name} ({columns}) using delta"
                " tblproperties ('delta.enableChangeDataFeed' = 'true')"
            )

    def fill(self, table: str, rows: int) -> None:
        """New rows, the first of them twice."""
        made = [getattr(self, f"_{table}")() for _ in range(rows)]
        self._shop.sql(f"insert into {{s}}.{table} values {', '.join([*made, made[0]])}")

    def round(self) -> None:
        """Every table: rows come, change, move between groups and leave."""
        for table, rows in (("events", 7), ("users", 2), ("prices", 1), ("refunds", 2)):
            self.fill(table, rows)
        few = f"event_id % 5 = {self._random.randint(0, 4)}"
        user, country = self._pick("user"), self._pick("country")
        fewer = f"event_id % 7 = {self._random.randint(0, 6)}"
        gone = self._random.randint(0, 5)
        for change in (
            f"update {{s}}.events set kind = 'buy', amount = amount + 1 where {few}",
            f"update {{s}}.events set user_id = {user}, at = at + interval 1 hour where {fewer}",
            f"delete from {{s}}.events where event_id % 6 = {gone}",
            f"update {{s}}.users set country = {country}, referrer = null where user_id = {user}",
            f"delete from {{s}}.users where user_id = {gone} and plan = 'free'",
            "update {s}.prices set price = price * 2, valid_to = null where plan = 'pro'",
            f"update {{s}}.refunds set amount = amount + 0.25 where {few}",
            f"delete from {{s}}.refunds where event_id % 4 = {gone}",
        ):
            self._shop.sql(change)

    def _pick(self, what: str) -> str:
        return self._random.choice(_CHOICES[what])

    def _at(self) -> str:
        minutes = self._random.choice((0, 10, 25, 50, 600, 1500, 4000, 47000))
        minute = minutes + self._random.randint(0, 3)
        return f"timestamp '2026-01-01 00:00:00' + interval {minute} minutes"

    def _events(self) -> str:
        names = ("user", "kind", "page", "amount", "tags", "device", "props")
        user, *rest = (self._pick(name) for name in names)
        at = self._random.choice((self._at(), self._at(), self._at(), "null"))
        return f"({self._random.randint(1, 30)}, {user}, {at}, {', '.join(rest)})"

    def _users(self) -> str:
        user = self._random.randint(1, 5)
        day = f"date '2026-01-{self._random.randint(1, 28):02}'"
        rest = ", ".join(self._pick(name) for name in ("plan", "referrer"))
        return f"({user}, 'name {user % 3}', {self._pick('country')}, {day}, {rest})"

    def _prices(self) -> str:
        first = self._random.randint(1, 9)
        until = self._random.choice((f"date '2026-01-{first + 9:02}'", "null"))
        return f"({self._pick('plan')}, date '2026-01-0{first}', {until}, {first}.50)"

    def _refunds(self) -> str:
        return f"({self._random.randint(1, 30)}, {self._pick('amount')}, {self._at()})"


def built(shop: Shop, names: list[str]) -> Changer:
    changer = Changer(shop, seed=len(names))
    changer.create()
    for table, rows in (("events", 20), ("users", 5), ("prices", 3), ("refunds", 4)):
        changer.fill(table, rows)
    for name in names:
        shop.model(name, MARTS[name], ivm_refresh="incremental")
    shop.run()
    return changer


def _refreshed(shop: Shop, names: list[str], what: str) -> None:
    done = shop.run()
    strategies = {name: done[name]["ivm_strategy"] for name in names}
    rebuilt = {n: done[n]["ivm_reason"] for n, s in strategies.items() if s not in _KEPT}
    assert not rebuilt, f"{what}: {rebuilt}"
    shop.check(*names)


_KEPT = ("incremental", "noop")
_NAMES = list(MARTS)
_FAMILIES = [_NAMES[start : start + 9] for start in range(0, len(_NAMES), 9)]


def test_a_sample_of_marts(shop):
    names = ["maps", "ages", "recency", "names_of_columns", "in_pairs"]
    built(shop, names).round()
    _refreshed(shop, names, "changed")


@pytest.mark.slow
@pytest.mark.parametrize("names", _FAMILIES, ids=lambda names: names[0])
def test_marts_through_rounds_of_changes(shop, names):
    changer = built(shop, names)
    changer.round()
    _refreshed(shop, names, "changed")
    for table in ("events", "refunds"):
        shop.sql(f"delete from {{s}}.{table}")
    _refreshed(shop, names, "emptied")
    changer.fill("events", 15)
    changer.round()
    _refreshed(shop, names, "refilled")
