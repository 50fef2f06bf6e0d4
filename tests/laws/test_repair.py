"""Laws of repair: whatever an extent holds becomes what a build would store, row by row."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_ivm.plan.repair import correction, probe
from dbt_ivm.sql.dialect import render
from dbt_ivm.sql.render import to_query
from tests.laws.data import SCHEMA, examples, histories
from tests.laws.duck import translate
from tests.laws.engine import Engine, _read
from tests.laws.models import MODELS


@cache
def engine(title: str) -> tuple[Engine, str, str]:
    """A model with the statements that count what is wrong in its extent and put it right."""
    kept = Engine(MODELS[title], SCHEMA)
    expected = to_query(kept.extent.rebuilt(), _read)
    counting = translate(render(probe(kept.extent, expected)))
    return kept, counting, translate(render(correction(kept.extent, expected).tree()))


@pytest.mark.parametrize("title", MODELS)
@given(data=st.data())
@examples(0.5)
def test_repair_writes_what_differs_and_nothing_else(title, data):
    """An extent of other tables stands for any that somebody tampered with."""
    kept, counting, correcting = engine(title)
    history = data.draw(histories(kept.tables, 1))
    kept.build(history.start)
    for name, change in history.rounds[0].items():
        kept._fill(name, change.rows)
    before, after = kept.stored(), kept.rebuilt()
    missing = object()
    either = before.keys() | after.keys()
    keys = [key for key in either if before.get(key, missing) != after.get(key, missing)]
    differing, doubled = kept._db.execute(counting).fetchall()[0]
    assert (differing, doubled) == (len(keys), 0)
    touched = kept._db.execute(correcting).fetchall()[0][0]
    assert touched == len(keys)
    kept.check()
    assert kept._db.execute(counting).fetchall() == [(0, 0)]
