"""A failing case made small: parts of its SQL and rows of its history are taken away in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from sqlglot import exp

from dbt_ivm.sql.dialect import SparkVerbatim, parse_query
from tests.fuzz.case import Case
from tests.laws.data import History, difference
from tests.laws.engine import Change, Rows

Fails = Callable[[Case], bool]
"""Whether a case still fails in the same way; a case that is no longer valid does not."""
_OPTIONAL = ("where", "having", "joins", "group", "order", "limit", "offset", "distinct", "with_")


def shrink(case: Case, fails: Fails, seconds: float = 60.0) -> Case:
    """The smallest case that can be reached by steps after which it still fails."""
    end = time.monotonic() + seconds
    found = True
    while found and time.monotonic() < end:
        found = False
        for smaller in (*_smaller_histories(case), *_smaller_queries(case)):
            if time.monotonic() > end:
                break
            if fails(smaller):
                case, found = smaller, True
                break
    return case


def _smaller_queries(case: Case) -> Iterator[Case]:
    """Biggest cuts first."""
    tree = parse_query(case.sql)
    texts = {text for text in _cuts(tree) if len(text) < len(case.sql)}
    for text in sorted(texts, key=len):
        yield replace(case, sql=text)


def _cuts(tree: exp.Expr) -> Iterator[str]:
    for number, node in enumerate(list(tree.walk())):
        for change in _changes(node):
            copied = tree.copy()
            target = list(copied.walk())[number]
            result = change(target)
            whole = result if number == 0 else copied
            yield whole.sql(SparkVerbatim, comments=False)


Step = Callable[[exp.Expr], exp.Expr]


def _changes(node: exp.Expr) -> Iterator[Step]:
    """What can be done to one node: a part dropped, or a part of it put in its place."""
    # Without its order, a window or a limit would answer by chance.
    needs_order = isinstance(node, exp.Window) or node.args.get("limit")
    for name in _OPTIONAL:
        if node.args.get(name) and not (name == "order" and needs_order):
            yield partial(_without, name=name)
    if isinstance(node, exp.Select | exp.Tuple | exp.Values):
        yield from _dropped(node, "expressions")
    if isinstance(node, exp.Select):
        yield from _dropped(node, "joins")
    yield from (partial(_replaced, index=index) for index in range(len(_inside(node))))


def _without(node: exp.Expr, name: str) -> exp.Expr:
    node.set(name, None)
    return node


def _dropped(node: exp.Expr, name: str) -> Iterator[Step]:
    """One of several parts; the last one is what `_OPTIONAL` drops."""
    several = len(node.args.get(name) or ())
    yield from (partial(_less, name=name, index=i) for i in range(several) if several > 1)


def _less(node: exp.Expr, name: str, index: int) -> exp.Expr:
    node.args[name][index].pop()
    return node


def _replaced(node: exp.Expr, index: int) -> exp.Expr:
    return node.replace(_inside(node)[index].copy())


def _inside(node: exp.Expr) -> list[exp.Expr]:
    """The queries in a query, the operands of an expression."""
    if isinstance(node, exp.Query):
        return [query for query in node.find_all(exp.Query) if query is not node]
    if isinstance(node, exp.Condition) and not isinstance(node, exp.Column | exp.Literal):
        return [part for part in node.iter_expressions() if isinstance(part, exp.Condition)]
    return []


def _smaller_histories(case: Case) -> Iterator[Case]:
    """Fewer rounds, fewer tables in a round, fewer rows."""
    history = case.history
    for number in range(len(history.rounds)):
        kept = history.rounds[:number] + history.rounds[number + 1 :]
        yield _with(case, history.start, kept)
    for name, rows in history.start.items():
        for index in range(len(rows)):
            start = history.start | {name: [*rows[:index], *rows[index + 1 :]]}
            yield _with(case, start, history.rounds)
    for number, step in enumerate(history.rounds):
        for name, change in step.items():
            fewer = [{n: c for n, c in step.items() if n != name}] if len(step) > 1 else []
            rows = change.rows
            fewer += [
                step | {name: Change([*rows[:i], *rows[i + 1 :]], ())} for i in range(len(rows))
            ]
            for other in fewer:
                changed = (*history.rounds[:number], other, *history.rounds[number + 1 :])
                yield _with(case, history.start, changed)


def _with(case: Case, start: dict[str, Rows], rounds: tuple[dict[str, Change], ...]) -> Case:
    """The same states, each change rewritten as the difference of two states."""
    states, steps = dict(start), []
    for step in rounds:
        steps.append({n: Change(c.rows, difference(states[n], c.rows)) for n, c in step.items()})
        states |= {name: change.rows for name, change in step.items()}
    return replace(case, history=History(start, tuple(steps)))
