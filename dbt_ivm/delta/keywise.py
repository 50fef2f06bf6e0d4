"""Key-wise operators: whatever happens inside one key is recomputed for the touched keys.

    K = keys of ΔS          Δop(S) = op(S_new ⋉ K) − op(S_old ⋉ K)

This covers every aggregate, DISTINCT and window function, at any depth. At the top of a model the
old half is what the extent stores and is not computed: see `extents/groups.py`.
"""

from __future__ import annotations

from dbt_ivm.algebra.nodes import Aggregate, Node, Window
from dbt_ivm.algebra.projections import select_columns
from dbt_ivm.delta.partitions import reads_old_states, touched_parts
from dbt_ivm.delta.restrict import Pairs, key_names, keys_of, restrict
from dbt_ivm.delta.rules import Changes, added, delta, netted, new, old, rule, weighted
from dbt_ivm.names import WEIGHT


@rule.register(Aggregate)
@rule.register(Window)
def _(node: Aggregate | Window, changes: Changes) -> Node:
    pairs, keys = _touched(node, changes)
    after = restrict(new(node), pairs, keys)
    before = restrict(old(node, changes), pairs, keys)
    return netted(added([weighted(after, 1), weighted(before, -1)], node.columns))


def _touched(node: Aggregate | Window, changes: Changes) -> tuple[Pairs, Node]:
    """The columns to restrict by, and their touched values.

    Below other stateful operators the delta of the input costs more than it tells: where the keys
    can be seen in the sources themselves, they are taken from there. They may be some too many.
    """
    if reads_old_states(node.input, changes):
        parts = touched_parts(node.input, node.keys, changes)
        if parts is not None:
            return key_names(parts[0]), parts[1]
    return key_names(node.keys), touched_keys(node, changes)


def touched_keys(node: Aggregate | Window, changes: Changes) -> Node:
    """δ(π_keys(ΔS)), the delta netted on the columns that the operator reads."""
    changed = delta(node.input, changes)
    if changed is None:
        raise AssertionError("nothing changed: no key is touched")
    columns = node.input.columns
    if isinstance(node, Aggregate):
        used = {name for call in node.calls for name in call.written.columns} | set(node.keys)
        columns = tuple(name for name in columns if name in used)
    return keys_of(netted(select_columns(changed, (*columns, WEIGHT))), node.keys)
