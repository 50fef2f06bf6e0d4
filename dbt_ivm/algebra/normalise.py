"""Normal form of a query: what the delta rules are applied to.

The sources' ten transformations push incremental operators down, because deltas are small. Here
they run on the query before any delta is derived, so that every rule sees small inputs:

- selections cascade and go below projections, joins, unions and groups (`selections`);
- projections cascade and are cut to the columns that are used (`projections`);
- joins keep their order: each term of a delta is driven by the delta, whatever the order.

Then windows are made functions of their rows (`ties`).
"""

from __future__ import annotations

from dbt_ivm.algebra.nodes import Node
from dbt_ivm.algebra.projections import cascade, prune
from dbt_ivm.algebra.selections import push_selections
from dbt_ivm.algebra.ties import break_ties


def normalise(node: Node, used: frozenset[str]) -> Node:
    """The relation in normal form, with only the columns in `used` left at the top."""
    return break_ties(cascade(prune(push_selections(node), used)))
