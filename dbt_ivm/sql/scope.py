"""Names: which column an identifier means, and fresh ones for the algebra."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_ivm.algebra.scalar import column
from dbt_ivm.errors import Unsupported
from dbt_ivm.names import HIDDEN_PREFIX

_NOT_STORABLE = re.compile(r"[ ,;{}()\n\t=.`\"']+")


class Names:
    """Hands out column names that no other column of the tree has and every format can store."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def fresh(self, hint: str) -> str:
        """`hint` itself where it is free, else with a number: `id`, `id_1`, `id_2`."""
        base = _NOT_STORABLE.sub("_", hint).strip("_") or "c"
        if base.lower().startswith(HIDDEN_PREFIX):
            base = "c" + base
        name, number = base, 0
        while name.lower() in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name.lower())
        return name


@dataclass(frozen=True)
class Output:
    """A column as the query shows it (`visible`) and as the algebra knows it (`name`)."""

    visible: str
    name: str


@dataclass(frozen=True)
class Source:
    """One item of a FROM clause."""

    qualifier: tuple[str, ...]
    outputs: tuple[Output, ...]
    hidden: frozenset[str] = frozenset()
    """Lower-case names that USING shows once, through a source of its own."""


@dataclass(frozen=True)
class Scope:
    """The sources that names in one SELECT can refer to, with Spark's rules of resolution."""

    sources: tuple[Source, ...] = ()
    outer: Scope | None = None
    """What the query around a subquery offers, where the subquery itself has no such name."""

    def add(self, source: Source) -> Scope:
        return replace(self, sources=(*self.sources, source))

    def star(self, qualifier: tuple[str, ...] = ()) -> tuple[Output, ...]:
        """The columns of `*` or of `t.*`."""
        if qualifier:
            found = [s for s in self.sources if _qualifies(s, qualifier)]
            if len(found) != 1:
                raise Unsupported(f"`{'.'.join(qualifier)}.*`, which names no table of its FROM")
            return found[0].outputs
        return tuple(
            output
            for source in self.sources
            for output in source.outputs
            if output.visible.lower() not in source.hidden
        )

    def find(self, parts: tuple[str, ...]) -> exp.Expr | None:
        """Resolve `a`, `t.a`, `db.t.a` or any of them followed by struct fields."""
        for split in range(min(3, len(parts) - 1), -1, -1):
            qualifier, name, fields = parts[:split], parts[split], parts[split + 1 :]
            matches = self._matches(qualifier, name)
            if len(matches) > 1:
                raise Unsupported(f"ambiguous column `{'.'.join(parts)}`")
            if matches:
                return _path(matches[0], fields)
        return self.outer.find(parts) if self.outer else None

    def _matches(self, qualifier: tuple[str, ...], name: str) -> list[str]:
        key = name.lower()
        return [
            output.name
            for source in self.sources
            if (not qualifier and key not in source.hidden)
            or (qualifier and _qualifies(source, qualifier))
            for output in source.outputs
            if output.visible.lower() == key
        ]

    def renamed(self, names: Mapping[str, str]) -> Scope:
        """The same visible names for other columns; a column without a new name is not offered."""
        sources = tuple(
            replace(
                source,
                outputs=tuple(
                    Output(o.visible, names[o.name]) for o in source.outputs if o.name in names
                ),
            )
            for source in self.sources
        )
        return Scope(sources, self.outer.renamed(names) if self.outer else None)

    def columns(self) -> tuple[str, ...]:
        """Every column that can be named, in the query itself or around it."""
        own = tuple(o.name for source in self.sources for o in source.outputs)
        return tuple(dict.fromkeys((*own, *(self.outer.columns() if self.outer else ()))))


def _qualifies(source: Source, qualifier: tuple[str, ...]) -> bool:
    wanted = tuple(part.lower() for part in qualifier)
    have = tuple(part.lower() for part in source.qualifier)
    return bool(have) and have[-len(wanted) :] == wanted


def _path(name: str, fields: tuple[str, ...]) -> exp.Expr:
    tree: exp.Expr = column(name)
    for part in fields:
        tree = exp.Dot(this=tree, expression=exp.to_identifier(part, quoted=True))
    return tree


@dataclass
class Aliases:
    """Select-list aliases seen so far, for lateral references and GROUP BY / ORDER BY."""

    values: dict[str, exp.Expr] = field(default_factory=dict)

    def add(self, name: str, value: exp.Expr) -> None:
        self.values.setdefault(name.lower(), value)

    def find(self, parts: tuple[str, ...]) -> exp.Expr | None:
        value = self.values.get(parts[0].lower())
        if value is None:
            return None
        tree = value.copy()
        for part in parts[1:]:
            tree = exp.Dot(
                this=exp.Paren(this=tree), expression=exp.to_identifier(part, quoted=True)
            )
        return tree
