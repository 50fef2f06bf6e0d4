"""Groups of any aggregate at all, recomputed where they were touched (key-wise).

    K = keys of ΔQ          d = K ⟕ γ(Q_new ⋉ K)
    merge: a key without a group any more is deleted, a differing one updated, a new one inserted

The old half of the rule, γ(Q_old ⋉ K), is what the extent already holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Item,
    Node,
    OuterJoin,
    Project,
)
from dbt_ivm.algebra.predicates import same_columns
from dbt_ivm.algebra.scalar import Scalar, call, column, ref
from dbt_ivm.algebra.stability import ROWS, makes_choices, unstable_columns
from dbt_ivm.delta.partitions import reads_old_states, touched_keys, touched_parts
from dbt_ivm.delta.restrict import key_names, restrict
from dbt_ivm.delta.rules import Changes, new
from dbt_ivm.extents.base import Extent, from_change, named, not_repeatable
from dbt_ivm.extents.encoding import decoded, encoded
from dbt_ivm.names import COUNT, HIDDEN_PREFIX
from dbt_ivm.sql.render import ReadScan
from dbt_ivm.sql.statements import Merge

VALUE_PREFIX = HIDDEN_PREFIX + "value_"


@dataclass(frozen=True)
class KeywiseExtent(Extent):
    """Groups of `node` with the value of every aggregate."""

    node: Aggregate
    incomparable: frozenset[str]
    """Calls whose values Spark cannot compare; they are always written."""
    coded: tuple[tuple[str, str], ...] = ()
    """Calls, with their types, whose values no table can hold as they are."""

    @property
    def family(self) -> str:
        return "key-wise"

    @property
    def keys(self) -> tuple[str, ...]:
        return self.node.keys

    @property
    def stored(self) -> tuple[str, ...]:
        return (*self.keys, COUNT, *(VALUE_PREFIX + c.name for c in self.node.calls))

    def rebuilt(self) -> Node:
        return self._groups(self.node.input)

    def _groups(self, rows: Node) -> Aggregate:
        counted = AggregateCall(COUNT, "count", (), None, True, Scalar(call("count", exp.Star())))
        types = dict(self.coded)
        written = (
            Scalar(encoded(c.written.tree, types[c.name])) if c.name in types else c.written
            for c in self.node.calls
        )
        values = tuple(
            AggregateCall(VALUE_PREFIX + c.name, c.function, (), None, True, tree)
            for c, tree in zip(self.node.calls, written, strict=True)
        )
        return Aggregate(rows, self.keys, (counted, *values))

    def read(self, more: tuple[str, ...] = ()) -> Node:
        values: dict[str, exp.Expr] = {key: column(key) for key in (*self.keys, *more)}
        values |= {c.name: column(VALUE_PREFIX + c.name) for c in self.node.calls}
        values |= {name: decoded(values[name], type_) for name, type_ in self.coded}
        return self._finished(values, self.scan(more=more))

    def change(self, changes: Changes) -> Node:
        return self._recomputed(changes) if self.keys else self._groups(new(self.node.input))

    def merge(self, changes: Changes, read_scan: ReadScan) -> Merge:
        values = [name for name in self.stored if name not in self.keys]
        missing = column(COUNT, "d").is_(exp.Null())
        differs = [
            exp.Not(
                this=exp.Paren(this=exp.NullSafeEQ(this=column(n, "t"), expression=column(n, "d")))
            )
            for n in values
            if n not in self.incomparable
        ]
        always = bool(self.incomparable)
        source = self._source(changes, read_scan)
        return Merge(
            self.table,
            source.query,
            self.keys,
            delete_if=missing if self.keys else None,
            update_if=None if always else exp.or_(*differs),
            update=from_change(tuple(values)),
            insert_if=exp.Not(this=missing.copy()) if self.keys else None,
            insert=from_change(self.stored),
            kept=source.kept,
        )

    def hazard(self, changes: Changes) -> str:
        """Sums of floats below that look unchanged are as right as those that are stored."""
        if not self.keys or self._parts(changes) is not None:
            return ""
        shaky = unstable_columns(self.node.input)
        chosen = shaky if makes_choices(self.node.input) else shaky & {*self.keys, ROWS}
        return not_repeatable(chosen) if chosen else ""

    def _parts(self, changes: Changes) -> Node | None:
        """The keys of the groups to recompute, where all of them can be seen in the sources."""
        if not reads_old_states(self.node.input, changes):
            return None
        parts = touched_parts(self.node.input, self.keys, changes)
        return parts[1] if parts is not None and parts[0] == self.keys else None

    def _touched(self, changes: Changes) -> Node:
        """The keys of the groups to recompute, from the sources where they can be seen there."""
        parts = self._parts(changes)
        return parts if parts is not None else touched_keys(self.node, changes)

    def _recomputed(self, changes: Changes) -> Node:
        """Every touched key beside its group of today, or beside NULLs when it has none."""
        touched = named("touched", self._touched(changes))
        pairs = key_names(self.keys)
        groups = self._groups(restrict(new(self.node.input), pairs, touched))
        found = OuterJoin(touched, groups, same_columns(pairs))
        shown = dict(pairs)
        return Project(found, tuple(Item(n, ref(shown.get(n, n))) for n in self.stored))
