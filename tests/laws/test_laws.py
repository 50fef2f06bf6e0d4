"""Laws of refresh, on random histories: right, minimal, invertible, silent when nothing happens."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_ivm.delta.rules import Changes, delta
from tests.laws.data import SCHEMA, History, difference, examples, histories, inverse, nothing
from tests.laws.engine import Change, Engine
from tests.laws.models import MODELS
from tests.laws.models_nested import NESTED_MODELS

every_model = pytest.mark.parametrize("title", MODELS)
# Nested models take the other laws too, in `make test-full`.
most_models = pytest.mark.parametrize(
    "title", [pytest.param(t, marks=[pytest.mark.slow] * (t in NESTED_MODELS)) for t in MODELS]
)


@cache
def engine(title: str) -> Engine:
    return Engine(MODELS[title], SCHEMA)


def drawn(data: st.DataObject, kept: Engine, rounds: int) -> History:
    history = data.draw(histories(kept.tables, rounds))
    kept.build(history.start)
    return history


@every_model
@given(data=st.data())
@examples()
def test_refresh_equals_recomputation(title, data):
    """apply(Q(R), Δ) = Q(R + Δ), for the rows of the view and for the hidden state."""
    kept = engine(title)
    history = drawn(data, kept, rounds=3)
    kept.check()
    for step in history.rounds:
        kept.refresh(step)
        kept.check()


@most_models
@given(data=st.data())
@examples(0.5)
def test_only_rows_that_differ_are_touched(title, data):
    """The change is minimal: every touched row differs afterwards, and is touched once."""
    kept = engine(title)
    for step in drawn(data, kept, rounds=2).rounds:
        before = kept.stored()
        touched = kept.refresh(step)
        after = kept.stored()
        missing = object()
        differing = [
            key
            for key in before.keys() | after.keys()
            if before.get(key, missing) != after.get(key, missing)
        ]
        assert sorted(map(repr, touched.keys)) == sorted(map(repr, differing))


@most_models
@given(data=st.data())
@examples(0.25)
def test_a_change_that_nets_to_nothing_touches_nothing(title, data):
    """Rows that came and left again, rewrites of a whole table, updates of columns nobody reads."""
    kept = engine(title)
    history = drawn(data, kept, rounds=1)
    rows = history.start
    passing = {n: Change(rows[n], nothing(step.rows)) for n, step in history.rounds[0].items()}
    rewritten = {n: Change(rows[n], difference(rows[n], rows[n])) for n in kept.tables}
    assert kept.refresh(passing).keys == []
    assert kept.refresh(rewritten).keys == []
    if "r" in kept.tables:
        after = [(*row[:-1], row[-1] + 1) for row in rows["r"]]
        assert kept.refresh({"r": Change(after, difference(rows["r"], after))}).keys == []
    kept.check()


@most_models
@given(data=st.data())
@examples(0.5)
def test_a_change_and_its_inverse_restore_the_extent(title, data):
    """Δ then −Δ leaves every stored value, hidden ones too, as it was."""
    kept = engine(title)
    history = drawn(data, kept, rounds=1)
    before = kept.stored()
    step = history.rounds[0]
    kept.refresh(step)
    kept.refresh({name: inverse(history.start[name], change) for name, change in step.items()})
    assert kept.stored() == before


@most_models
@given(data=st.data())
@examples(0.25)
def test_an_empty_change_touches_nothing(title, data):
    """A source that committed without changing a row, and no source at all."""
    kept = engine(title)
    history = drawn(data, kept, rounds=1)
    assert kept.refresh({n: Change(rows, ()) for n, rows in history.start.items()}).keys == []
    kept.check()
    assert delta(kept.model.core, Changes(frozenset())) is None
