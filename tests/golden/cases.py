"""A worked example as a story: tables, a change, and what leaves and comes in the view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tests.laws.engine import Change, Engine, Row, Rows, Schema, Touched


class Story:
    """A model with its tables; `move` removes and adds rows and says what that did."""

    def __init__(self, sql: str, schema: Schema, start: Mapping[str, Rows]) -> None:
        self.engine = Engine(sql, schema)
        self.rows = {name: list(start.get(name, ())) for name in schema}
        self.engine.build(self.rows)
        self.engine.check()
        self.touched = Touched(())

    def move(self, **steps: tuple[Rows, Rows]) -> tuple[list[Row], list[Row]]:
        """Per table (rows that leave, rows that come); returns the same of the view."""
        before = Counter(self.engine.shown())
        changes = {}
        for name, (left, came) in steps.items():
            # A row may come and leave again within one step, so what comes is added first.
            after = Counter(self.rows[name]) + Counter(came) - Counter(left)
            self.rows[name] = list(after.elements())
            signed = (*((row, -1) for row in left), *((row, 1) for row in came))
            changes[name] = Change(self.rows[name], signed)
        self.touched = self.engine.refresh(changes)
        self.engine.check()
        now = Counter(self.engine.shown())
        return sorted((before - now).elements()), sorted((now - before).elements())


def column(*values: object) -> list[Row]:
    """Rows of one column."""
    return [(value,) for value in values]
