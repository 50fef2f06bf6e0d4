"""The model's own SQL at fixed source versions, spliced into the text without reprinting it.

This is the judge's query: it goes through neither the algebra nor the printer, so a mistake in
either cannot hide itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest

from sqlglot import exp

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.algebra.scalar import column
from dbt_ivm.errors import Unsupported
from dbt_ivm.names import CLOCK
from dbt_ivm.sql.catalog import Catalog, RelationFact
from dbt_ivm.sql.clock_values import clock_value, grain_of
from dbt_ivm.sql.dialect import parse_query, render, tokenize, verbatim
from dbt_ivm.sql.expressions import function_name, is_call
from dbt_ivm.sql.functions import CLOCK as CLOCK_FUNCTIONS
from dbt_ivm.sql.functions import Functions, Kind

Versions = Callable[[TableName], int | None]
_STEADY = (Kind.SCALAR, Kind.AGGREGATE, Kind.WINDOW, Kind.GENERATOR, Kind.GROUPING)


@dataclass(frozen=True)
class References:
    """What a text reads, through every view: its tables, and whether its result may drift."""

    tables: tuple[TableName, ...]
    volatile: bool
    """It calls something whose value is not decided by the tables alone."""


def references(text: str, catalog: Catalog, functions: Functions) -> References:
    """The base tables below a query and its views."""
    found: dict[TableName, None] = {}
    drifting = []

    def visit(sql: str, namespace: TableName) -> None:
        tree = parse_query(sql, for_meaning=False)
        drifting.append(_is_volatile(tree, functions))
        for _, fact in _table_uses(tree, catalog, namespace):
            if fact.view:
                visit(fact.view.text, fact.view.namespace)
            else:
                found[fact.name] = None

    visit(text, ())
    return References(tuple(found), any(drifting))


def pin(text: str, catalog: Catalog, versions: Versions, namespace: TableName = ()) -> str:
    """`from orders o` becomes `from orders VERSION AS OF 7 o`; views become pinned subqueries."""
    edits: list[tuple[int, int, str]] = []
    for use, fact in _table_uses(parse_query(text, for_meaning=False), catalog, namespace):
        start, end = use.parts[0].meta["start"], use.parts[-1].meta["end"] + 1
        if fact.view:
            inner = pin(fact.view.text, catalog, versions, fact.view.namespace)
            alias = "" if use.alias else " AS " + render(exp.to_identifier(use.name, quoted=True))
            edits.append((start, end, _pinned_view(fact, inner) + alias))
        else:
            version = versions(fact.name)
            if version is not None:
                edits.append((start, end, f"{text[start:end]} VERSION AS OF {int(version)}"))
    edits += _clock_edits(text, versions)
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _clock_edits(text: str, versions: Versions) -> list[tuple[int, int, str]]:
    """`current_date()` and its like become the time that the model was brought to."""
    edits = []
    tokens = tokenize(text)
    for token, after, last in zip_longest(tokens, tokens[1:], tokens[2:]):
        function = token.text.lower()
        is_clock = function in CLOCK_FUNCTIONS
        version = versions((CLOCK, grain_of(function))) if is_clock else None
        called = after is not None and after.text == "(" and last is not None and last.text == ")"
        if version is None or not (called or function.startswith(("current_", "local"))):
            continue
        if not called and after is not None and after.text == "(":
            continue  # unix_timestamp(x) is a function of x
        end = last.end if called and last is not None else token.end
        value = clock_value(function, version)
        edits.append((token.start, end + 1, render(value, pretty=False)))
    return edits


def _pinned_view(fact: RelationFact, inner: str) -> str:
    """`(select query_column as view_column, … from (text))`, the way Spark reads a view."""
    shown = [c.name for c in fact.columns]
    queried = fact.view.query_columns if fact.view else ()
    items = [
        exp.alias_(column(name), visible, quoted=True)
        for name, visible in zip(queried or shown, shown, strict=True)
    ]
    alias = exp.TableAlias(
        this=exp.to_identifier("v"),
        columns=[] if queried else [exp.to_identifier(name, quoted=True) for name in shown],
    )
    body = exp.Subquery(this=verbatim(inner + "\n"), alias=alias)
    return f"({render(exp.select(*items).from_(body), pretty=False)})"


def _table_uses(
    tree: exp.Query, catalog: Catalog, namespace: TableName
) -> list[tuple[exp.Table, RelationFact]]:
    uses = []
    for use in tree.find_all(exp.Table):
        if not all(isinstance(part, exp.Identifier) for part in use.parts):
            raise Unsupported(f"the table function `{function_name(use.this)}`")
        name = tuple(part.name for part in use.parts)
        if len(name) == 1 and _names_cte(use):
            continue
        if use.args.get("version") or use.args.get("when"):
            raise Unsupported("a table read at a fixed version")
        qualified = (*namespace, *name) if len(name) == 1 else name
        uses.append((use, catalog.relation(qualified)))
    return uses


def _names_cte(use: exp.Table) -> bool:
    """Whether a name means a CTE where it stands; inside a CTE only earlier ones are visible."""
    child: exp.Expr = use
    node = use.parent
    while node is not None:
        clause = node if isinstance(node, exp.With) else node.args.get("with_")
        visible = clause.expressions if clause else []
        if isinstance(node, exp.With) and not node.args.get("recursive"):
            visible = visible[: visible.index(child)]
        if any(cte.alias.lower() == use.name.lower() for cte in visible):
            return True
        child, node = node, node.parent
        if isinstance(child, exp.With) and node is not None:
            child, node = node, node.parent
    return False


def _is_volatile(tree: exp.Query, functions: Functions) -> bool:
    if any(node.args.get("sample") for node in tree.find_all(exp.Table)):
        return True
    calls = (function_name(node) for node in tree.find_all(exp.Func) if is_call(node))
    if any(functions.kind(name) not in _STEADY for name in calls):
        return True
    # `user` and `localtimestamp` are functions even without parentheses.
    bare = (node.name for node in tree.find_all(exp.Column) if len(node.parts) == 1)
    return any(functions.kind(name) in (Kind.CLOCK, Kind.SESSION) for name in bare)
