"""Random schemas of two to four small tables, and the rows that come and go in them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.fuzz.tree import BOOL, INT, TEXT, TYPES, Table
from tests.laws.engine import Row

DOMAINS = {
    INT: (None, 0, 1, 2, -1),
    TEXT: (None, "x", "y", ""),
    BOOL: (None, True, False),
}
_POOL = 10
"""So few different rows per table that equal ones meet."""


@dataclass(frozen=True)
class Schema:
    """Tables with their columns, and the rows each may hold."""

    columns: dict[str, dict[str, str]]
    pools: dict[str, list[Row]]

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(
            Table(name, columns=tuple((c, _kind(t)) for c, t in columns.items()))
            for name, columns in self.columns.items()
        )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Tables share column names, so that USING, aliases and scopes have something to mistake."""
    columns, pools = {}, {}
    for name in ("r", "s", "t", "u")[: draw(st.integers(2, 4))]:
        types = draw(st.lists(st.sampled_from((*TYPES, "bigint")), min_size=1, max_size=3))
        columns[name] = dict(zip("abcd", (INT, *types), strict=False))
        domains = [st.sampled_from(DOMAINS[_kind(t)]) for t in columns[name].values()]
        pools[name] = draw(st.lists(st.tuples(*domains), min_size=2, max_size=_POOL))
    return Schema(columns, pools)


def _kind(type_: str) -> str:
    return INT if type_ == "bigint" else type_
