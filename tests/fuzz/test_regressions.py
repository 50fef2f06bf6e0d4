"""Every model on which the fuzzer once found a fault, on random histories."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.regressions import REGRESSIONS, SCHEMA
from tests.fuzz.schemas import DOMAINS
from tests.laws.data import histories
from tests.laws.engine import Engine

_ROWS = random.Random(4)
POOLS = {
    name: [tuple(_ROWS.choice(DOMAINS[t]) for t in columns.values()) for _ in range(12)]
    for name, columns in SCHEMA.items()
}


@pytest.mark.parametrize("regression", REGRESSIONS, ids=lambda r: r.title)
def test_stays_right(regression):
    engine = Engine(regression.sql, SCHEMA)

    @settings(
        max_examples=12,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(history=st.deferred(lambda: histories(engine.tables, 2, POOLS)))
    def check(history):
        engine.build(history.start)
        engine.check()
        for step in history.rounds:
            engine.refresh(step)
            engine.check()

    check()
