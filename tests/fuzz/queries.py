"""Random queries: any operator on top of any other, printed as Spark SQL."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from tests.fuzz import shapes
from tests.fuzz.scalars import Scope, comparisons, literals, predicates, terms
from tests.fuzz.tree import INT, TEXT, Piece, Query, Table, Term, listed

_SPREAD = 4
"""Above this product of table sizes a join only filters its left side."""


@dataclass(frozen=True)
class World:
    """The tables and CTEs to read, and the aliases given so far."""

    tables: tuple[Table, ...]
    names: list[str] = field(default_factory=list)

    def alias(self) -> str:
        self.names.append(f"q{len(self.names)}")
        return self.names[-1]

    def scope(self, found: tuple[Term, ...], fuel: int) -> Scope:
        return Scope(found, (), lambda n: queries(self, n), fuel, self.names)


@st.composite
def queries(draw: st.DrawFn, world: World, fuel: int) -> Query:
    """A query of about `fuel` operators above each other."""
    if fuel <= 0:
        if draw(st.integers(0, 15)) == 15:
            return draw(constants(world))
        return draw(st.sampled_from(world.tables))
    how = draw(st.integers(0, 12))
    if how == 12:
        return draw(shared_columns(world, fuel))
    if how == 11:
        return draw(with_query(world, fuel))
    if how >= 9:
        return draw(set_operations(world, fuel))
    if how == 8:
        return draw(limits(world, fuel))
    return draw(selects(world, fuel))


@st.composite
def constants(draw: st.DrawFn, world: World) -> Query:
    alias = world.alias()
    rows = [
        listed((draw(literals(INT)), draw(literals(TEXT)))) for _ in range(draw(st.integers(1, 2)))
    ]
    values = listed(tuple(Piece("({})", (row,)) for row in rows))
    pattern = f"select c0, c1 from values {{}} as {alias}(c0, c1)"
    return Query(pattern, (values,), ("values",), columns=(("c0", INT), ("c1", TEXT)))


@dataclass(frozen=True)
class From:
    """FROM with its joins, and the columns in sight."""

    piece: Piece
    terms: tuple[Term, ...]
    spread: int
    used: tuple[str, ...] = ()


@st.composite
def single(draw: st.DrawFn, world: World, fuel: int) -> From:
    query, alias = draw(queries(world, fuel)), world.alias()
    return From(Piece(f"{{}} {alias}", (query.source,)), query.under(alias), query.spread)


_JOINS = ("join", "left join", "right join", "full join", "left semi join", "left anti join")


@st.composite
def joined(draw: st.DrawFn, world: World, left: From, fuel: int) -> From:
    """One more source: every kind of join, on equality, <=>, inequality and more."""
    how = draw(st.integers(0, 9))
    if how == 9:
        return draw(lateral(world, left, fuel))
    right = draw(single(world, draw(st.integers(0, max(0, fuel)))))
    seen, spread = (*left.terms, *right.terms), left.spread + right.spread
    if how == 8 and spread <= _SPREAD:
        return From(
            Piece("{} cross join {}", (left.piece, right.piece), ("cross join",)), seen, spread
        )
    kind = draw(st.sampled_from(_JOINS if spread <= _SPREAD else _JOINS[-2:]))
    on = draw(conditions(left.terms, right.terms))
    piece = Piece(f"{{}} {kind} {{}} on {{}}", (left.piece, right.piece, on), (kind,))
    if kind in _JOINS[-2:]:
        return From(piece, left.terms, left.spread)
    return From(piece, seen, spread)


@st.composite
def conditions(draw: st.DrawFn, left: tuple[Term, ...], right: tuple[Term, ...]) -> Piece:
    """ON: mostly a tie of both sides, alone or with more."""
    both = Scope((*left, *right))
    pairs = [(a, b) for a in left for b in right if a.type == b.type]
    how = draw(st.integers(0, 5))
    if how == 5 or not pairs:
        return draw(predicates(both))
    a, b = draw(st.sampled_from(pairs))
    word = draw(st.sampled_from(("=", "=", "<=>", "<", "<>")))
    tie = Piece(f"{{}} {word} {{}}", (a, b))
    return tie if how < 3 else Piece("{} and {}", (tie, draw(comparisons(both))))


@st.composite
def lateral(draw: st.DrawFn, world: World, left: From, fuel: int) -> From:
    """`, lateral (select … where inner = outer)`."""
    inner = draw(single(world, draw(st.integers(0, max(0, fuel - 1)))))
    pairs = [(i, o) for i in inner.terms for o in left.terms if i.type == o.type]
    if not pairs or left.spread + inner.spread > _SPREAD:
        return left
    here, there = draw(st.sampled_from(pairs))
    items = st.one_of(terms(Scope(inner.terms), INT), st.just(Piece("count(*)")))
    item, alias = draw(items), world.alias()
    first = draw(st.sampled_from(("", "", " order by 1 limit 1", " order by 1 desc limit 2")))
    pattern = f"select {{}} as c0 from {{}} where {{}} = {{}}{first}"
    query = Piece(pattern, (item, inner.piece, here, there))
    outer = draw(st.booleans())
    pattern = "{} left join lateral ({}) {alias} on true" if outer else "{}, lateral ({}) {alias}"
    pattern = pattern.replace("{alias}", alias)
    piece = Piece(pattern, (left.piece, query), ("lateral",))
    found = Term(f"{alias}.c0", type=INT, is_column=True)
    return From(piece, (*left.terms, found), left.spread + inner.spread)


@st.composite
def multiplied(draw: st.DrawFn, world: World, source: From) -> From:
    """`lateral view explode(…)`: each row as often as an array has elements."""
    word, alias = draw(st.sampled_from(("", "outer "))), world.alias()
    scope = Scope(source.terms)
    values = listed((draw(terms(scope, INT)), draw(terms(scope, INT))))
    array = Piece(draw(st.sampled_from(("array({})", "filter(array({}), x -> x > 0)"))), (values,))
    pattern = f"{{}} lateral view {word}explode({{}}) {alias} as c0"
    found = Term(f"{alias}.c0", type=INT, is_column=True)
    piece = Piece(pattern, (source.piece, array), ("explode",))
    return From(piece, (*source.terms, found), source.spread)


@st.composite
def shared_columns(draw: st.DrawFn, world: World, fuel: int) -> Query:
    """USING and NATURAL: shared columns are shown once, by their bare names."""
    left, right = draw(single(world, fuel - 1)), draw(single(world, draw(st.integers(0, fuel - 1))))
    mine, theirs = ({t.sql.partition(".")[2]: t for t in side.terms} for side in (left, right))
    shared = [n for n in mine if n in theirs and mine[n].type == theirs[n].type]
    natural = draw(st.booleans()) and all(n in shared for n in mine if n in theirs)
    if not shared or left.spread + right.spread > _SPREAD:
        return Query("select * from {}", (left.piece,), columns=_columns(mine))
    kind = draw(st.sampled_from(("join", "left join", "right join", "full join")))
    names = shared if natural else draw(st.lists(st.sampled_from(shared), min_size=1, unique=True))
    pattern = (
        f"{{}} natural {kind} {{}}" if natural else f"{{}} {kind} {{}} using ({', '.join(names)})"
    )
    rest = [t for side in (mine, theirs) for n, t in side.items() if n not in names]
    items = (*(Term(n, type=mine[n].type) for n in names), *rest)
    shown, outputs = named(items[:4])
    source = Piece(pattern, (left.piece, right.piece), (f"{kind} using",))
    spread = left.spread + right.spread
    return Query("select {} from {}", (shown, source), columns=outputs, spread=spread)


def _columns(side: dict[str, Term]) -> tuple[tuple[str, str], ...]:
    return tuple((name, term.type) for name, term in side.items())


_SHAPES = (
    shapes.columns,
    shapes.projection,
    shapes.groups,
    shapes.groups,
    shapes.windows,
    shapes.distinct,
    shapes.total,
    shapes.grouping_sets,
)


@st.composite
def selects(draw: st.DrawFn, world: World, fuel: int) -> Query:
    """One SELECT with up to two joins, WHERE, and a shape."""
    joins = draw(st.sampled_from((0, 1, 0, 1, 2)))
    filtered = draw(st.booleans())
    shape = draw(st.sampled_from(_SHAPES))
    below = max(0, fuel - joins - filtered - (shape is not shapes.columns))
    source = draw(single(world, below))
    for _ in range(joins):
        source = draw(joined(world, source, below))
    if draw(st.integers(0, 7)) == 7:
        source = draw(multiplied(world, source))
    scope = world.scope(source.terms, min(below, 2) + 1)
    parts, pattern, used = (source.piece,), "select {1}{2} from {0}{3}{4}", ()
    where = Piece("")
    if filtered:
        where, used = Piece(" where {}", (draw(predicates(scope)),)), ("filter",)
    made = draw(shape(scope))
    items, outputs = named(made.items)
    parts = (*parts, Piece(made.quantifier), items, where, made.tail)
    spread = source.spread if made.spread is None else made.spread
    return Query(pattern, parts, (*used, *made.operators), columns=outputs, spread=spread)


def named(items: tuple[Term, ...]) -> tuple[Piece, tuple[tuple[str, str], ...]]:
    """The select list `… as c0, … as c1`, and its columns."""
    aliased = tuple(Piece(f"{{}} as c{n}", (item,)) for n, item in enumerate(items))
    return listed(aliased), tuple((f"c{n}", item.type) for n, item in enumerate(items))


_SETS = ("union all", "union", "intersect", "except", "intersect all", "except all")


@st.composite
def set_operations(draw: st.DrawFn, world: World, fuel: int) -> Query:
    """Both sides have the same types: where the right has none like it, a constant stands."""
    left = draw(single(world, fuel - 1))
    right = draw(single(world, draw(st.integers(0, fuel - 1))))
    word = draw(st.sampled_from(_SETS))
    chosen = tuple(draw(st.lists(st.sampled_from(left.terms), min_size=1, max_size=3)))
    others = tuple(draw(_matching(right, t.type)) for t in chosen)
    (items, outputs), (matched, _) = named(chosen), named(others)
    pattern = f"select {{}} from {{}} {word} select {{}} from {{}}"
    parts = (items, left.piece, matched, right.piece)
    spread = max(left.spread, right.spread)
    return Query(pattern, parts, (word,), columns=outputs, spread=spread)


def _matching(side: From, type_: str) -> st.SearchStrategy[Term]:
    alike = [t for t in side.terms if t.type == type_]
    return st.sampled_from(alike) if alike else literals(type_)


@st.composite
def limits(draw: st.DrawFn, world: World, fuel: int) -> Query:
    """`order by` every column, so that only equal rows tie."""
    source = draw(single(world, fuel - 1))
    items, outputs = named(source.terms)
    first = draw(st.sampled_from(("", " desc", " nulls last")))
    keys = ", ".join(f"c{n}{first if n == 0 else ''}" for n in range(len(outputs)))
    limit = f"limit {draw(st.integers(1, 4))}"
    offset = draw(st.sampled_from(("", " offset 1")))
    pattern = f"select {{}} from {{}} order by {keys} {limit}{offset}"
    return Query(pattern, (items, source.piece), ("limit",), columns=outputs, spread=0)


@st.composite
def with_query(draw: st.DrawFn, world: World, fuel: int) -> Query:
    """A CTE, which the query below it may read many times."""
    inner = draw(queries(world, fuel - 1))
    if isinstance(inner, Table):
        return inner
    name = world.alias()
    cte = Table(name, columns=inner.columns, spread=inner.spread, stored=False)
    body = draw(queries(replace(world, tables=(cte, cte, *world.tables)), fuel - 1))
    shown = ", ".join(name for name, _ in body.columns)
    pattern = f"with {name} as ({{}}) select {shown} from {{}} {world.alias()}"
    return Query(pattern, (inner, body.source), ("cte",), columns=body.columns, spread=body.spread)
