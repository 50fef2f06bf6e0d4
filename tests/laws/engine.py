"""A model kept by its plan on DuckDB: built once, changed by MERGE, judged by its own SQL."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import duckdb
from sqlglot import exp

from dbt_ivm.algebra.nodes import Scan, State, TableName
from dbt_ivm.algebra.scalar import column
from dbt_ivm.algebra.sizes import Sizes
from dbt_ivm.delta.rules import Changes
from dbt_ivm.names import WEIGHT
from dbt_ivm.plan.analysis import analyze
from dbt_ivm.plan.layout import extent_of
from dbt_ivm.plan.model import Facts, Target
from dbt_ivm.plan.settings import Settings
from dbt_ivm.plan.storage import view_step
from dbt_ivm.plan.watermark import Types
from dbt_ivm.sql.catalog import ColumnFact, RelationFact
from dbt_ivm.sql.dialect import render, table
from dbt_ivm.sql.functions import Functions
from dbt_ivm.sql.render import to_query
from tests.laws.duck import duck_type, literal, spark_type, translate

Row = tuple[Any, ...]
Rows = Sequence[Row]
Schema = Mapping[str, Mapping[str, str]]
"""Per table, its columns and their Spark types."""
Signed = tuple[Row, int]

_EXTENT, _VIEW = ("m__ivm",), ("m",)
_SUFFIX = {State.NEW: "", State.OLD: "_old", State.DELTA: "_delta"}


@dataclass(frozen=True)
class Change:
    """One table's step: its new rows and the signed rows that lead there."""

    rows: Rows
    signed: tuple[Signed, ...]


@dataclass(frozen=True)
class Touched:
    """What one MERGE wrote: action and key per row of the extent."""

    actions: tuple[tuple[str, Row], ...]

    @property
    def keys(self) -> list[Row]:
        return [key for _, key in self.actions]


