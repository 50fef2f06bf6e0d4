"""Combinable aggregates: a change table keyed by group is added to the stored state.

    d = γ_{G; slots}(ΔQ)              one row per touched group, net change per slot
    merge: each slot combines with its stored value; count 0 deletes; unmatched groups are inserted

No source is read at all, except for min and max of groups whose stored extremum left:

    stale = keys of d whose extremum left     refill = γ(Q_new ⋉ stale)
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.aggregates.slots import ExtremumSlot, Slot
from dbt_ivm.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    Item,
    Join,
    Net,
    Node,
    OuterJoin,
    Project,
    SemiJoin,
)
from dbt_ivm.algebra.predicates import same_columns
from dbt_ivm.algebra.projections import select_columns
from dbt_ivm.algebra.scalar import Scalar, column, ref, substitute
from dbt_ivm.delta.restrict import restrict
from dbt_ivm.delta.rules import Changes, new
from dbt_ivm.extents.base import Extent, from_change, named, signed
from dbt_ivm.names import COUNT, HIDDEN_PREFIX
from dbt_ivm.sql.dialect import literal
from dbt_ivm.sql.render import ReadScan, to_query
from dbt_ivm.sql.statements import Merge

_STORED = HIDDEN_PREFIX + "t_"
_GROUP = HIDDEN_PREFIX + "g_"


@dataclass(frozen=True)
class ChangeTableExtent(Extent):
    """Groups of `node` with the partial state of every aggregate."""

    node: Aggregate
    slots: tuple[Slot, ...]
    finals: tuple[tuple[str, Scalar], ...]
    """Per aggregate call, its value over the slots."""

    @property
    def family(self) -> str:
        return "combinable"

    @property
    def keys(self) -> tuple[str, ...]:
        return self.node.keys

    @property
    def stored(self) -> tuple[str, ...]:
        return (*self.keys, *(slot.name for slot in self.slots))

    @property
    def _extrema(self) -> tuple[ExtremumSlot, ...]:
        return tuple(slot for slot in self.slots if isinstance(slot, ExtremumSlot))

    def rebuilt(self) -> Node:
        calls = tuple(_call(slot.name, slot.build()) for slot in self.slots)
        return Aggregate(self.node.input, self.keys, calls)

    def read(self, more: tuple[str, ...] = ()) -> Node:
        values: dict[str, exp.Expr] = {key: column(key) for key in (*self.keys, *more)}
        values |= {name: final.tree for name, final in self.finals}
        return self._finished(values, self.scan(more=more))

    def change(self, changes: Changes) -> Node:
        change = named("change", self._change_table(changes))
        return self._refilled(change) if self._extrema else change

    def merge(self, changes: Changes, read_scan: ReadScan) -> Merge:
        gone = exp.EQ(this=self._slot(COUNT).merged(), expression=literal(0))
        return Merge(
            self.table,
            to_query(self.change(changes), read_scan),
            self.keys,
            delete_if=gone if self.keys else None,
            update_if=exp.or_(*(slot.differs() for slot in self.slots)),
            update={slot.name: slot.merged() for slot in self.slots},
            insert_if=exp.GT(this=column(COUNT, "d"), expression=literal(0)),
            insert=from_change(self.keys) | {slot.name: slot.inserted() for slot in self.slots},
        )

    def _slot(self, name: str) -> Slot:
        return next(slot for slot in self.slots if slot.name == name)

    def _change_table(self, changes: Changes) -> Node:
        """γ over signed rows; groups whose change nets to nothing are dropped."""
        used = {name for call in self.node.calls for name in call.written.columns}
        columns = tuple(c for c in self.node.input.columns if c in used or c in self.keys)
        rows = signed(self.node.input, columns, changes)
        if self._extrema:
            # A value that came and left within the range must not pass for the extremum.
            rows = Net(rows)
        calls = tuple(
            _call(name, tree) for slot in self.slots for name, tree in slot.changes().items()
        )
        moved = exp.or_(*(slot.is_change() for slot in self.slots))
        return Filter(Aggregate(rows, self.keys, calls), Scalar(moved))

    def _refilled(self, change: Node) -> Node:
        """The change table beside the recomputed extrema of its stale groups."""
        stale = self._stale(change)
        calls = tuple(_call(slot.refill, slot.build()) for slot in self._extrema)
        pairs = tuple((key, _STORED + key) for key in self.keys)
        if self.keys:
            groups = select_columns(stale, tuple(name for _, name in pairs))
            rows = restrict(new(self.node.input), pairs, named("stale", groups))
        else:
            rows = SemiJoin(new(self.node.input), named("stale", stale))
        fresh: Node = Aggregate(rows, self.keys, calls)
        renamed = tuple(Item(_GROUP + key, ref(key)) for key in self.keys)
        passed = tuple(Item(slot.refill, ref(slot.refill)) for slot in self._extrema)
        fresh = Project(fresh, (*renamed, *passed))
        matched = OuterJoin(change, fresh, same_columns(tuple((k, _GROUP + k) for k in self.keys)))
        return select_columns(
            matched, tuple(name for name in matched.columns if not name.startswith(_GROUP))
        )

    def _stale(self, change: Node) -> Node:
        """Change-table rows joined with their stored groups, only where an extremum left."""
        held = self.scan(_STORED)
        left = exp.or_(*(_unqualified(slot.stale()) for slot in self._extrema))
        same = same_columns(tuple((key, _STORED + key) for key in self.keys))
        conditions = [same.tree, left] if same else [left]
        return Join(change, held, Scalar(exp.and_(*conditions)))


def _unqualified(tree: exp.Expr) -> exp.Expr:
    """`t.x` and `d.x` of a MERGE as the columns they have in a join of both."""
    return exp.Paren(
        this=substitute(tree, lambda c: column(_STORED + c.name if c.table == "t" else c.name))
    )


def _call(name: str, tree: exp.Expr) -> AggregateCall:
    return AggregateCall(name, "", (), None, True, Scalar(tree))
