"""Random expressions and predicates over the columns in sight, subqueries among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.fuzz.tree import BOOL, DOUBLE, INT, TEXT, Piece, Query, Term

_LITERALS = {
    INT: ("0", "1", "2", "0", "1", "cast(null as int)"),
    TEXT: ("'x'", "''", "'y'", "cast(null as string)"),
    BOOL: ("true", "false", "cast(null as boolean)"),
    DOUBLE: ("cast(1 as double)", "cast(null as double)"),
}
_COMPARISONS = ("=", "<", ">=", "<>", "<=>", ">", "<=")

Subquery = Callable[[int], st.SearchStrategy[Query]]
"""A random query of about so many operators."""


@dataclass(frozen=True)
class Scope:
    """The columns in sight, those of the queries around, and what a subquery may be made of."""

    terms: tuple[Term, ...]
    outer: tuple[Term, ...] = ()
    subquery: Subquery | None = None
    """None where subqueries may not stand."""
    fuel: int = 0
    names: list[str] | None = None

    def of(self, type_: str) -> tuple[Term, ...]:
        return tuple(t for t in self.terms if t.type == type_)

    def plain(self) -> Scope:
        """Without subqueries."""
        return replace(self, subquery=None, fuel=0)

    def alias(self) -> str:
        assert self.names is not None
        self.names.append(f"q{len(self.names)}")
        return self.names[-1]


def literals(type_: str) -> st.SearchStrategy[Term]:
    return st.sampled_from(_LITERALS[type_]).map(lambda text: Term(text, type=type_))


@st.composite
def atoms(draw: st.DrawFn, scope: Scope, type_: str) -> Term:
    """A column of the type if there is one, else a constant."""
    columns = scope.of(type_)
    if columns and draw(st.integers(0, 7)) < 7:
        return draw(st.sampled_from(columns))
    return draw(literals(type_))


_SHAPES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    # Products of columns, division and remainders by columns are left out: they may overflow or
    # divide by zero, where Spark stops and DuckDB gives NULL.
    INT: (
        ("{} + {}", (INT, INT)),
        ("{} - {}", (INT, INT)),
        ("{} * 2", (INT,)),
        ("{} % 2", (INT,)),
        ("coalesce({}, 0)", (INT,)),
        ("nullif({}, 1)", (INT,)),
        ("case when {} then {} else {} end", (BOOL, INT, INT)),
        ("length({})", (TEXT,)),
    ),
    TEXT: (
        ("upper({})", (TEXT,)),
        ("concat({}, {})", (TEXT, TEXT)),
        ("coalesce({}, 'z')", (TEXT,)),
        ("case when {} then {} end", (BOOL, TEXT)),
        ("cast({} as string)", (INT,)),
    ),
    BOOL: (("not {}", (BOOL,)), ("coalesce({}, false)", (BOOL,)), ("{} > 0", (INT,))),
    # Fractions are only compared and passed on: sums of them depend on the order of the rows.
    DOUBLE: (("coalesce({}, {})", (DOUBLE, DOUBLE)),),
}


@st.composite
def terms(draw: st.DrawFn, scope: Scope, type_: str) -> Term:
    """An expression of the type."""
    how = draw(st.integers(0, 9))
    if how < 5:
        return draw(atoms(scope, type_))
    if how == 9 and scope.fuel > 0 and scope.subquery is not None and type_ in (INT, BOOL):
        return draw(scalar_subqueries(scope) if type_ == INT else membership(scope))
    if how == 8 and type_ == BOOL:
        return draw(predicates(scope))
    pattern, types = draw(st.sampled_from(_SHAPES[type_]))
    parts = tuple(
        draw(predicates(scope) if t == BOOL and type_ != BOOL else atoms(scope, t)) for t in types
    )
    return Term(f"({pattern})", parts, type=type_)


@st.composite
def comparisons(draw: st.DrawFn, scope: Scope, type_: str | None = None) -> Term:
    """Two values of one type."""
    present = sorted({t.type for t in scope.terms}) or [INT]
    chosen = type_ or draw(st.sampled_from(present))
    left = draw(atoms(scope, chosen))
    others = [t for t in scope.of(chosen) if t != left]
    right = draw(st.sampled_from(others) if others and draw(st.booleans()) else literals(chosen))
    return Term(f"{{}} {draw(st.sampled_from(_COMPARISONS))} {{}}", (left, right), type=BOOL)


@st.composite
def predicates(draw: st.DrawFn, scope: Scope) -> Term:
    """A condition; subqueries under AND, OR, NOT and CASE included."""
    how = draw(st.integers(0, 11))
    if how < 4:
        return draw(comparisons(scope))
    if how == 4:
        value = draw(st.sampled_from(scope.terms)) if scope.terms else draw(literals(INT))
        negated = draw(st.sampled_from(("is null", "is not null")))
        return Term(f"{{}} {negated}", (value,), type=BOOL)
    if how == 5:
        negated = draw(st.sampled_from(("in", "not in")))
        return Term(f"{{}} {negated} (0, 2)", (draw(atoms(scope, INT)),), type=BOOL)
    if how == 6:
        word = draw(st.sampled_from(("and", "or")))
        both = draw(comparisons(scope)), draw(predicates(scope))
        return Term(f"({{}} {word} {{}})", both, type=BOOL)
    if how == 7:
        return Term("not ({})", (draw(predicates(scope)),), type=BOOL)
    if scope.fuel > 0 and scope.subquery is not None:
        return draw(membership(scope))
    return draw(comparisons(scope))


@st.composite
def correlations(draw: st.DrawFn, inner: Scope, scope: Scope) -> Piece:
    """` where …` of a subquery: nothing, its own columns, or those of the queries around it."""
    around = (*(t for t in scope.terms if t.is_column), *scope.outer)
    how = draw(st.integers(0, 3))
    if how == 0:
        return Piece("")
    if how == 1:
        return Piece(" where {}", (draw(predicates(inner.plain())),))
    pairs = [(i, o) for i in inner.terms for o in around if i.type == o.type]
    if not pairs:
        return Piece("")
    here, there = draw(st.sampled_from(pairs))
    word = draw(st.sampled_from(_COMPARISONS))
    tie = Piece(f"{{}} {word} {{}}", (here, there), notes=("correlated",))
    if how == 2:
        return Piece(" where {}", (tie,))
    nested = replace(inner, outer=around, subquery=scope.subquery, fuel=inner.fuel)
    return Piece(" where {} and {}", (tie, draw(predicates(nested))))


@st.composite
def inner_queries(draw: st.DrawFn, scope: Scope) -> tuple[Piece, Scope]:
    """FROM and scope of a subquery."""
    assert scope.subquery is not None
    fuel = draw(st.integers(0, scope.fuel - 1))
    query, alias = draw(scope.subquery(fuel)), scope.alias()
    inner = Scope(query.under(alias), fuel=scope.fuel - 1 - fuel, names=scope.names)
    return Piece(f"{{}} {alias}", (query.source,)), inner


@st.composite
def membership(draw: st.DrawFn, scope: Scope) -> Term:
    """`exists`, `in` and their negations."""
    source, inner = draw(inner_queries(scope))
    where = draw(correlations(inner, scope))
    negated = draw(st.sampled_from(("", "not ")))
    if draw(st.integers(0, 7)) == 7:
        return Term(
            f"{{}} {negated}in (select count(*) from {{}}{{}})",
            (draw(atoms(scope, INT)), source, where),
            (f"{negated}in", "aggregate"),
            type=BOOL,
        )
    kinds = [t.type for t in inner.terms if scope.of(t.type)]
    if draw(st.booleans()) or not kinds:
        return Term(
            f"{negated}exists (select 1 from {{}}{{}})",
            (source, where),
            (f"{negated}exists",),
            type=BOOL,
        )
    kind = draw(st.sampled_from(kinds))
    tested, item = draw(atoms(scope, kind)), draw(st.sampled_from(inner.of(kind)))
    return Term(
        f"{{}} {negated}in (select {{}} from {{}}{{}})",
        (tested, item, source, where),
        (f"{negated}in",),
        type=BOOL,
    )


_SCALARS = ("max({})", "count(*)", "sum({})", "count({}) + 1", "coalesce(min({}), 1)")
"""One value even of no rows; never two, which is an error at run time."""


@st.composite
def scalar_subqueries(draw: st.DrawFn, scope: Scope) -> Term:
    """An aggregate, over all rows or over the one group that a row around belongs to."""
    source, inner = draw(inner_queries(scope))
    around = [t for t in scope.terms if t.is_column]
    pairs = [(i, o) for i in inner.terms for o in around if i.type == o.type]
    if pairs and draw(st.integers(0, 3)) == 3:
        here, there = draw(st.sampled_from(pairs))
        pattern = "(select count(*) from {} where {} = {} group by {})"
        return Term(pattern, (source, here, there, here), ("scalar subquery",), type=INT)
    where = draw(correlations(inner, scope))
    if draw(st.integers(0, 4)) == 4:
        first = draw(st.sampled_from(("", " desc")))
        pattern = f"(select {{}} from {{}}{{}} order by 1{first} limit 1)"
        parts = (draw(atoms(inner, INT)), source, where)
        return Term(pattern, parts, ("scalar subquery", "limit"), type=INT)
    call = draw(st.sampled_from(_SCALARS))
    value = (draw(atoms(inner, INT)),) if "{}" in call else ()
    return Term(
        f"(select {call} from {{}}{{}})", (*value, source, where), ("scalar subquery",), type=INT
    )
