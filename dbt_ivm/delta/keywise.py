"""Key-wise operators: whatever happens inside one key is recomputed for the touched keys.

    K = keys of ΔS          Δop(S) = op(S_new ⋉ K) − op(S_old ⋉ K)

This covers every aggregate, DISTINCT and window function, at any depth. At the top of a model the
old half is what the extent stores and is not computed: see `extents/groups.py`.
"""

from __future__ import annotations

from dbt_ivm.algebra.nodes import Aggregate, Node, Window
from dbt_ivm.delta.partitions import reads_old_states, touched_keys, touched_parts
from dbt_ivm.delta.restrict import Pairs, key_names, restrict
from dbt_ivm.delta.rules import Changes, added, netted, new, old, rule, weighted


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
