"""Hundreds of refreshes under changes of every kind: each costs what the first ones did."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import pytest

from dbt_ivm.adapter.runner import Runner
from dbt_ivm.adapter.spark_facts import Pins
from tests.chaos.world import SOURCES, change
from tests.session import Session

pytestmark = pytest.mark.slow

MODELS = {
    "listed": "select o.id, c.segment, o.v from {s}.orders o join {s}.customers c"
    " on c.id = o.customer",
    "summed": "select customer, count(*) as n, sum(v) as v from {s}.orders group by customer",
}
_ENOUGH = 10
"""Small files that Delta compacts here; its default of 50 would need longer to show."""


def test_a_refresh_stays_as_cheap_as_it_was(shop, dice, times, say):
    for statement in SOURCES:
        shop.sql(statement)
    for name, sql in MODELS.items():
        shop.model(name, sql)
    shop.run()
    seconds: dict[str, list[float]] = {name: [] for name in MODELS}
    files: dict[str, list[int]] = {name: [] for name in MODELS}
    shop.spark.conf.set("spark.databricks.delta.autoCompact.minNumFiles", str(_ENOUGH))
    session = Session(shop.spark, own=False)
    for number in range(30 * times):
        shop.sql(change(dice))
        for name in MODELS:
            start = time.monotonic()
            Runner(session, Pins()).refresh(shop.request(name))
            seconds[name].append(time.monotonic() - start)
            files[name].append(shop.sql(f"describe detail {{s}}.{name}__ivm")[0]["numFiles"])
        if number % 50 == 49:
            shop.check(*MODELS)
    shop.check(*MODELS)
    shop.spark.conf.unset("spark.databricks.delta.autoCompact.minNumFiles")
    for name in MODELS:
        part = max(1, len(files[name]) // 4)
        first, last = median(seconds[name][:part]), median(seconds[name][-part:])
        log = len(list(_log(shop, name).glob("*.json")))
        say(
            f"{name}: {len(files[name])} refreshes, median {first:.1f} s in the first quarter and"
            f" {last:.1f} s in the last; at most {max(files[name])} files, {log} commits in the log"
        )
        assert max(files[name]) < 2 * _ENOUGH
        assert last < 3 * first, "no more than a busy machine explains"


def _log(shop, name: str) -> Path:
    location = shop.sql(f"describe detail {{s}}.{name}__ivm")[0]["location"]
    return Path(location.removeprefix("file:")) / "_delta_log"
