"""Tiny tables, and random histories of them: inserts, updates, deletes, rows that come and go."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.laws.engine import Change, Row, Rows, Signed

SCHEMA = {
    "r": {
        "a": "int",
        "b": "string",
        "v": "int",
        "w": "decimal(5,2)",
        "f": "double",
        "p": "boolean",
        "d": "date",
        "xs": "array<int>",
        "unread": "int",  # no model reads it
    },
    "s": {"a": "int", "c": "string", "n": "bigint"},
    "t": {"c": "string", "m": "int"},
}
_DOMAINS = {
    "a": (None, 0, 1, 2),
    "b": (None, "x", "y", ""),
    "v": (None, -2, 0, 1, 3),
    "w": (None, Decimal("-1.50"), Decimal("0.00"), Decimal("0.01"), Decimal("2.25")),
    "f": (None, -0.5, 0.0, 0.25, 2.0),  # exact in binary: their sums are too
    "p": (None, True, False),
    "d": (None, "2024-02-29", "2025-01-01", "2025-12-31"),
    "xs": (None, [], [1], [1, 1, None], [2, 3]),
    "unread": (0, 1),
    "c": (None, "x", "y", "z"),
    "n": (None, -1, 0, 5),
    "m": (None, -3, 0, 4),
}
_POOL = 24

_asked = os.environ.get("IVM_LAW_EXAMPLES")
"""`IVM_LAW_EXAMPLES=500 pytest tests/laws` searches further, and elsewhere every time."""


def examples(share: float = 1.0) -> settings:
    """The profile of a law; a law that needs fewer examples takes a share of them."""
    return settings(
        max_examples=max(2, int(int(_asked or 8) * share)),
        derandomize=_asked is None,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def _pool(table: str) -> list[Row]:
    """Few rows, so that equal ones meet; the all-NULL row is the simplest."""
    rng = random.Random(table)
    columns = SCHEMA[table]
    first = tuple(_DOMAINS[c][0] for c in columns)
    return [first] + [tuple(rng.choice(_DOMAINS[c]) for c in columns) for _ in range(_POOL)]


POOLS = {table: _pool(table) for table in SCHEMA}


@dataclass(frozen=True)
class History:
    """First states of the tables, then what happens to them round by round."""

    start: dict[str, Rows]
    rounds: tuple[dict[str, Change], ...]


@st.composite
def histories(
    draw: st.DrawFn,
    tables: Sequence[str],
    rounds: int = 3,
    pools: Mapping[str, list[Row]] = POOLS,
) -> History:
    """A random subset of the tables changes in every round."""
    states: dict[str, Rows] = {
        name: draw(st.lists(st.sampled_from(pools[name]), max_size=7)) for name in tables
    }
    start, steps = dict(states), []
    for _ in range(rounds):
        moved = draw(st.sets(st.sampled_from(sorted(tables)), min_size=1))
        step = {name: _step(draw, pools[name], states[name]) for name in sorted(moved)}
        states |= {name: change.rows for name, change in step.items()}
        steps.append(step)
    return History(start, tuple(steps))


def _step(draw: st.DrawFn, pool: list[Row], rows: Rows) -> Change:
    gone = draw(st.sets(st.integers(0, len(rows) - 1), max_size=4)) if rows else set()
    came = draw(st.lists(st.sampled_from(pool), max_size=4))
    passing = draw(st.lists(st.sampled_from(pool), max_size=2))
    after = [row for i, row in enumerate(rows) if i not in gone] + came
    if draw(st.booleans()):
        return Change(after, difference(rows, after))
    feed = [(rows[i], -1) for i in sorted(gone)] + [(row, 1) for row in came]
    return Change(after, (*feed, *nothing(passing)))


def difference(before: Rows, after: Rows) -> tuple[Signed, ...]:
    """The changes of a table without a change feed: everything left, everything came."""
    return (*((row, 1) for row in after), *((row, -1) for row in before))


def nothing(rows: Rows) -> tuple[Signed, ...]:
    """Rows that came and left again within the range: a change that nets to nothing."""
    return tuple((row, sign) for row in rows for sign in (1, -1))


def inverse(before: Rows, change: Change) -> Change:
    """The step back."""
    return Change(before, tuple((row, -sign) for row, sign in change.signed))
