"""Facts gathered from Spark: relations, heads of tables, the state of an extent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from dbt_common.exceptions import DbtRuntimeError
from sqlglot import exp

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.errors import IvmError, Unsupported
from dbt_ivm.names import CLOCK, KEY_PROPERTY, MODEL_PROPERTY
from dbt_ivm.plan.model import Target
from dbt_ivm.plan.watermark import Watermark, decode, package_of
from dbt_ivm.sources.clock import Clock
from dbt_ivm.sources.facts import Commit, Head, Identity, moment
from dbt_ivm.sources.format import Row, TableFormat
from dbt_ivm.sources.formats import FORMATS
from dbt_ivm.sql.catalog import ColumnFact, RelationFact, ViewFact
from dbt_ivm.sql.dialect import parse_table, render, verbatim
from dbt_ivm.sql.statements import describe, described, session, show_create

Run = Callable[[str], list[Row]]

_SESSION_CATALOG = "spark_catalog"
_NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")


class Pins:
    """What one dbt invocation has seen: every model of it sees the same state of a source."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.relations: dict[TableName, RelationFact] = {}
        self.heads: dict[TableName, Head] = {}
        self.session: tuple[str, timedelta] | None = None
        """Time zone of the sessions, and how far their clock is ahead of ours."""

    def forget(self, *names: TableName) -> None:
        """A relation was written by this invocation: whoever reads it next looks again."""
        with self.lock:
            for name in names:
                self.relations.pop(canonical(name), None)
                self.heads.pop(canonical(name), None)


def canonical(name: TableName) -> TableName:
    """Without the session catalog, whose names ignore case; other catalogs may know it."""
    if len(name) == 3 and name[0].lower() == _SESSION_CATALOG:
        name = name[1:]
    return tuple(part.lower() for part in name) if len(name) < 3 else name


