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
from dbt_ivm.algebra.projections import select_columns
from dbt_ivm.algebra.scalar import Scalar, call, column, ref
from dbt_ivm.delta.partitions import reads_old_states, touched_parts
from dbt_ivm.delta.restrict import key_names, restrict
from dbt_ivm.delta.rules import Changes, added, new, weighted
from dbt_ivm.extents.base import Extent, from_change, named, signed
from dbt_ivm.names import COUNT, HIDDEN_PREFIX, WEIGHT
from dbt_ivm.sql.dialect import literal, spark_type
from dbt_ivm.sql.render import ReadScan, to_query
from dbt_ivm.sql.statements import Merge


@dataclass(frozen=True)
class BagExtent(Extent):
    """Rows of `node`, each once, beside the number of times it occurs."""

    node: Node
    unique: bool
    """Proved that no row occurs twice, so the view need not repeat any."""

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
        if self.unique:
            return select_columns(self.scan(more=more), (*self.keys, *more))
        times = exp.Cast(this=column(COUNT), to=spark_type("int"))
        copies = call("explode", call("array_repeat", literal(0), times))
        copy = (HIDDEN_PREFIX + "copy",)
        repeated = Generate(self.scan(more=more), Scalar(copies), False, copy)
        return select_columns(repeated, (*self.keys, *more))

    def change(self, changes: Changes) -> Node:
        total = call("sum", column(WEIGHT))
        rows = Aggregate(self._signed(changes), self.keys, (_counted(total),))
        moved = exp.NEQ(this=column(COUNT), expression=literal(0))
        return Filter(named("change", rows), Scalar(moved))

    def _signed(self, changes: Changes) -> Node:
        """The delta of the rows; where whole parts of them are recomputed, against what is stored.

        ΔQ = Q_new ⋉ K − stored ⋉ K
        """
        if not reads_old_states(self.node, changes):
            return signed(self.node, self.keys, changes)
        parts = touched_parts(self.node, self.keys, changes)
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
        return Merge(
            self.table,
            to_query(self.change(changes), read_scan),
            self.keys,
            delete_if=exp.EQ(this=merged, expression=literal(0)),
            update_if=None,
            update={COUNT: merged.copy()},
            insert_if=None,
            insert=from_change(self.stored),
        )


def _counted(tree: exp.Expr) -> AggregateCall:
    return AggregateCall(COUNT, "count", (), None, True, Scalar(tree))
