"""What a SELECT makes of its FROM: columns, groups, grouping sets, windows."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.fuzz.scalars import Scope, predicates, terms
from tests.fuzz.tree import BOOL, DOUBLE, INT, TEXT, TYPES, Piece, Term, listed

_WIDTH = 3
_NOTHING = Piece("")


@dataclass(frozen=True)
class Shape:
    """Select list, what follows WHERE, and how the size of the result compares."""

    items: tuple[Term, ...]
    tail: Piece = _NOTHING
    operators: tuple[str, ...] = ()
    spread: int | None = None
    """None: that of the input."""
    quantifier: str = ""


@st.composite
def columns(draw: st.DrawFn, scope: Scope) -> Shape:
    """Some columns, as they are."""
    chosen = draw(st.lists(st.sampled_from(scope.terms), min_size=1, max_size=_WIDTH))
    return Shape(tuple(chosen))


@st.composite
def projection(draw: st.DrawFn, scope: Scope) -> Shape:
    kinds = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=_WIDTH))
    return Shape(tuple(draw(terms(scope, kind)) for kind in kinds), operators=("project",))


@st.composite
def distinct(draw: st.DrawFn, scope: Scope) -> Shape:
    return Shape(draw(columns(scope)).items, operators=("distinct",), quantifier="distinct ")


_CALLS: tuple[tuple[str, str | None, str], ...] = (
    ("count(*)", None, INT),
    ("sum({})", INT, INT),
    ("min({})", INT, INT),
    ("max({})", INT, INT),
    ("max({})", TEXT, TEXT),
    ("count({})", TEXT, INT),
    ("avg({})", INT, DOUBLE),
    ("count(distinct {})", INT, INT),
    ("sum(distinct {})", INT, INT),
    ("bool_or({})", BOOL, BOOL),
    ("bool_and({})", BOOL, BOOL),
    ("count_if({})", BOOL, INT),
    ("median({})", INT, DOUBLE),
    # collect_list, first, any_value and max_by choose by the order of rows; stddev and its kin
    # differ in the last digits
)


@st.composite
def aggregates(draw: st.DrawFn, scope: Scope) -> Term:
    call, argument, type_ = draw(st.sampled_from(_CALLS))
    parts: tuple[Piece, ...] = ()
    if argument is not None:
        parts = (draw(terms(scope, argument)),)
    if draw(st.integers(0, 5)) == 5:
        parts, call = (*parts, draw(predicates(scope.plain()))), call + " filter (where {})"
    return Term(call, parts, notes=(call.partition("(")[0],), type=type_)


@st.composite
def groups(draw: st.DrawFn, scope: Scope) -> Shape:
    """`group by` columns or expressions, HAVING, expressions over both."""
    keys: list[Term] = []
    for _ in range(draw(st.integers(1, 2))):
        expression = draw(st.integers(0, 4)) == 4
        key = draw(terms(scope.plain(), INT) if expression else st.sampled_from(scope.terms))
        if key.is_column or any(part.is_column for part in _terms(key)):
            keys.append(key)  # `group by 1` is a position
    if not keys:
        keys = [scope.terms[0]]
    calls = draw(st.lists(aggregates(scope), min_size=1, max_size=2))
    above = _above(scope, (*keys, *calls))
    items = tuple(draw(terms(above, t.type)) if draw(_rare) else t for t in above.terms)
    operators: tuple[str, ...] = ("group by",)
    if draw(_rare):
        order = draw(st.sampled_from(above.terms))
        pattern = draw(
            st.sampled_from(
                (
                    "rank() over (partition by {} order by {})",
                    "count({1}) over (partition by {0})",
                    "max(count(*)) over (partition by {} order by {})",
                    "sum(sum(1)) over (partition by {} order by {})",
                )
            )
        )
        rank = Term(pattern, (keys[0], order), type=INT)
        items, operators = (*items, rank), (*operators, "window")
    tail = Piece(" group by {}", (listed(tuple(keys)),))
    if draw(_rare):
        having = draw(predicates(above))
        tail, operators = Piece("{} having {}", (tail, having)), (*operators, "having")
    return Shape(items, tail, operators)


@st.composite
def total(draw: st.DrawFn, scope: Scope) -> Shape:
    """Aggregates without GROUP BY."""
    calls = tuple(draw(st.lists(aggregates(scope), min_size=1, max_size=2)))
    above = _above(scope, calls)
    items = tuple(draw(terms(above, t.type)) if draw(_rare) else t for t in calls)
    if not any(p in calls for item in items for p in item.walk()):
        items = calls
    return Shape(items, operators=("aggregate",), spread=0)


@st.composite
def grouping_sets(draw: st.DrawFn, scope: Scope) -> Shape:
    """Of no rows, Spark gives no row for `()` in GROUPING SETS and DuckDB one: HAVING drops it."""
    a, b = draw(st.sampled_from(scope.terms)), draw(st.sampled_from(scope.terms))
    if a == b:
        return draw(groups(scope))
    word = draw(st.sampled_from(("rollup ({}, {})", "cube ({}, {})", "sets", "short sets")))
    calls = tuple(draw(st.lists(aggregates(scope.plain()), min_size=1, max_size=2)))
    keys: Piece = Piece(word, (a, b))
    if word == "sets":
        keys = Piece("grouping sets (({}, {}), ({}), ())", (a, b, a))
    if word == "short sets":
        keys = Piece("grouping sets (({}), ({}))", (a, b))
    flag = Term("grouping({})", (a,), type=INT)
    items = (a, b, *calls, *((flag,) if draw(_rare) else ()))
    tail = Piece(" group by {} having count(*) > 0", (keys,))
    return Shape(items, tail, ("grouping sets",))


_RANKS = ("rank()", "dense_rank()")
_TOTAL = ("row_number()", "lag({})", "lead({})", "sum({}) rows")
_SUMS = ("sum({})", "count({})", "min({})", "max({})", "count(*)")


@st.composite
def windows(draw: st.DrawFn, scope: Scope) -> Shape:
    items = draw(columns(scope)).items
    calls = (draw(window_calls(scope, (*_SUMS, *_RANKS, *_TOTAL))),)
    if draw(st.booleans()):
        # Two calls that tell equal rows apart would each do so in an order of its own.
        calls = (*calls, draw(window_calls(scope, (*_SUMS, *_RANKS))))
    return Shape((*items, *calls), operators=("window",))


@st.composite
def window_calls(draw: st.DrawFn, scope: Scope, functions: tuple[str, ...]) -> Term:
    """Functions that tell equal rows apart are ordered by every column: ties are equal rows."""
    call = draw(st.sampled_from(functions))
    keys = draw(st.lists(st.sampled_from(scope.terms), max_size=2, unique=True))
    over = [Piece("partition by {}", (listed(tuple(keys)),))] if keys else []
    direction = draw(st.sampled_from(("", " desc", " nulls last")))
    if call in _TOTAL:
        over.append(_order(scope.terms, direction))
    elif call in _RANKS or draw(st.booleans()):
        over.append(_order((draw(st.sampled_from(scope.terms)),), direction))
    if call.endswith(" rows"):
        frame = draw(
            st.sampled_from(("1 preceding and current row", "current row and 1 following"))
        )
        call = call.removesuffix(" rows")
        over.append(Piece(f"rows between {frame}"))
    argument = (draw(terms(scope.plain(), INT)),) if "{}" in call else ()
    return Term(f"{call} over ({{}})", (*argument, listed(tuple(over), " ")), type=INT)


def _order(keys: tuple[Term, ...], direction: str) -> Piece:
    first = Piece(f"{{}}{direction}", keys[:1])
    return Piece("order by {}", (listed((first, *keys[1:])),))


_rare = st.integers(0, 4).map(lambda n: n == 4)


def _above(scope: Scope, shown: tuple[Term, ...]) -> Scope:
    return Scope(shown, scope.outer, scope.subquery, scope.fuel, scope.names)


def _terms(term: Piece) -> list[Term]:
    return [p for p in term.walk() if isinstance(p, Term)]
