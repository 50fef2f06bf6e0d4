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
from dbt_ivm.extents.encoding import can_encode, decoded, encoded
from dbt_ivm.extents.groups import VALUE_PREFIX, KeywiseExtent
from dbt_ivm.extents.stamped import StampedExtent
from dbt_ivm.plan.analysis import Maintainable
from dbt_ivm.plan.watermark import Types


def extent_of(model: Maintainable, types: Types, table: TableName) -> tuple[Extent, str]:
    """The extent, and why its aggregates are key-wise where they are."""
    extent, note = _plain(model, types, table)
    return (StampedExtent(table, extent) if model.is_stamped else extent), note


def _plain(model: Maintainable, types: Types, table: TableName) -> tuple[Extent, str]:
    core = model.core
    if isinstance(core, Aggregate):
        _require_comparable(core.keys, types, "group key")
        return _grouped(core, types, table)
    return _bag(core, types, table, is_unique(core, model.unique_columns)), ""


def _bag(core: Node, types: Types, table: TableName, unique: bool) -> BagExtent:
    """The rows as they are, but for maps: those are stored in a form that can be compared."""
    maps = {n: types.input(n) for n in core.columns if not is_comparable(types.input(n))}
    _require_comparable([n for n in maps if not can_encode(maps[n])], types, "column")
    if not maps:
        return BagExtent(table, core, unique)
    plain = {name: column(name) for name in core.columns}
    stored = plain | {name: encoded(column(name), type_) for name, type_ in maps.items()}
    node = Project(core, tuple(Item(name, Scalar(tree)) for name, tree in stored.items()))
    shown = (Item(name, Scalar(decoded(column(name), type_))) for name, type_ in maps.items())
    return BagExtent(table, node, unique, tuple(shown))


def _grouped(core: Aggregate, types: Types, table: TableName) -> tuple[Extent, str]:
    if _is_parted(core):
        reason = "its keys part everything below it: groups are recomputed, no old state is read"
        return _keywise(core, types, table), reason
    shaky = unstable_columns(core.input)
    if shaky:
        return _keywise(core, types, table), not_repeatable(shaky)
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
    return KeywiseExtent(table, core, incomparable)


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


def _require_comparable(columns: Sequence[str], types: Types, role: str) -> None:
    for name in columns:
        if not is_comparable(types.input(name)):
            raise Unsupported(
                f"the {role} `{name}` of type {types.input(name)}, which Spark cannot compare,",
                "the model",
            )


def above_extent(model: Maintainable, extent: Extent) -> Node:
    """The whole query with its core replaced by what the extent holds."""

    return transform(model.tree, lambda node: extent.read() if node is model.core else node)
