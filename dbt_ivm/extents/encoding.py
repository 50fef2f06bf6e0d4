"""Values that cannot be compared or stored as they are, in a form that can.

    map<k, v>  x    ->   array_sort(map_entries(x))    and back: map_from_entries(x)
    interval …  x   ->   cast(x as string)             and back: cast(x as interval …)

Spark cannot compare maps, and no table can hold intervals. Maps inside arrays, structs and other
maps are encoded where they stand.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt_ivm.algebra.nodes import is_comparable
from dbt_ivm.algebra.scalar import call
from dbt_ivm.sql.dialect import spark_type

_Coding = Callable[[exp.Expr, exp.DataType, int], exp.Expr]


def is_storable(type_: str) -> bool:
    """Whether a table can hold values of a type."""
    return "interval" not in type_.lower()


def can_encode(type_: str) -> bool:
    """Whether a type that cannot be compared or stored has another form here."""
    lowered = type_.lower()
    if not is_storable(type_):
        return lowered.startswith("interval")
    return "variant" not in lowered and lowered != "void"


def encoded(tree: exp.Expr, type_: str) -> exp.Expr:
    """A value of a type that `can_encode`, in a form that can be compared and stored."""
    if not is_storable(type_):
        return exp.Cast(this=tree, to=spark_type("string"))
    return _encoded(tree, _parsed(type_), 0)


def decoded(tree: exp.Expr, type_: str) -> exp.Expr:
    """The value that `encoded` was given."""
    if not is_storable(type_):
        return exp.Cast(this=tree, to=spark_type(type_))
    return _decoded(tree, _parsed(type_), 0)


def _parsed(type_: str) -> exp.DataType:
    return exp.DataType.build(type_, dialect="spark")


def _encoded(tree: exp.Expr, type_: exp.DataType, depth: int) -> exp.Expr:
    if not type_.is_type(exp.DType.MAP):
        return _inside(tree, type_, depth, _encoded)
    return call("array_sort", _entries(call("map_entries", tree), type_, depth, _encoded))


def _decoded(tree: exp.Expr, type_: exp.DataType, depth: int) -> exp.Expr:
    if not type_.is_type(exp.DType.MAP):
        return _inside(tree, type_, depth, _decoded)
    return call("map_from_entries", _entries(tree, type_, depth, _decoded))


def _inside(tree: exp.Expr, type_: exp.DataType, depth: int, code: _Coding) -> exp.Expr:
    """The maps inside an array or a struct; anything else is left as it is."""
    if is_comparable(type_.sql("spark")):
        return tree
    if type_.is_type(exp.DType.ARRAY):
        return _each(tree, lambda x: code(x, type_.expressions[0], depth + 1), depth)
    parts: list[exp.Expr] = []
    for field in type_.expressions:
        value = exp.Dot(this=tree.copy(), expression=_name(field.name))
        parts += [exp.Literal.string(field.name), code(value, field.args["kind"], depth)]
    nothing = exp.Is(this=tree.copy(), expression=exp.Null())
    return exp.Case().when(nothing, exp.Null()).else_(call("named_struct", *parts))


def _entries(tree: exp.Expr, type_: exp.DataType, depth: int, code: _Coding) -> exp.Expr:
    """The entries of a map with each value coded in turn; keys hold no maps."""
    values = type_.expressions[1]

    def entry(x: exp.Expr) -> exp.Expr:
        key, value = (exp.Dot(this=x.copy(), expression=_name(n)) for n in ("key", "value"))
        names = exp.Literal.string("key"), exp.Literal.string("value")
        return call("named_struct", names[0], key, names[1], code(value, values, depth + 1))

    return tree if is_comparable(values.sql("spark")) else _each(tree, entry, depth)


def _each(tree: exp.Expr, body: Callable[[exp.Expr], exp.Expr], depth: int) -> exp.Expr:
    """`transform(xs, x -> …)`; lambdas inside each other need names of their own."""
    variable = _name(f"x{depth}")
    return call("transform", tree, exp.Lambda(this=body(variable.copy()), expressions=[variable]))


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
