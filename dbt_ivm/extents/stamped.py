"""An extent whose rows carry the time at which each was last written."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_ivm.algebra.nodes import Item, Node, Project
from dbt_ivm.algebra.scalar import Scalar, call, ref
from dbt_ivm.delta.rules import Changes
from dbt_ivm.extents.base import Extent
from dbt_ivm.names import STAMP
from dbt_ivm.sql.render import ReadScan
from dbt_ivm.sql.statements import Merge


@dataclass(frozen=True)
class StampedExtent(Extent):
    """Another extent with one more column, set whenever a row is inserted or updated."""

    inner: Extent

    @property
    def family(self) -> str:
        return f"{self.inner.family}, stamped"

    @property
    def keys(self) -> tuple[str, ...]:
        return self.inner.keys

    @property
    def stored(self) -> tuple[str, ...]:
        return (*self.inner.stored, STAMP)

    def rebuilt(self) -> Node:
        rows = self.inner.rebuilt()
        items = tuple(Item(name, ref(name)) for name in rows.columns)
        return Project(rows, (*items, Item(STAMP, Scalar(_now()))))

    def read(self, more: tuple[str, ...] = ()) -> Node:
        return self.inner.read((*more, STAMP))

    def change(self, changes: Changes) -> Node:
        return self.inner.change(changes)

    def merge(self, changes: Changes, read_scan: ReadScan) -> Merge:
        merge = self.inner.merge(changes, read_scan)
        return replace(
            merge, update={**merge.update, STAMP: _now()}, insert={**merge.insert, STAMP: _now()}
        )


def _now() -> exp.Expr:
    return call("current_timestamp")
