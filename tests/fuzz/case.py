"""One fuzzed model: its tables, its SQL, a history; run on DuckDB and judged after every round."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pprint import pformat

import duckdb
import sqlglot
from hypothesis import assume, reject
from hypothesis import strategies as st

from dbt_ivm.plan.analysis import analyze
from dbt_ivm.sql.dialect import SparkVerbatim, parse_query
from dbt_ivm.sql.functions import Functions
from tests.fuzz.queries import World, queries
from tests.fuzz.schemas import Schema, schemas
from tests.fuzz.tree import Query, Table, tables
from tests.laws.data import History, histories
from tests.laws.duck import duck_type, translate
from tests.laws.engine import DictCatalog, Engine

KNOWN_REFUSALS: tuple[str, ...] = ()
"""Parts of the reasons for which a model of this grammar may be refused: none so far."""

_FUEL = 6


class Failed(AssertionError):
    """A model that was refused, broke, or went wrong; prints as a case to keep."""

    @property
    def kind(self) -> str:
        """The first line without its numbers and names: failures alike are one."""
        place, _, rest = str(self).partition("\n")[0].partition(":")
        if "AssertionError: (" in rest:
            return f"wrong rows after {place.partition(' ')[0]}"
        if "AssertionError: {" in rest or "assert" in rest:
            return f"wrong state after {place.partition(' ')[0]}"
        return re.sub(r"\d+|\"[^\"]*\"|`[^`]*`", "…", rest)[:160]


@dataclass(frozen=True)
class Case:
    """Everything that a run depends on."""

    schema: dict[str, dict[str, str]]
    sql: str
    history: History
    query: Query | None = None
    """What the SQL was printed from."""

    def run(self) -> None:
        """Build, then refresh round by round; recomputation judges each state."""
        place = "planning"
        try:
            engine = Engine(self.sql, self.schema)
            place = "building"
            engine.build(self.history.start)
            engine.check()
            for number, step in enumerate(self.history.rounds, 1):
                place = f"round {number}"
                engine.refresh(step)
                engine.check()
        except Exception as error:
            raise Failed(self.report(place, error)) from error

    def failure_kind(self) -> str | None:
        """How the case fails; None if it does not, or if DuckDB cannot even judge it."""
        if not is_valid(self.schema, self.sql):
            return None
        try:
            self.run()
        except Failed as failure:
            return failure.kind
        return None

    def report(self, place: str, error: Exception) -> str:
        return "\n".join(
            (
                f"{place}: {type(error).__name__}: {error}",
                f"schema: {pformat(self.schema)}",
                parse_query(self.sql).sql(SparkVerbatim, pretty=True),
                f"sql: {self.sql}",
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
    sql = _top(query)
    if _is_known(schema, sql):
        reject()
    return Case(schema.columns, sql, draw(histories(names, 3, schema.pools)), query)


def _top(query: Query) -> str:
    return f"select * from {query.sql}" if isinstance(query, Table) else query.sql


def _is_known(schema: Schema, sql: str) -> bool:
    """Whether the model is refused for a reason that is on the list."""
    analysis = analyze(sql, DictCatalog(schema.columns), Functions())
    return any(reason in analysis.refusal for reason in KNOWN_REFUSALS)


def is_valid(schema: dict[str, dict[str, str]], sql: str) -> bool:
    """Whether DuckDB can run a model at all."""
    with duckdb.connect() as db:
        for name, columns in schema.items():
            fields = ", ".join(f'"{c}" {duck_type(t)}' for c, t in columns.items())
            db.execute(f'create table "{name}" ({fields})')
        try:
            db.execute(translate(sql)).fetchall()
        except (duckdb.Error, sqlglot.errors.SqlglotError):
            return False
    return True
