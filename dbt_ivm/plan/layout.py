"""Which extent a model gets: bag, change table or key-wise groups, by the types of its columns."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_ivm.aggregates.registry import NotCombinable, combine
from dbt_ivm.aggregates.slots import ExtremumSlot, SlotTable
from dbt_ivm.algebra.keys import is_unique
from dbt_ivm.algebra.nodes import Aggregate, Item, Node, Project, TableName, is_comparable
from dbt_ivm.algebra.scalar import Scalar, column
from dbt_ivm.algebra.stability import unstable_columns
from dbt_ivm.algebra.walk import transform, walk
from dbt_ivm.delta.partitions import is_stateful, reaches_every_table
from dbt_ivm.errors import Unsupported
from dbt_ivm.extents.bag import BagExtent
from dbt_ivm.extents.base import Extent, not_repeatable
from dbt_ivm.extents.change_table import ChangeTableExtent
from dbt_ivm.extents.encoding import can_encode, decoded, encoded, is_storable
from dbt_ivm.extents.groups import VALUE_PREFIX, KeywiseExtent
from dbt_ivm.extents.stamped import StampedExtent
from dbt_ivm.plan.analysis import Maintainable
from dbt_ivm.plan.watermark import Types

_KEEP_INTERVALS = frozenset(
    "any_value avg first last max mean median min mode sum try_avg try_sum".split()
)
"""Aggregates whose value is an interval where their argument is one."""


def extent_of(model: Maintainable, types: Types, table: TableName) -> tuple[Extent, str]:
    """The extent, and why its aggregates are key-wise where they are."""
    extent, note = _plain(model, types, table)
    return (StampedExtent(table, extent) if model.is_stamped else extent), note


def _plain(model: Maintainable, types: Types, table: TableName) -> tuple[Extent, str]:
    core = model.core
    if isinstance(core, Aggregate):
        _require_plain(core.keys, types, "group key")
        return _grouped(core, types, table)
    return _bag(core, types, table, is_unique(core, model.unique_columns)), ""


def _bag(core: Node, types: Types, table: TableName, unique: bool) -> BagExtent:
    """The rows, but for maps and intervals, which are stored in another form."""
    coded = {n: t for n in core.columns if not _is_plain(t := types.input(n))}
    _require_plain([n for n in coded if not can_encode(coded[n])], types, "column")
    if not coded:
        return BagExtent(table, core, unique)
    plain = {name: column(name) for name in core.columns}
    stored = plain | {name: encoded(column(name), type_) for name, type_ in coded.items()}
    node = Project(core, tuple(Item(name, Scalar(tree)) for name, tree in stored.items()))
    shown = (Item(name, Scalar(decoded(column(name), type_))) for name, type_ in coded.items())
    return BagExtent(table, node, unique, tuple(shown))


def _grouped(core: Aggregate, types: Types, table: TableName) -> tuple[Extent, str]:
    if _is_parted(core):
        reason = "its keys part everything below it: groups are recomputed, no old state is read"
        return _keywise(core, types, table), reason
    shaky = unstable_columns(core.input)
    if shaky:
        return _keywise(core, types, table), not_repeatable(shaky)
    if any(not is_storable(types.input(c.name)) for c in core.calls):
        return _keywise(core, types, table), "intervals are stored as strings"
    slots = SlotTable()
    used = sorted({name for c in core.calls for name in c.written.columns})
    nettable = all(is_comparable(types.input(name)) for name in used)
    try:
        finals = [(c.name, Scalar(combine(c, types.input(c.name), slots))) for c in core.calls]
        if not nettable and any(isinstance(slot, ExtremumSlot) for slot in slots.slots):
            raise NotCombinable("min and max beside a map cannot be netted")
    except NotCombinable as reason:
        return _keywise(core, types, table), str(reason)
    return ChangeTableExtent(table, core, tuple(slots.slots), tuple(finals)), ""


def _keywise(core: Aggregate, types: Types, table: TableName) -> KeywiseExtent:
    incomparable = frozenset(
        VALUE_PREFIX + c.name for c in core.calls if not _comparable_call(c.name, core, types)
    )
    spans = {c.name: types.input(c.name) for c in core.calls if c.function in _KEEP_INTERVALS}
    coded = tuple((name, type_) for name, type_ in spans.items() if not is_storable(type_))
    return KeywiseExtent(table, core, incomparable, coded)


def _is_parted(core: Aggregate) -> bool:
    """Whether groups over other stateful operators can be found by their keys in every table."""
    stateful = any(is_stateful(part) for part in walk(core.input))
    return (
        stateful
        and bool(core.keys)
        and all(reaches_every_table(core.input, key) for key in core.keys)
    )


def _comparable_call(name: str, core: Aggregate, types: Types) -> bool:
    written = next(c.written for c in core.calls if c.name == name)
    return all(is_comparable(types.input(column)) for column in (name, *written.columns))


def _is_plain(type_: str) -> bool:
    return is_comparable(type_) and is_storable(type_)


def _require_plain(columns: Sequence[str], types: Types, role: str) -> None:
    for name in columns:
        type_ = types.input(name)
        if not _is_plain(type_):
            why = "no table can hold" if not is_storable(type_) else "Spark cannot compare"
            raise Unsupported(f"the {role} `{name}` of type {type_}, which {why},", "the model")


def above_extent(model: Maintainable, extent: Extent) -> Node:
    """The whole query with its core replaced by what the extent holds."""

    return transform(model.tree, lambda node: extent.read() if node is model.core else node)
