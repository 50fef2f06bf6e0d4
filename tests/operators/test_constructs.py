"""Every SQL construct through rounds of mixed changes on Delta, judged by recomputation."""

from __future__ import annotations

import pytest

from tests.operators.changes import Changer, create_sources
from tests.operators.constructs import CONSTRUCTS
from tests.shop import Shop

ONE_TABLE, OTHERS, ALL = (True, False), (False, True), (True, True)


def run_rounds(shop: Shop, models: dict[str, str], rounds: list[tuple[bool, bool]]) -> None:
    """Build, then rounds of changes to orders, to the other tables, or to all of them."""
    create_sources(shop)
    changer = Changer(shop, seed=len(models))
    changer.orders(12)
    for name, sql in models.items():
        shop.model(name, sql, ivm_refresh="incremental")
    shop.run()
    for orders, others in rounds:
        if orders:
            changer.orders()
        if others:
            changer.others()
        done = shop.run()
        strategies = {name: done[name]["ivm_strategy"] for name in models}
        assert set(strategies.values()) <= {"incremental", "noop"}, strategies
        shop.check(*models)


def test_a_model_of_every_family(shop):
    """The first two models of every family: a round in which all tables change."""
    picked = [list(models.items())[:2] for models in CONSTRUCTS.values()]
    run_rounds(shop, {name: sql for pairs in picked for name, sql in pairs}, [ALL])


@pytest.mark.slow
@pytest.mark.parametrize("family", CONSTRUCTS)
def test_rounds_of_changes_to_some_tables_and_to_all(shop, family):
    run_rounds(shop, CONSTRUCTS[family], [ONE_TABLE, OTHERS, ALL])


@pytest.mark.slow
@pytest.mark.parametrize("family", CONSTRUCTS)
def test_tables_that_shrink_to_nothing_and_grow_back(shop, family):
    models = CONSTRUCTS[family]
    create_sources(shop)
    changer = Changer(shop, seed=3)
    changer.orders(9)
    for name, sql in models.items():
        shop.model(name, sql, ivm_refresh="incremental")
    shop.run()
    for table in ("orders", "customers"):
        shop.sql(f"delete from {{s}}.{table}")
    shop.run()
    shop.check(*models)
    shop.sql("insert into {s}.customers values (1, 'a'), (2, null)")
    changer.orders(9)
    done = shop.run()
    assert {r["ivm_strategy"] for r in done.values()} <= {"incremental", "noop"}, done
    shop.check(*models)
