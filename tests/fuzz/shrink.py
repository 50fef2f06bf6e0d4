"""A failing case made small: parts of its SQL and rows of its history are taken away in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import sqlglot
from sqlglot import exp

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
    tree = sqlglot.parse_one(case.sql, read="spark")
    texts = {text for text in _cuts(tree) if len(text) < len(case.sql)}
    for text in sorted(texts, key=len):
        yield replace(case, sql=text)


def _cuts(tree: exp.Expr) -> Iterator[str]:
    for number, node in enumerate(list(tree.walk())):
        for change in _changes(node):
            copied = tree.copy()
            target = list(copied.walk())[number]
            result = change(target)
            if result is not None:
                whole = copied if target.parent is not None or result is target else result
                yield whole.sql("spark", comments=False)


def _changes(node: exp.Expr) -> Iterator[Callable[[exp.Expr], exp.Expr | None]]:
    for name in _OPTIONAL:
        if node.args.get(name):
            yield lambda n, name=name: (n.set(name, None), n)[1]  # type: ignore[misc]
    if isinstance(node, exp.Select | exp.Tuple | exp.Values):
        for index in range(len(node.expressions)):
            if len(node.expressions) > 1:
                yield lambda n, index=index: (n.expressions[index].pop(), n)[1]  # type: ignore[misc]
    if isinstance(node, exp.Select) and len(node.args.get("joins") or ()) > 1:
        for index in range(len(node.args["joins"])):
            yield lambda n, index=index: (n.args["joins"][index].pop(), n)[1]  # type: ignore[misc]
    if isinstance(node, exp.Query):
        inner = [q for q in node.find_all(exp.Query) if q is not node]
        for index in range(len(inner)):
            yield lambda n, index=index: n.replace(  # type: ignore[misc]
                [q for q in n.find_all(exp.Query) if q is not n][index].copy()
            )
    elif isinstance(node, exp.Condition) and not isinstance(node, exp.Column | exp.Literal):
        children = [c for c in node.iter_expressions() if isinstance(c, exp.Condition)]
        for index in range(len(children)):
            yield lambda n, index=index: n.replace(  # type: ignore[misc]
                [c for c in n.iter_expressions() if isinstance(c, exp.Condition)][index].copy()
            )


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
