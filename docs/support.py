"""The tables of supported SQL: what the planner says about every model that is tested on Spark."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cache

import sqlglot
from sqlglot import exp

from dbt_ivm.algebra.nodes import Aggregate, Filter, Limit, Sort, Window
from dbt_ivm.algebra.walk import walk
from dbt_ivm.plan.analysis import Maintainable
from dbt_ivm.plan.describe import FAMILIES
from dbt_ivm.plan.layout import extent_of
from docs.planning import APPLY, EXTENT, OLD, Planned, Tables, planned
from docs.titles import SECTIONS, TIME
from tests.operators import test_operators as basics
from tests.operators.changes import create_sources
from tests.operators.constructs import CONSTRUCTS
from tests.planner.facts import analyzed, facts
from tests.planner.facts import planned as planned_in_tests
from tests.planner.test_fixtures import FOLDER, blocks

MODELS: dict[str, str] = {
    name: sql.replace("{s}", "shop")
    for models in (
        *(basics.LINEAR, basics.BILINEAR, basics.COMBINABLE, basics.KEYWISE),
        *CONSTRUCTS.values(),
        TIME,
    )
    for name, sql in models.items()
}
"""Every model that goes through rounds of changes on Spark."""
_LONGEST = 250
"""Lines of a statement that a page shows."""


class _Created:
    """Stands in for a schema: remembers the columns of what is created there."""

    def __init__(self) -> None:
        self.columns: dict[str, str] = {}

    def sql(self, text: str) -> None:
        tree = sqlglot.parse_one(text.replace("{s}", "shop"), read="spark")
        if isinstance(tree, exp.Create):
            fields = (f"{c.name} {c.args['kind'].sql('spark')}" for c in tree.this.expressions)
            self.columns[tree.this.this.name] = ", ".join(fields).lower()


@cache
def _tables() -> Tables:
    created = _Created()
    create_sources(created)
    return Tables(created.columns)


@cache
def _all_changed(name: str) -> Planned:
    return planned(MODELS[name], _tables())


def support() -> str:
    """A table per section: operators, extent and what is read when every source changed."""
    parts = []
    for section, (pages, titles) in SECTIONS.items():
        head = f"### {section}\n\n" + (f"Rules: {pages}.\n\n" if pages else "")
        head += "| SQL | operators | extent | reads beside the changes | of these as they were |\n"
        rows = [_row(name, title) for name, title in titles.items()]
        parts.append(head + "|---|---|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts)


def _row(name: str, title: str) -> str:
    made = _all_changed(name)
    if made.plan.refusal:
        return f"| {title} | rebuilt: {made.plan.refusal} | | | |"
    cells = (_operators(made), _extent(made), _listed(_read(made)), _listed(_read_as_it_was(made)))
    return f"| [{title}](sql-examples.md#{name}) | {' | '.join(cells)} |"


def _model(made: Planned) -> Maintainable:
    if made.analysis.maintainable is None:
        raise AssertionError("a model that is not refused has a maintainable form")
    return made.analysis.maintainable


def _operators(made: Planned) -> str:
    """Families of the operators below the extent, and whether the view does a part of the work."""
    model = _model(made)
    inside = list(walk(model.core))
    below = inside[:-1] if isinstance(model.core, Aggregate) else inside
    found = {f for n in below for f in FAMILIES.get(type(n), "linear").split(" and ")}
    families = [f for f in ("bilinear", "key-wise") if f in found] or ["linear"]
    above = [n for n in walk(model.tree) if not any(n is part for part in inside)]
    in_view = any(isinstance(n, Filter | Sort | Limit | Window) for n in above)
    return ", ".join([*families, "view"] if in_view else families)


def _extent(made: Planned) -> str:
    return extent_of(_model(made), made.facts.types, EXTENT)[0].family


def _read(made: Planned) -> list[str]:
    return re.findall(r"shop\.(\w+)", made.plan.reads)


def _read_as_it_was(made: Planned) -> list[str]:
    applied = "\n".join(step.sql for step in made.plan.steps)
    found = re.findall(rf"`shop`\.`(\w+)` VERSION AS OF {OLD}\b", applied)
    return [table for table in _read(made) if table in found]


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def refusals() -> str:
    """What has no rule, with the planner's own reason and how often it is rebuilt."""
    rows = ["| SQL | reason | rebuilt |", "|---|---|---|"]
    for block, _ in blocks((FOLDER / "refusals.sql").read_text()):
        analysis = analyzed(block.sql)
        plan = planned_in_tests(analysis, facts(analysis))
        every = analysis.tables is None or analysis.volatile
        sql = " ".join(block.sql.split()).replace("|", "\\|")
        reason = plan.refusal.replace("<", "&lt;")
        rows.append(f"| `{sql}` | {reason} | {'every run' if every else 'on change'} |")
    return "\n".join(rows)


def examples() -> str:
    """Every model of the tables with the statement of a refresh after one source changed."""
    return "\n\n".join(
        f"## {section}\n\n" + "\n\n".join(_example(name, title) for name, title in titles.items())
        for section, (_, titles) in SECTIONS.items()
    )


def _example(name: str, title: str) -> str:
    sql = textwrap.fill(MODELS[name], 96, break_long_words=False, break_on_hyphens=False)
    head = f'### <a id="{name}"></a>{title}\n\n```sql\n{sql}\n```\n\n'
    if _all_changed(name).plan.refusal:
        return head + f"Rebuilt: {_all_changed(name).plan.refusal}."
    changed = _first_to_change(_all_changed(name))
    made = planned(MODELS[name], _tables(), frozenset({changed}))
    summary = f"<summary>after a change of {changed}: reads {made.plan.reads}</summary>"
    statement = made.step(APPLY)
    lines = len(statement.splitlines())
    shown = f"```sql\n{statement}\n```"
    if lines > _LONGEST:
        shown = f"{lines} lines; `ivm_explain` prints them."
    return f"{head}<details>{summary}\n\n{shown}\n\n</details>"


def _first_to_change(made: Planned) -> str:
    tables = [name[-1] for name in made.analysis.tables or ()]
    return "orders" if "orders" in tables else tables[0]


def documented() -> Iterator[str]:
    """The models that have a row."""
    return (name for _, titles in SECTIONS.values() for name in titles)


BLOCKS: dict[str, Callable[[], str]] = {
    "support": support,
    "refusals": refusals,
    "examples": examples,
}
"""Generated parts of the pages, by the name of their block."""
