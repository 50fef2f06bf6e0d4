"""One fuzzed model: its tables, its SQL, a history; run on DuckDB and judged after every round."""

from __future__ import annotations

from dataclasses import dataclass
from pprint import pformat

import duckdb
import sqlglot
from hypothesis import assume, reject
from hypothesis import strategies as st

from dbt_ivm.plan.analysis import analyze
from dbt_ivm.sql.functions import Functions
from tests.fuzz.queries import World, queries
from tests.fuzz.schemas import Schema, schemas
from tests.fuzz.tree import Query, tables
from tests.laws.data import History, histories
from tests.laws.engine import DictCatalog, Engine

KNOWN_REFUSALS: tuple[str, ...] = ()
"""Parts of the reasons for which a model of this grammar may be refused."""

NOT_ON_DUCKDB: tuple[str, ...] = ()
"""Parts of the errors with which DuckDB refuses what Spark accepts."""

_FUEL = 6


class Failed(AssertionError):
    """A model that was refused, broke, or went wrong; prints as a case to keep."""


@dataclass(frozen=True)
class Case:
    """Everything that a run depends on."""

    schema: Schema
    query: Query
    history: History

    def run(self) -> None:
        """Build, then refresh round by round; recomputation judges each state."""
        place = "planning"
        try:
            engine = Engine(self.query.sql, self.schema.columns)
            place = "building"
            engine.build(self.history.start)
            engine.check()
            for number, step in enumerate(self.history.rounds, 1):
                place = f"round {number}"
                engine.refresh(step)
                engine.check()
        except Exception as error:
            raise Failed(self.report(place, error)) from error

    def report(self, place: str, error: Exception) -> str:
        return "\n".join(
            (
                f"{place}: {type(error).__name__}: {error}",
                f"schema: {pformat(self.schema.columns)}",
                sqlglot.parse_one(self.query.sql, read="spark").sql("spark", pretty=True),
                f"sql: {self.query.sql}",
                f"start: {pformat(self.history.start)}",
                *(f"round {n}: {pformat(r)}" for n, r in enumerate(self.history.rounds, 1)),
            )
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A random model that reads at least one table."""
    schema = draw(schemas())
    query = draw(queries(World(schema.tables), draw(st.integers(1, _FUEL))))
    names = tables(query)
    assume(names)
    if _is_known(schema, query):
        reject()
    return Case(schema, query, draw(histories(names, 3, schema.pools)))


def _is_known(schema: Schema, query: Query) -> bool:
    """Whether the model is refused for a reason that is on the list, by us or by DuckDB."""
    analysis = analyze(query.sql, DictCatalog(schema.columns), Functions())
    return any(reason in analysis.refusal for reason in KNOWN_REFUSALS)