class DictCatalog:
    """The planner's catalog, from a dict."""

    def __init__(self, schema: Schema, unique: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._schema = schema
        self._unique = unique or {}

    def relation(self, name: TableName) -> RelationFact:
        columns = tuple(ColumnFact(n, t) for n, t in self._schema[name[-1]].items())
        return RelationFact(name, columns, unique=self._unique.get(name[-1]))


class Engine:
    """Runs one model: `build`, then `refresh` round by round."""

    def __init__(self, sql: str, schema: Schema) -> None:
        self.sql = sql
        self._schema = schema
        self._db = duckdb.connect(config={"threads": 1})
        for name, columns in schema.items():
            self._create(name, columns)
        analysis = analyze(sql, DictCatalog(schema), Functions())
        if analysis.maintainable is None:
            raise AssertionError(f"not maintained: {analysis.refusal}")
        self.model = analysis.maintainable
        self.tables = tuple(name[-1] for name in analysis.tables or ())
        self._judge = translate(sql)
        probe = analysis.probe()
        inputs = self._describe(translate(render(probe))) if probe is not None else ()
        types = Types(inputs, self._describe(self._judge))
        self.extent, self.note = extent_of(self.model, types, _EXTENT)
        facts = Facts("m", _VIEW, _EXTENT, Settings(), {}, types, Target())
        self._view_sql = translate(view_step(analysis, self.extent, facts)[0].sql)
        self._state_sql = translate(render(to_query(self.extent.rebuilt(), _read)))
        self._merge_sql = lru_cache(maxsize=None)(self._merge_statement)

    def _create(self, name: str, columns: Mapping[str, str]) -> None:
        fields = ", ".join(f'"{c}" {duck_type(t)}' for c, t in columns.items())
        for suffix in _SUFFIX.values():
            weight = f", {WEIGHT} INTEGER" if suffix == "_delta" else ""
            self._db.execute(f'create table "{name}{suffix}" ({fields}{weight})')

    def _describe(self, query: str) -> tuple[ColumnFact, ...]:
        rows = self._db.execute(f"describe {query}").fetchall()
        return tuple(ColumnFact(row[0], spark_type(row[1])) for row in rows)

    def build(self, states: Mapping[str, Rows]) -> None:
        """A first build from the given tables; a table not named is empty."""
        for name in self.tables:
            self._fill(name, states.get(name, ()))
        self._db.execute(f"create or replace table m__ivm as {self._state_sql}")
        self._db.execute(self._view_sql)

    def refresh(self, changes: Mapping[str, Change]) -> Touched:
        """Bring tables and extent to the next state; only `changes` count as changed."""
        for name in self.tables:
            if name in changes:
                self._db.execute(f'create or replace table "{name}_old" as from "{name}"')
                self._fill(name, changes[name].rows)
                self._fill(f"{name}_delta", [(*r, w) for r, w in changes[name].signed])
        moved = frozenset(changes) & frozenset(self.tables)
        return self._merge(moved) if moved else Touched(())

    def _merge(self, moved: frozenset[str]) -> Touched:
        *kept, merge = self._merge_sql(moved)
        for statement in kept:
            self._db.execute(statement)
        rows = self._db.execute(merge).fetchall()
        return Touched(tuple((row[0], tuple(row[1:])) for row in rows))

    def _merge_statement(self, moved: frozenset[str]) -> list[str]:
        """What the MERGE reads by name, as tables, and the MERGE itself."""
        # Tables of different sizes, so that joins are read in both directions, and small changes.
        names = sorted(self._schema)
        sizes = Sizes({(name,): 10**n for n, name in enumerate(names)}, {(n,): 9 for n in names})
        changes = Changes(frozenset((name,) for name in moved), sizes)
        merge = self.extent.merge(changes, _read)
        kept = [
            f'create or replace temp table "{name}" as {translate(render(query))}'
            for name, query in merge.kept
        ]
        keys = "".join(f', "{key}"' for key in self.extent.keys)
        return [*kept, f"{translate(render(merge.tree()))} RETURNING merge_action{keys}"]

    def _fill(self, name: str, rows: Iterable[Row]) -> None:
        statements = [f'delete from "{name}"']
        columns = self._schema.get(name) or self._schema[name.removesuffix("_delta")]
        types = (*columns.values(), "int")
        values = [
            "(" + ", ".join(literal(v, t) for v, t in zip(row, types, strict=False)) + ")"
            for row in rows
        ]
        if values:
            statements.append(f'insert into "{name}" values {", ".join(values)}')
        self._db.execute("; ".join(statements))

    def stored(self) -> dict[Row, Row]:
        """The extent: stored values by key; two rows of one key are an error in themselves."""
        rows = self._db.execute(f"select {self._columns()} from m__ivm").fetchall()
        width = len(self.extent.keys)
        found = {tuple(row[:width]): tuple(row[width:]) for row in rows}
        assert len(found) == len(rows), f"two stored rows with one key: {rows}"
        return found

    def rebuilt(self) -> dict[Row, Row]:
        """What a new build would store now."""
        rows = self._db.execute(f"select {self._columns()} from ({self._state_sql})").fetchall()
        width = len(self.extent.keys)
        return {tuple(row[:width]): tuple(row[width:]) for row in rows}

    def _columns(self) -> str:
        return ", ".join(f'"{name}"' for name in self.extent.stored)

    def shown(self) -> list[Row]:
        """The rows of the view."""
        return self._db.execute("select * from m").fetchall()

    def judged(self) -> list[Row]:
        """The rows of the model's own SQL on the tables as they are now."""
        return self._db.execute(self._judge).fetchall()

    def check(self) -> None:
        """View and hidden state are what recomputation gives."""
        assert same_bag(self.shown(), self.judged()), (self.shown(), self.judged())
        assert self.stored() == self.rebuilt()


def _read(scan: Scan) -> exp.Query:
    items = [exp.alias_(column(f.source), f.name, quoted=True) for f in scan.fields]
    if scan.state is State.DELTA:
        items.append(column(WEIGHT))
    name = scan.table[-1] + _SUFFIX[scan.state]
    return exp.select(*items).from_(table((name,)))


def same_bag(left: Rows, right: Rows) -> bool:
    """Equal as bags, up to the last digits of fractions: DuckDB averages decimals in double."""
    if Counter(left) == Counter(right):
        return True
    pairs = zip(sorted(left, key=_order), sorted(right, key=_order), strict=False)
    return len(left) == len(right) and all(
        len(a) == len(b) and all(map(_close, a, b)) for a, b in pairs
    )


def _order(row: Row) -> list[tuple[bool, str, Any]]:
    return [(value is None, _kind(value), str(value)) for value in row]


def _kind(value: Any) -> str:
    return "" if isinstance(value, float | Decimal) else type(value).__name__


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float | Decimal) and isinstance(b, float | Decimal):
        return math.isclose(a, b, abs_tol=1e-6)
    return bool(a == b)
