"""What a refresh and a rebuild should take, judged by what they took before.

    rebuild = seconds of the last build · (source rows now / source rows then)
    refresh = seconds of the last refresh, more for more changed rows; before there was one
              a fixed part + the rows it reads + the rows that changed, in units of the last build

How long a commit took is known only after it is made, so each commit says when its work began and
carries what the ones before it took.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt_ivm.algebra.nodes import Node, Scan, State
from dbt_ivm.algebra.sizes import Sizes
from dbt_ivm.algebra.walk import walk
from dbt_ivm.sources.facts import Commit, moment

_NOTICED = 50_000
"""Source rows below which fixed costs are all there is; those change too much to be foreseen."""
_LONGEST = 24 * 3600.0
"""Seconds beyond which two clocks, not one refresh, were measured."""
_FIXED_BUILD, _FIXED_REFRESH = 1.5, 4.0
"""Seconds that a build and a refresh take whatever the number of rows."""
_READ, _CHANGED = 0.5, 3.0
"""What it takes to look through a row, and to apply a changed one, where building one takes 1."""
_CLEARLY = 0.9
"""A rebuild must promise to take less than this part of a refresh."""
_FADING = 0.8
"""What remains of a measured refresh with every rebuild, so that a slow one is tried again."""


@dataclass(frozen=True)
class Cost:
    """What a commit took: seconds, for so many source rows built from or changed rows applied."""

    seconds: float
    rows: int


@dataclass(frozen=True)
class Costs:
    """The last known costs of a model."""

    build: Cost | None = None
    refresh: Cost | None = None


@dataclass(frozen=True)
class Effort:
    """What a commit is about to do, told by itself: the seconds are known from when it is there."""

    began: str
    full: bool
    rows: int | None


@dataclass(frozen=True)
class Estimates:
    """Seconds that either way should take."""

    refresh: float
    rebuild: float

    def __str__(self) -> str:
        return f"refresh {self.refresh:.1f} s, rebuild {self.rebuild:.1f} s"

    @property
    def rebuild_pays(self) -> bool:
        return self.rebuild < _CLEARLY * self.refresh


def learned(before: Costs, effort: Effort | None, commit: Commit | None) -> Costs:
    """Costs after a commit that says what it did."""
    if effort is None or effort.rows is None or commit is None or not effort.began:
        return before
    seconds = (moment(commit.timestamp) - moment(effort.began)).total_seconds()
    if not 0 <= seconds <= _LONGEST:
        return before
    cost = Cost(round(seconds, 3), effort.rows)
    if not effort.full:
        return replace(before, refresh=cost)
    faded = before.refresh
    if faded is not None:
        faded = replace(faded, seconds=round(faded.seconds * _FADING, 3))
    return Costs(cost, faded)


def estimates(costs: Costs, sizes: Sizes, change: Node) -> Estimates | None:
    """What applying a change should take, and a rebuild; None where there is too little to tell."""
    rows = sum(sizes.tables.values())
    if costs.build is None or not costs.build.rows or rows < _NOTICED:
        return None
    per_row = max(costs.build.seconds - _FIXED_BUILD, 0.0) / costs.build.rows
    rebuild = costs.build.seconds + per_row * (rows - costs.build.rows)
    changed = sum(sizes.changes.values())
    last = costs.refresh
    if last is None:
        read = sum(_rows_read(part, sizes) for part in walk(change))
        refresh = _FIXED_REFRESH + per_row * (_READ * read + _CHANGED * changed)
    else:
        more = _CHANGED * per_row * (changed - last.rows)
        refresh = max(last.seconds + more, last.seconds / 2)
    return Estimates(refresh, rebuild)


def _rows_read(part: Node, sizes: Sizes) -> int:
    if not isinstance(part, Scan) or part.state is State.DELTA:
        return 0
    return sizes.tables.get(part.table, 0)
