"""What resolution carries along: catalog, functions, names, CTEs, the query around, the place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_ivm.algebra.base import OuterRow
from dbt_ivm.algebra.nodes import Item, Node, Project, TableName
from dbt_ivm.algebra.scalar import Scalar, ref
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.catalog import Catalog
from dbt_ivm.sql.functions import Functions
from dbt_ivm.sql.scope import Names, Output, Scope


@dataclass(frozen=True)
class Relation:
    """A resolved query: its algebra and the columns it shows."""

    node: Node
    outputs: tuple[Output, ...]
    empty: tuple[Scalar, ...] = ()
    """For an aggregate without keys: what each column is over no rows at all."""
    single: bool = False
    """Whether it has at most one row by its very form."""


@dataclass(frozen=True)
class Outer:
    """The query around a subquery: one row of it, and the names it offers."""

    row: OuterRow
    scope: Scope


@dataclass(frozen=True)
class Context:
    """Everything resolution needs beside the tree."""

    catalog: Catalog
    functions: Functions
    names: Names
    place: str
    namespace: TableName = ()
    ctes: tuple[tuple[str, exp.CTE, Context], ...] = ()
    outer: Outer | None = None
    resolved: dict[object, Relation] = field(default_factory=dict)
    """CTEs and views that were resolved already: read twice, they are one part of the plan."""

    def inside(self, place: str) -> Context:
        return replace(self, place=place)

    def below(self, outer: Outer) -> Context:
        return replace(self, outer=outer)

    def alone(self) -> Context:
        """For what cannot refer to the query around it."""
        return replace(self, outer=None)

    def with_cte(self, cte: exp.CTE) -> Context:
        return replace(self, ctes=(*self.ctes, (cte.alias.lower(), cte, self.alone())))

    def cte(self, name: str) -> tuple[exp.CTE, Context] | None:
        for known, cte, context in reversed(self.ctes):
            if known == name.lower():
                return cte, context
        return None

    def once(self, key: object, resolve: Callable[[], Relation]) -> Relation:
        """A relation that several places may read: resolved once, then under other names."""
        known = self.resolved.get(key)
        if known is None:
            self.resolved[key] = known = resolve()
            return known
        names = {name: self.names.fresh(name) for name in known.node.columns}
        items = tuple(Item(new, ref(old)) for old, new in names.items())
        outputs = tuple(Output(o.visible, names[o.name]) for o in known.outputs)
        return replace(known, node=Project(known.node, items), outputs=outputs)

    def unsupported(self, construct: str) -> Unsupported:
        return Unsupported(construct, self.place)


ResolveQuery = Callable[[exp.Query, Context], Relation]
