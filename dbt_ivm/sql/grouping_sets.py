"""ROLLUP, CUBE and GROUPING SETS: every row once per set, beside the keys that the set keeps.

    γ_{rollup(a, b)}(S)  ->  γ_{a', b', set}(S × {(0, a, b), (1, a, NULL), (2, NULL, NULL)})

The copies a', b' are the keys; aggregates go on reading a and b themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product

from sqlglot import exp

from dbt_ivm.algebra.nodes import Generate, Node
from dbt_ivm.algebra.scalar import Scalar, call, column
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.dialect import literal, spark_type
from dbt_ivm.sql.scope import Names

_Set = tuple[int, ...]
AddKey = Callable[[exp.Expr], int]


@dataclass(frozen=True)
class Sets:
    """The grouping sets of one GROUP BY, each a tuple of key numbers."""

    sets: tuple[_Set, ...]
    number: str
    """Name of the column that says which set a row belongs to."""
    keys: dict[str, str]
    """Per key, in order, the name of its copy."""

    @staticmethod
    def of(sets: tuple[_Set, ...], keys: tuple[str, ...], names: Names) -> Sets:
        return Sets(sets, names.fresh("grouping_set"), {key: names.fresh(key) for key in keys})


def grouping_sets(group: exp.Group, add_key: AddKey) -> tuple[_Set, ...] | None:
    """The sets of a GROUP BY; None where it has none. `group by a, rollup (b)` multiplies them."""
    with_rollup, with_cube = group.args.get("rollup"), group.args.get("cube")
    hive_sets = group.args.get("grouping_sets")
    if with_rollup or with_cube or hive_sets:
        units = [_unit(item, add_key) for item in group.expressions]
        if hive_sets:
            return _sets(hive_sets[0], add_key)
        return _rolled_up(units) if with_rollup else _cubed(units)
    kinds = (exp.Rollup, exp.Cube, exp.GroupingSets)
    if not any(isinstance(item, kinds) for item in group.expressions):
        return None
    factors = [_sets(item, add_key) for item in group.expressions]
    return tuple(_united(parts) for parts in product(*factors))


def _sets(item: exp.Expr, add_key: AddKey) -> tuple[_Set, ...]:
    if isinstance(item, exp.Rollup):
        return _rolled_up([_unit(e, add_key) for e in item.expressions])
    if isinstance(item, exp.Cube):
        return _cubed([_unit(e, add_key) for e in item.expressions])
    if isinstance(item, exp.GroupingSets):
        return tuple(s for e in item.expressions for s in _sets(e, add_key))
    return (_unit(item, add_key),)


def _unit(item: exp.Expr, add_key: AddKey) -> _Set:
    """One key, or the keys of a tuple, which come and go together."""
    if isinstance(item, exp.Tuple):
        return tuple(add_key(e) for e in item.expressions)
    return (add_key(item),)


def _rolled_up(units: list[_Set]) -> tuple[_Set, ...]:
    return tuple(_united(units[:n]) for n in range(len(units), -1, -1))


def _cubed(units: list[_Set]) -> tuple[_Set, ...]:
    sizes = range(len(units), -1, -1)
    return tuple(_united(chosen) for n in sizes for chosen in combinations(units, n))


def _united(parts: list[_Set] | tuple[_Set, ...]) -> _Set:
    return tuple(dict.fromkeys(number for part in parts for number in part))


def expanded(node: Node, keys: list[exp.Expr], sets: Sets) -> Generate:
    """Every row once per set: `stack(n, 0, a, b, 1, a, NULL, …)`."""
    values: list[exp.Expr] = [literal(len(sets.sets))]
    for number, kept in enumerate(sets.sets):
        values.append(literal(number))
        values += [key.copy() if i in kept else exp.Null() for i, key in enumerate(keys)]
    generator = Scalar(call("stack", *values))
    return Generate(node, generator, outer=False, names=(sets.number, *sets.keys.values()))


def grouping_value(tree: exp.Anonymous, keys: list[exp.Expr], sets: Sets | None) -> exp.Expr:
    """grouping(k): 1 where the set leaves k out; grouping_id(…): the same bits as one number."""
    if sets is None:
        raise Unsupported(f"`{tree.name}()` without ROLLUP, CUBE or GROUPING SETS")
    named = [_number(argument, keys) for argument in tree.expressions]
    asked = named or list(range(len(keys)))
    is_one = tree.name.lower() == "grouping"
    cases = exp.Case(this=column(sets.number))
    for number, kept in enumerate(sets.sets):
        bits = 0
        for key in asked:
            bits = bits * 2 + (key not in kept)
        cases = cases.when(literal(number), literal(bits))
    return exp.Cast(this=cases, to=spark_type("tinyint" if is_one else "bigint"))


def _number(argument: exp.Expr, keys: list[exp.Expr]) -> int:
    for number, key in enumerate(keys):
        if key == argument:
            return number
    raise Unsupported("grouping() of what is no key")
