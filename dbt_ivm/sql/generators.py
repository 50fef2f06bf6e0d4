"""Generators such as `explode`: their calls, and what Spark names their columns by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from dbt_ivm.algebra.nodes import Aggregate, Generate, Node, Project, Scan, UnionAll
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.algebra.walk import walk
from dbt_ivm.sql.context import Context
from dbt_ivm.sql.expressions import function_name, resolve
from dbt_ivm.sql.functions import Kind
from dbt_ivm.sql.scope import Output, Scope

_MAPS = frozenset(
    """
    map_concat map_filter map_from_arrays map_from_entries map_zip_with str_to_map transform_keys
    transform_values
    """.split()
)
_ARRAYS = frozenset(
    """
    array array_agg array_append array_compact array_distinct array_except array_insert
    array_intersect array_prepend array_remove array_repeat array_sort array_union arrays_zip
    collect_list collect_set filter flatten json_object_keys map_entries map_keys map_values
    regexp_extract_all sentences sequence slice sort_array split transform
    """.split()
)
_VARIANT = {"variant_explode": ("pos", "key", "value")}


def generator_call(tree: exp.Expr, scope: Scope, context: Context) -> Scalar:
    """A generator applied to resolved arguments."""
    name = function_name(tree)
    if not isinstance(tree, exp.Anonymous) or context.functions.kind(name) is not Kind.GENERATOR:
        raise context.unsupported(f"the generator `{name or tree.key}`")
    arguments = [resolve(a, scope.find, context.functions) for a in tree.expressions]
    return Scalar(exp.Anonymous(this=name, expressions=arguments))


def generated(
    node: Node, call: Scalar, outer: bool, visible: list[str], context: Context
) -> tuple[Generate, tuple[Output, ...]]:
    """The rows of a generator beside the row they are made of, under the names given or Spark's."""
    visible = visible or _default_names(call.tree, node)
    if not visible:
        raise context.unsupported("a generator whose column names are not known (name them)")
    names = tuple(context.names.fresh(name) for name in visible)
    outputs = tuple(Output(v, n) for v, n in zip(visible, names, strict=True))
    return Generate(node, call, outer, names), outputs


def _default_names(tree: exp.Expr, node: Node) -> list[str]:
    """`explode` of an array makes `col`, of a map `key` and `value`; none where it is not known."""
    function = function_name(tree).removesuffix("_outer")
    arguments = tree.expressions
    if function == "stack":
        width = -(-(len(arguments) - 1) // int(arguments[0].name))
        return [f"col{i}" for i in range(width)]
    if function == "json_tuple":
        return [f"c{i}" for i in range(len(arguments) - 1)]
    if function in _VARIANT:
        return list(_VARIANT[function])
    type_ = _type_of(arguments[0], node)
    if function == "inline":
        return re.findall(r"[<,]\s*(\w+)\s*:", type_) if _FLAT.fullmatch(type_) else []
    place = ["pos"] if function == "posexplode" else []
    shown = {"array": ["col"], "map": ["key", "value"]}.get(type_.partition("<")[0].lower())
    return [*place, *shown] if shown else []


_FLAT = re.compile(r"array<struct<[^<>]*>>", re.IGNORECASE)


def _type_of(tree: exp.Expr, node: Node) -> str:
    """The type of a value as far as the query itself tells it: at least `array` or `map`."""
    if isinstance(tree, exp.Column):
        return _type_of_column(tree.name, node)
    if isinstance(tree, exp.Paren):
        return _type_of(tree.this, node)
    if isinstance(tree, exp.Cast):
        return tree.to.sql("spark")
    if isinstance(tree, exp.Map | exp.VarMap):
        return "map"
    name = function_name(tree)
    if name in ("coalesce", "ifnull", "nvl") and tree.expressions:
        return _type_of(tree.expressions[0], node)
    if isinstance(tree, exp.Array) or name in _ARRAYS:
        return "array"
    return "map" if name in _MAPS else ""


def _type_of_column(name: str, node: Node) -> str:
    """No two nodes share a column name, so the one that makes it is found by it."""
    for part in walk(node):
        types: Iterator[str]
        if isinstance(part, Scan):
            types = (f.type for f in part.fields if f.name == name)
        elif isinstance(part, Project):
            types = (_type_of(i.value.tree, part.input) for i in part.items if i.name == name)
        elif isinstance(part, Aggregate):
            types = (_type_of(c.written.tree, part.input) for c in part.calls if c.name == name)
        elif isinstance(part, UnionAll) and name in part.names:
            first = part.branches[0]
            types = iter([_type_of_column(first.columns[part.names.index(name)], first)])
        else:
            continue
        found = next(types, "")
        if found:
            return found
    return ""
