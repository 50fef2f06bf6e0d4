"""A model's SQL as the planner sees it: the maintained core, the view above, the refusals."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.keys import UniqueColumns
from dbt_ivm.algebra.nodes import (
    Aggregate,
    Item,
    Node,
    Project,
    Scan,
    Stamped,
    TableName,
)
from dbt_ivm.algebra.normalise import normalise
from dbt_ivm.algebra.scalar import column, ref
from dbt_ivm.algebra.walk import tables, walk
from dbt_ivm.errors import Unsupported
from dbt_ivm.names import CLOCK, STAMP
from dbt_ivm.plan.core import core_of, under_visible_names
from dbt_ivm.plan.describe import fingerprint
from dbt_ivm.sources.clock import Clock
from dbt_ivm.sql.catalog import Catalog
from dbt_ivm.sql.dialect import TOO_DEEP, table
from dbt_ivm.sql.functions import Functions
from dbt_ivm.sql.pin import references
from dbt_ivm.sql.render import to_query
from dbt_ivm.sql.scope import Output
from dbt_ivm.sql.select import resolve_model


@dataclass(frozen=True)
class Maintainable:
    """A model split at its topmost stateful operator."""

    core: Node
    """What the extent keeps: an aggregate, or the rows of a bag."""
    tree: Node
    """The whole query; everything above the core lives in the view."""
    outputs: tuple[Output, ...]
    unique: tuple[tuple[TableName, frozenset[str]], ...]

    @property
    def stamps(self) -> frozenset[str]:
        """The columns, as the model calls them, that show when a row was written."""
        shown = {o.name: o.visible for o in self.outputs}
        return frozenset(shown[name] for name in _stamped_columns(self.tree) if name in shown)

    @property
    def is_stamped(self) -> bool:
        """Whether the extent keeps the time at which each row was written."""
        return any(isinstance(part, Stamped) for part in walk(self.tree))

    @property
    def unique_columns(self) -> UniqueColumns:
        return dict(self.unique)


@dataclass(frozen=True)
class Analysis:
    """What planning needs to know about the SQL, before any fact about versions."""

    sql: str
    maintainable: Maintainable | None
    refusal: str
    """Why there is no maintainable form."""
    tables: tuple[TableName, ...] | None
    """Base tables, or None where not even those are known."""
    volatile: bool
    fingerprint: str
    """Of what the extent stores; another one means a rebuild."""
    shape: str
    """Of the whole query; another one means that types must be asked again and the view remade."""

    def probe(self) -> exp.Query | None:
        """A query whose column types the planner needs: keys and aggregate arguments, or rows."""
        if self.maintainable is None:
            return None
        core = self.maintainable.core
        if not isinstance(core, Aggregate):
            return to_query(core, _unpinned)
        used = sorted({n for c in core.calls for n in c.written.columns} - set(core.keys))
        columns = tuple(Item(name, ref(name)) for name in (*core.keys, *used))
        arguments = tuple(
            Item(c.name, c.arguments[0])
            for c in core.calls
            if c.plain and c.arguments and not isinstance(c.arguments[0].tree, exp.Star)
        )
        items = (*columns, *arguments)
        return to_query(Project(core.input, items), _unpinned) if items else None


def analyze(sql: str, catalog: Catalog, functions: Functions) -> Analysis:
    """Resolve a model; what cannot be maintained is kept as a refusal with its reason."""
    try:
        maintainable = _maintainable(sql, catalog, functions)
    except Unsupported as refusal:
        return _refused(sql, str(refusal), catalog, functions)
    except RecursionError:
        return _refused(sql, TOO_DEEP, catalog, functions)
    core = maintainable.core
    shown = " ".join(f"{o.visible}={o.name}" for o in maintainable.outputs)
    shape = fingerprint(maintainable.tree, shown)
    return Analysis(sql, maintainable, "", tables(core), False, fingerprint(core), shape)


def _maintainable(sql: str, catalog: Catalog, functions: Functions) -> Maintainable:
    relation = resolve_model(sql, catalog, functions)
    tree = normalise(relation.node, frozenset(o.name for o in relation.outputs))
    core, outputs = core_of(tree), relation.outputs
    if core is tree and not isinstance(core, Aggregate):
        core, outputs = under_visible_names(tree, outputs)
        tree = core
    unique = []
    for name in tables(core):
        if name[0] == CLOCK:
            continue
        fact = catalog.relation(name)
        if fact.unique is not None:
            unique.append((name, frozenset(c.lower() for c in fact.unique)))
    return Maintainable(core, tree, outputs, tuple(unique))


def _stamped_columns(node: Node) -> frozenset[str]:
    """The columns of a relation that depend on when its rows were written."""
    below = frozenset(name for i in node.inputs for name in _stamped_columns(i))
    if isinstance(node, Stamped):
        return below | {STAMP}
    if isinstance(node, Project):
        return frozenset(item.name for item in node.items if item.value.columns & below)
    return below & frozenset(node.columns)


def _refused(sql: str, reason: str, catalog: Catalog, functions: Functions) -> Analysis:
    digest = hashlib.sha256(f"refused\n{sql}".encode()).hexdigest()[:32]
    try:
        found = references(sql, catalog, functions)
    except Unsupported:
        return Analysis(sql, None, reason, None, True, digest, digest)
    return Analysis(sql, None, reason, found.tables, found.volatile, digest, digest)


def _unpinned(scan: Scan) -> exp.Query:
    items = [exp.alias_(column(f.source), f.name, quoted=True) for f in scan.fields]
    if scan.table[0] == CLOCK:
        return exp.select(*items).from_(Clock().now(scan))
    return exp.select(*items).from_(table(scan.table))
