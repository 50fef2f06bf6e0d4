"""Derived property: whether rows can be compared, so that equal ones can be added up."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Node, Scan, is_comparable
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.algebra.walk import walk

_MAY_BE_MAPS = ("map", "variant", "json", "avro", "protobuf", "transform_keys", "transform_values")


def can_net(node: Node) -> bool:
    """Whether no column can be a map or a variant, which Spark cannot group by.

    On the safe side: what is not netted is right all the same, only larger than it need be.
    """
    return not any(_may_be_incomparable(part) for part in walk(node))


def _may_be_incomparable(node: Node) -> bool:
    if isinstance(node, Scan):
        return any(not is_comparable(field.type) for field in node.fields)
    return any(_makes_maps(scalar) for scalar in node.scalars)


def _makes_maps(scalar: Scalar) -> bool:
    for part in scalar.tree.walk():
        if isinstance(part, exp.Map | exp.VarMap):
            return True
        if isinstance(part, exp.Anonymous) and any(w in part.name.lower() for w in _MAY_BE_MAPS):
            return True
        if isinstance(part, exp.DataType) and not is_comparable(part.sql("spark")):
            return True
    return False
