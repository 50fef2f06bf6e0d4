"""What is drawn: a tree of pieces of SQL, printed when it is complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

INT, TEXT, BOOL, DOUBLE = "int", "string", "boolean", "double"
TYPES = (INT, TEXT, BOOL)
"""Types of stored columns; INT stands for every integer type, DOUBLE only comes out of avg."""


@dataclass(frozen=True)
class Piece:
    """A pattern whose `{}` are its parts; `operators` are those it adds on top of its parts."""

    pattern: str
    parts: tuple[Piece, ...] = ()
    operators: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Worth counting, but no operator."""

    @property
    def sql(self) -> str:
        return self.pattern.format(*(part.sql for part in self.parts))

    @property
    def depth(self) -> int:
        """How many operators stand above each other."""
        return len(self.operators) + max((part.depth for part in self.parts), default=0)

    @property
    def used(self) -> Counter[str]:
        return sum((p.used for p in self.parts), Counter((*self.operators, *self.notes)))

    def walk(self) -> Iterator[Piece]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class Term(Piece):
    """A scalar expression."""

    type: str = INT
    is_column: bool = False
    """Subqueries may refer to a column of the query around them, never to an expression."""


@dataclass(frozen=True)
class Query(Piece):
    """A query, or the name of a table."""

    columns: tuple[tuple[str, str], ...] = ()
    """Names and types."""
    spread: int = 1
    """The size of the result is about that of a table to this power."""

    @property
    def source(self) -> Piece:
        """As it stands in FROM."""
        return self if isinstance(self, Table) else Piece("({})", (self,))

    def under(self, alias: str) -> tuple[Term, ...]:
        return tuple(Term(f"{alias}.{name}", type=t, is_column=True) for name, t in self.columns)


@dataclass(frozen=True)
class Table(Query):
    """A stored table or a CTE."""

    stored: bool = True


def listed(parts: tuple[Piece, ...], separator: str = ", ") -> Piece:
    return Piece(separator.join("{}" for _ in parts), parts)


def tables(query: Query) -> tuple[str, ...]:
    """The stored tables that a query names."""
    found = {p.sql for p in query.walk() if isinstance(p, Table) and p.stored}
    return tuple(sorted(found))
