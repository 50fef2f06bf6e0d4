"""Models without an aggregate: each distinct row is stored once with its count (count algorithm).

d = γ_{all columns; sum(weight)}(ΔQ), rows of weight 0 dropped
merge: count + d, delete at 0, insert what is new
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    Generate,
    Item,
    Node,
    Project,
    SemiJoin,
)
from dbt_ivm.algebra.predicates import same_columns
from dbt_ivm.algebra.scalar import Scalar, call, column, ref
from dbt_ivm.algebra.stability import unstable_columns
from dbt_ivm.delta.partitions import reads_old_states, touched_partitions, touched_parts
from dbt_ivm.delta.restrict import key_names, restrict
from dbt_ivm.delta.rules import Changes, added, new, weighted
from dbt_ivm.extents.base import Extent, from_change, named, not_repeatable, signed
from dbt_ivm.names import COUNT, HIDDEN_PREFIX, WEIGHT
from dbt_ivm.sql.dialect import literal, spark_type
from dbt_ivm.sql.render import ReadScan
from dbt_ivm.sql.statements import Merge


@dataclass(frozen=True)
class BagExtent(Extent):
    """Rows of `node`, each once, beside the number of times it occurs."""

    node: Node
    unique: bool
    """Proved that no row occurs twice, so the view need not repeat any."""
    decoded: tuple[Item, ...] = ()
    """Columns that the node holds in a form that can be compared, as the view shows them."""

    @property
    def family(self) -> str:
        return "bag"

    @property
    def keys(self) -> tuple[str, ...]:
        return self.node.columns

    @property
    def stored(self) -> tuple[str, ...]:
        return (*self.keys, COUNT)

    def rebuilt(self) -> Node:
        return Aggregate(self.node, self.keys, (_counted(call("count", exp.Star())),))

    def read(self, more: tuple[str, ...] = ()) -> Node:
        rows = self.scan(more=more) if self.unique else self._repeated(more)
        shown = {item.name: item for item in self.decoded}
        items = (shown.get(name, Item(name, ref(name))) for name in (*self.keys, *more))
        return Project(rows, tuple(items))

    def _repeated(self, more: tuple[str, ...]) -> Node:
        """Every stored row as often as it occurs."""
        times = exp.Cast(this=column(COUNT), to=spark_type("int"))
        copies = call("explode", call("array_repeat", literal(0), times))
        copy = (HIDDEN_PREFIX + "copy",)
        return Generate(self.scan(more=more), Scalar(copies), False, copy)

    def change(self, changes: Changes) -> Node:
        total = call("sum", column(WEIGHT))
        rows = Aggregate(self._signed(changes), self.keys, (_counted(total),))
        moved = exp.NEQ(this=column(COUNT), expression=literal(0))
        return Filter(named("change", rows), Scalar(moved))

    def hazard(self, changes: Changes) -> str:
        shaky = unstable_columns(self.node)
        if not shaky or self._parts(changes) is not None:
            return ""
        return not_repeatable(shaky)

    def _parts(self, changes: Changes) -> tuple[tuple[str, ...], Node] | None:
        """The touched parts of the rows, where recomputing them beats evaluating old states."""
        shaky = unstable_columns(self.node)
        if not shaky and not reads_old_states(self.node, changes):
            return None
        parts = touched_parts(self.node, self.keys, changes)
        if parts is None and shaky:
            parts = touched_partitions(self.node, self.keys, changes)
        return parts

    def _signed(self, changes: Changes) -> Node:
        """The delta of the rows; where whole parts of them are recomputed, against what is stored.

        ΔQ = Q_new ⋉ K − stored ⋉ K
        """
        parts = self._parts(changes)
        if parts is None:
            return signed(self.node, self.keys, changes)
        columns, touched = parts
        keys, pairs = named("touched", touched), key_names(columns)
        after = weighted(restrict(new(self.node), pairs, keys), 1)
        held = SemiJoin(self.scan(), keys, same_columns(pairs))
        negative = Item(WEIGHT, Scalar(exp.Neg(this=column(COUNT))))
        before = Project(held, (*(Item(name, ref(name)) for name in self.keys), negative))
        return added([after, before], self.keys)

    def merge(self, changes: Changes, read_scan: ReadScan) -> Merge:
        merged = exp.Add(this=column(COUNT, "t"), expression=column(COUNT, "d"))
        source = self._source(changes, read_scan)
        return Merge(
            self.table,
            source.query,
            self.keys,
            delete_if=exp.EQ(this=merged, expression=literal(0)),
            update_if=None,
            update={COUNT: merged.copy()},
            insert_if=None,
            insert=from_change(self.stored),
            kept=source.kept,
        )


def _counted(tree: exp.Expr) -> AggregateCall:
    return AggregateCall(COUNT, "count", (), None, True, Scalar(tree))
