"""Every SQL construct through rounds of mixed changes on Delta, judged by recomputation."""

from __future__ import annotations

import pytest

from tests.operators.changes import Changer, create_sources
from tests.operators.constructs import CONSTRUCTS
from tests.shop import Shop


def run_rounds(shop: Shop, models: dict[str, str], rounds: int = 3) -> None:
    """Build, then rounds of changes to some and to all tables, then to nothing and back again."""
    create_sources(shop)
    changer = Changer(shop, seed=len(models))
    changer.orders(12)
    for name, sql in models.items():
        shop.model(name, sql, ivm_refresh="incremental")
    shop.run()
    for number in range(rounds):
        if number != 1:
            changer.orders()
        if number != 0:
            changer.others()
        done = shop.run()
        strategies = {name: done[name]["ivm_strategy"] for name in models}
        assert set(strategies.values()) <= {"incremental", "noop"}, strategies
        shop.check(*models)


@pytest.mark.parametrize("family", CONSTRUCTS)
def test_constructs_stay_equal_to_recomputation(shop, family):
    run_rounds(shop, CONSTRUCTS[family])
