"""Names and literals with anything in them stay names and literals in every statement of a plan.

The printed statements are read by a scanner of the test's own, with Spark's rules of quoting: apart
from names and literals they must be those of the same model with harmless ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.plan.analysis import analyze
from dbt_ivm.plan.model import Docs, RefreshPlan, Strategy, Target
from dbt_ivm.plan.refresh import plan_refresh
from dbt_ivm.sql.catalog import Catalog, ColumnFact, RelationFact
from dbt_ivm.sql.dialect import literal, parse_query, render, table
from dbt_ivm.sql.functions import Functions
from dbt_ivm.sql.pin import pin
from tests.planner.facts import EXTENT, OLD, analyzed, facts, head

NASTY = """
` `` ' \\' \\ \\\\ \\n " . .. ; ;drop -- /* */ % %s {{x}} {%x%} ${x} $1 @ :p ? ( ) = , <> < > |
😀 é \u0301 \u202e select from null table order a B __ivm _ 0 VERSION
""".split()
NASTY += [" ", "\n", "\r\n", "\t", "; drop table x; --", "x" * 200]
ANYTHING = st.lists(st.sampled_from(NASTY), min_size=1, max_size=5).map("".join)
ANYTHING |= st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)

QUERIES = {
    "bag": "select {c}, {k} from {t} where {c} <> {v}",
    "groups": "select {k}, count(*) as {n}, sum({c}) as s from {t} group by {k}",
    "key-wise": "select {k}, percentile({c}, 0.5) as {n} from {t} where {c} <> {v} group by {k}",
    "join": "select a.{c}, b.{k} as {n} from {t} a join {t} b on a.{c} = b.{k}",
    "window": "select {k}, row_number() over (partition by {k} order by {c}) as {n} from {t}",
    "outer": "select a.{c}, {v} as {n} from {t} a left join shop.other b on a.{k} = b.id",
    "counted": "select {v} as {n}, count({c}) as `{{` from {t}",
    "rebuilt": "select {c}, {v} as {n} from {t} tablesample (10 percent)",
}


@dataclass(frozen=True)
class Words:
    """The names and the literal of a model."""

    table: str
    key: str
    column: str
    shown: str
    value: str

    def relation(self, name: TableName) -> RelationFact:
        """The catalog that has them."""
        if name[-1] == "other":
            return RelationFact(("shop", "other"), (ColumnFact("id", "int"),))
        assert name[-1] == self.table
        columns = (ColumnFact(self.key, "int"), ColumnFact(self.column, "int"))
        return RelationFact(("shop", self.table), columns)

    def sql(self, query: str) -> str:
        names = {"k": self.key, "c": self.column, "n": self.shown, "t": self.table}
        words = {short: "`" + name.replace("`", "``") + "`" for short, name in names.items()}
        words["t"] = f"shop.{words['t']}"
        value = self.value.replace("\\", "\\\\").replace("'", "\\'")
        return QUERIES[query].format(**words, v=f"'{value}'")


HARMLESS = Words("t", "k", "c", "n", "v")


def plans(query: str, words: Words) -> tuple[RefreshPlan, RefreshPlan]:
    """The first build, and a refresh."""
    names = {"model": words.value, "view": ("shop", words.table)}
    docs = Docs(words.value, ((words.shown, words.value),))
    outputs = [ColumnFact(name, "int") for name in (words.column, words.shown)]
    return both_plans(words.sql(query), words, outputs, docs=docs, **names)


def both_plans(
    sql: str, catalog: Catalog, outputs: Iterable[ColumnFact] = (), **told: object
) -> tuple[RefreshPlan, RefreshPlan]:
    analysis = analyze(sql, catalog, Functions())
    now = facts(analysis, () if analysis.maintainable else outputs, **told)
    then = replace(now, heads={name: head(name, OLD) for name in now.heads})
    mark = plan_refresh(analysis, then, catalog).watermark
    built = replace(now, target=Target("view", head(EXTENT), mark))
    return plan_refresh(analysis, now, catalog), plan_refresh(analysis, built, catalog)


# Spark's: a backtick is doubled in a name, a character of a literal is escaped by a backslash.
QUOTED = re.compile(r"`((?:[^`]|``)*)`|'((?:[^'\\]|\\.)*)'", re.DOTALL)
ESCAPED = re.compile(r"\\(?:([0-3][0-7]{2})|u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "Z": "\x1a", "0": "\0"}


def names_in(sql: str) -> list[str]:
    return [m[1].replace("``", "`") for m in QUOTED.finditer(sql) if m[1] is not None]


def literals_in(sql: str) -> list[str]:
    return [ESCAPED.sub(_meant, m[2]) for m in QUOTED.finditer(sql) if m[2] is not None]


def _meant(escape: re.Match[str]) -> str:
    octal, code, character = escape.groups()
    if octal or code:
        return chr(int(octal, 8) if octal else int(code, 16))
    return ESCAPES.get(character, character)


def words_in(sql: str) -> set[str]:
    """The words of a statement beside names and literals; nothing else may be in it."""
    rest = QUOTED.sub(" ", sql)
    assert not re.search(r"[^\w\s().,<>=+*/-]|--|/\*", rest), rest
    return set(re.findall(r"[^\W\d]+", rest))


def statements(plan: RefreshPlan) -> str:
    return "\n".join(step.sql for step in plan.steps)


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=15, deadline=None)
@given(st.tuples(*[ANYTHING] * 5))
def test_nothing_but_the_plan_is_printed(query, odd):
    # A letter of its own keeps names apart whatever the case of the rest.
    words = Words(f"{odd[0]}t", f"k{odd[1]}", f"{odd[2]}c", f"n{odd[3]}", f"{odd[4]}v")
    for plan, harmless in zip(plans(query, words), plans(query, HARMLESS), strict=True):
        assert plan.strategy is harmless.strategy
        text = statements(plan)
        if query != "rebuilt":  # there the user's own text is part of the statement
            assert words_in(text) <= words_in(statements(harmless))
        found, told = names_in(text), literals_in(text)
        if plan.strategy is Strategy.FULL:
            assert {words.table, words.column} <= set(found)
            assert words.value in told
        feeds = [names_in(value)[-1] for value in told if value.startswith("`shop`.")]
        assert {*feeds} <= {words.table, "other"}


@settings(max_examples=60, deadline=None)
@given(ANYTHING, ANYTHING)
def test_what_is_printed_is_read_back(name, value):
    assert names_in(render(table((name or "x", "t")))) == [name or "x", "t"]
    assert literals_in(render(literal(value))) == [value]
    words = Words(f"{name}t", f"k{name}", f"{name}c", f"n{name}", value)
    tree = parse_query(render(parse_query(words.sql("bag"))))
    assert [i.name for i in tree.find_all(exp.Identifier)].count(words.column) == 2
    for pretty in (True, False):
        assert parse_query(render(tree, pretty)) == tree


@settings(max_examples=40, deadline=None)
@given(st.tuples(*[ANYTHING] * 5))
def test_versions_are_spliced_into_the_text_at_the_tables_alone(odd):
    words = Words(f"{odd[0]}t", f"k{odd[1]}", f"{odd[2]}c", f"n{odd[3]}", odd[4])
    text = words.sql("bag")
    assert (
        pin(text, words, {("shop", words.table): 7}.get)
        == text.replace(" where ", " VERSION AS OF 7 where ", 1)
        or " where " in words.table + words.column + words.key
    )


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("not sql at all", "cannot parse"),
        ("select * from", "cannot parse"),
        ("select 'unclosed", "cannot parse"),
        ("select 1; drop table orders", "not one query"),
        ("drop table orders", "not one query"),
        ("", "not one query"),
        ("begin select 1; end", "cannot parse"),
        ("select id from orders where :p = ?", "query parameter"),
        ("select " + "(" * 500 + "id" + ")" * 500 + " as x from orders", "nested too deeply"),
        ("select " + " + ".join(["id"] * 3000) + " as x from orders", "nested too deeply"),
    ],
    ids=lambda text: text[:20],
)
def test_what_cannot_be_read_is_a_reason(sql, reason):
    assert reason in analyzed(sql).refusal


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*NASTY, *"select from orders id where group by 1 as".split()])))
def test_no_text_is_too_odd_for_an_answer(parts):
    analysis = analyzed(" ".join(("select", *parts)))
    assert analysis.refusal or analysis.maintainable


def test_reserved_columns_are_stored_under_other_names():
    words = replace(HARMLESS, key="__ivm_weight", column="__ivm_count", shown="__IVM_stamp")
    for query in QUERIES:
        for plan in plans(query, words):
            hidden = [n for n in names_in(statements(plan)) if n.lower().startswith("__ivm_")]
            assert plan.steps, query
            assert words.column in hidden, "the table is read by its own names"


class Wide:
    """A table of many columns."""

    names = tuple(f"c{number}" for number in range(500))

    def relation(self, name: TableName) -> RelationFact:
        return RelationFact(("shop", "wide"), tuple(ColumnFact(n, "int") for n in self.names))


ROWS = f"select {', '.join(Wide.names)} from wide"
SUMS = f"select c0 as k, {', '.join(f'sum({n}) as {n}' for n in Wide.names)} from wide group by c0"


@pytest.mark.parametrize("sql", [ROWS, pytest.param(SUMS, marks=pytest.mark.slow)], ids=len)
def test_five_hundred_columns(sql):
    _, plan = both_plans(sql, Wide())
    assert plan.strategy is Strategy.INCREMENTAL
    assert set(Wide.names) <= set(names_in(statements(plan)))