class SparkFacts:
    """Looks facts up through one connection and remembers them for the invocation."""

    def __init__(self, run: Run, pins: Pins) -> None:
        self._run = run
        self._pins = pins

    def ask(self, statement: exp.Expr) -> list[Row]:
        """Send a statement that only reads facts."""
        return self._run(render(statement, pretty=False))

    def relation(self, name: TableName) -> RelationFact:
        """A table or view by name (the planner's `Catalog`)."""
        key = canonical(name)
        with self._pins.lock:
            if key not in self._pins.relations:
                self._pins.relations[key] = self._describe(key)
            return self._pins.relations[key]

    def head(self, name: TableName, since: int | None = None) -> Head:
        """The pinned head of a table, with history back to version `since`.

        A pin older than `since` means another run has already brought the extent further.
        """
        if name[0] == CLOCK:
            return self._clock(name[-1])
        key = canonical(name)
        with self._pins.lock:
            self.relation(key)
            head = self._pins.heads[key]
            form = FORMATS[head.format]
            if since is not None and form.is_behind(head, since):
                head = form.head(self.ask, key, form.identity(self.ask, key))
            if since is not None:
                head = form.reaching(self.ask, head, since)
            self._pins.heads[key] = head
            return head

    def zone(self) -> str:
        """The time zone of the session: all sessions of an invocation have the same."""
        return self._session()[0]

    def now(self) -> str:
        """The time as the histories of tables tell it, by the clock and in the zone of Spark."""
        return str(datetime.now() + self._session()[1])

    def _session(self) -> tuple[str, timedelta]:
        with self._pins.lock:
            if self._pins.session is None:
                row = self.ask(session())[0]
                self._pins.session = (row["zone"], moment(str(row["now"])) - datetime.now())
            return self._pins.session

    def _clock(self, grain: str) -> Head:
        """The time, looked at once per invocation: all models of a run see the same."""
        with self._pins.lock:
            if (CLOCK, grain) not in self._pins.heads:
                version = int(self.ask(Clock().question(grain))[0]["version"])
                self._pins.heads[CLOCK, grain] = Clock().head(grain, version)
            return self._pins.heads[CLOCK, grain]

    def target(self, extent: TableName, kind: str | None, view: str | None, exists: bool) -> Target:
        """What stands under the model's names, and the watermark of its extent."""
        identity = self._extent(extent) if exists else None
        if identity is None:
            return Target(kind, view=view)
        if MODEL_PROPERTY not in identity.properties:
            raise IvmError(
                f"The table {'.'.join(extent)} exists and is not an extent of dbt-ivm;"
                " rename it, or give the model another alias."
            )
        form = FORMATS[identity.format]
        head = form.head(self.ask, canonical(extent), identity)
        watermark, problem, commit = _last_state(form, head)
        if watermark is None and not problem:
            # Nothing but maintenance in the recent commits: the watermark stands further back.
            head = form.reaching(self.ask, head, 0)
            watermark, problem, commit = _last_state(form, head)
        if watermark is None and not problem and form.lost_its_start(head):
            problem = "the log of the extent was cleaned up and its watermark with it"
        return Target(kind, head, watermark, problem, view, identity.properties, commit)

    def owner(self, name: TableName) -> str | None:
        """The model whose extent a table is; None for a table that is not ours."""
        identity = self._extent(name)
        return identity.properties.get(MODEL_PROPERTY) if identity else None

    def columns(self, query: str) -> tuple[ColumnFact, ...]:
        """Names and types of a query's result, without running it."""
        return described(self.ask(exp.Describe(this=verbatim(query), style="QUERY")))

    def _describe(self, name: TableName) -> RelationFact:
        rows = self.ask(describe("TABLE EXTENDED", name))
        columns, details = _described(rows)
        if details.get("Type") == "VIEW":
            text = details["View Text"]
            return RelationFact(name, columns, "view", _view(text, details, len(columns)))
        if "View Query Output Columns" in details:  # of a catalog that does not show the text here
            made = self.ask(show_create(name))[0]["createtab_stmt"]
            text = made.split("\nAS\n", 1)[1]
            return RelationFact(name, columns, "view", _view(text, details, len(columns)))
        form = _format(details)
        if form is None:
            provider = details.get("Provider") or "a temporary view"
            raise Unsupported(f"`{'.'.join(name)}` ({provider}), which keeps no versions,")
        identity = form.identity(self.ask, name)
        head = form.head(self.ask, name, identity)
        form.check_source(self.ask, head, columns)
        self._pins.heads[name] = head
        key = json.loads(identity.properties.get(KEY_PROPERTY, "null"))
        unique = tuple(key) if key is not None else None
        return RelationFact(name, columns, identity.format, unique=unique)

    def _extent(self, name: TableName) -> Identity | None:
        """What an extent is right now; None where there is no table of that name."""
        try:
            rows = self.ask(describe("TABLE EXTENDED", name))
        except DbtRuntimeError as error:
            if any(sign in str(error) for sign in _NOT_FOUND):
                return None
            raise
        form = _format(_described(rows)[1])
        return form.extent(self.ask, name) if form else Identity("", "")


def _format(details: Mapping[str, str]) -> TableFormat | None:
    return FORMATS.get((details.get("Provider") or "").lower())


def _described(rows: list[Row]) -> tuple[tuple[ColumnFact, ...], dict[str, str]]:
    """`DESCRIBE TABLE EXTENDED`: the columns, and the details that follow them."""
    columns = described(rows)
    return columns, {row["col_name"]: row["data_type"] for row in rows[len(columns) :]}


def _last_state(form: TableFormat, head: Head) -> tuple[Watermark | None, str, Commit | None]:
    """The watermark of the newest commit that changed rows; a foreign one is a problem."""
    for commit in form.lineage(head):
        watermark = decode(commit.metadata)
        if watermark is not None:
            return watermark, "", commit
        package = package_of(commit.metadata)
        if package is not None:
            why = f"the extent was written by dbt-ivm {package}, which stores it otherwise"
            return None, why, commit
        if not form.is_neutral(commit):
            return None, f"the extent was changed by {commit.operation} outside dbt-ivm", commit
    return None, "", None


def _view(text: str, details: Mapping[str, str], width: int) -> ViewFact:
    listed = details.get("View Query Output Columns", "").strip()[1:-1]
    columns = tuple(part.strip().strip("`") for part in listed.split(",")) if listed else ()
    if len(columns) != width:  # a name with a comma in it: columns are then matched by position
        columns = ()
    namespace = parse_table(details.get("View Catalog and Namespace") or _SESSION_CATALOG)
    return ViewFact(text, columns, canonical((*namespace, ""))[:-1])
