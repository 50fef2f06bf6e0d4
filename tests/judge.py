"""The judge: a model against recomputation, through any connection.

The view equals the model's SQL at its watermark, and the extent one that is built anew.
"""

from __future__ import annotations

from collections.abc import Collection

from dbt_ivm.adapter.runner import Runner, Session
from dbt_ivm.adapter.spark_facts import Pins
from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.names import STAMP
from dbt_ivm.plan.analysis import analyze
from dbt_ivm.plan.changes import changes_since, lost, standing
from dbt_ivm.plan.layout import extent_of
from dbt_ivm.sources.formats import classify
from dbt_ivm.sources.reader import SourceReader
from dbt_ivm.sql.dialect import render, table
from dbt_ivm.sql.functions import Functions
from dbt_ivm.sql.pin import pin
from dbt_ivm.sql.render import to_query


def check(session: Session, sql: str, view: TableName, extent: TableName) -> None:
    """Raise if a model is not what its SQL says."""
    runner, name = Runner(session, Pins()), view[-1]
    facts = runner.facts
    target = facts.target(extent, "view", None, exists=True)
    mark = target.watermark
    assert mark is not None, f"{name}: {target.problem}"
    analysis = analyze(sql, facts, Functions())
    changes = changes_since(analysis, runner.heads(analysis, mark), mark)
    assert not lost(changes), f"{name}: {lost(changes)}"
    states = {change.head.table: standing(change) for change in changes}
    versions = {table: head.version for table, head in states.items()}

    shown = f"select * from {_named(view)}"
    columns = facts.columns(shown)
    assert columns == facts.columns(sql), f"{name}: the view's columns differ from the query's"
    stamps = analysis.maintainable.stamps if analysis.maintainable else ()
    kept = [c.name for c in columns if c.name not in stamps]
    _same_rows(session, kept, shown, pin(sql, facts, versions.get), name)

    if analysis.maintainable is not None:
        layout, _ = extent_of(analysis.maintainable, mark.types, extent)
        reader = SourceReader({name: classify(head, None) for name, head in states.items()})
        stored = f"select * from {_named(extent)}"
        names = [c.name for c in facts.columns(stored) if c.name != STAMP]
        rebuilt = render(to_query(layout.rebuilt(), reader))
        _same_rows(session, names, stored, rebuilt, f"extent of {name}")


def _same_rows(
    session: Session, names: Collection[str], actual: str, expected: str, what: str
) -> None:
    """Bag equality in one query: signed rows of both sides must cancel, as EXCEPT ALL both ways."""
    listed = ", ".join(f"`{name.replace('`', '``')}`" for name in names)
    plain = [f"c{number}" for number in range(len(names))]
    sides = " union all ".join(
        f"select *, {sign} from (select {listed} from (\n{side}\n))"
        for side, sign in ((actual, 1), (expected, -1))
    )
    columns = ", ".join(plain)
    different = session.run(
        f"select {columns}, sum(sign) as n from ({sides}) as both ({columns}, sign)"
        f" group by {columns} having sum(sign) <> 0 limit 6"
    )
    assert not different, f"{what} (+ extra, - missing): {different}"


def _named(name: TableName) -> str:
    return render(table(name))
