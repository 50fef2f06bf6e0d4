"""The registry of combinable aggregates: one entry says what is stored and how it is finished.

An entry takes the call and the type of its first argument, asks the slot table for stored columns,
and returns the final expression over them. It raises `NotCombinable` where exactness would be lost;
such a call, like every aggregate without an entry, is recomputed for the touched groups (key-wise).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.aggregates.slots import SlotTable
from dbt_ivm.algebra.nodes import AggregateCall
from dbt_ivm.algebra.scalar import column
from dbt_ivm.sql.dialect import literal, spark_type

Entry = Callable[[AggregateCall, str, SlotTable], exp.Expr]
REGISTRY: dict[str, Entry] = {}

_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_SMALL_INTEGERS = ("tinyint", "smallint", "int")


class NotCombinable(Exception):
    """The change of this aggregate cannot be added to its stored state; the message says why."""


def combine(call_: AggregateCall, type_: str, slots: SlotTable) -> exp.Expr:
    """The final expression of a call over the slots it uses."""
    entry = REGISTRY.get(call_.function)
    if entry is None:
        raise NotCombinable(f"{call_.function} does not combine")
    if not call_.plain:
        raise NotCombinable(f"{call_.function} with DISTINCT or an order does not combine")
    return entry(call_, type_.lower(), slots)


def combinable(*functions: str) -> Callable[[Entry], Entry]:
    """Register an entry under all the names Spark has for the function."""

    def add(entry: Entry) -> Entry:
        REGISTRY.update(dict.fromkeys(functions, entry))
        return entry

    return add


@dataclass(frozen=True)
class Exact:
    """How an exact number is summed: types of the value, of the sum, and of the weight."""

    value: str
    sum: str
    weight: str
    precision: int = 0
    scale: int = 0


def exact(type_: str) -> Exact | None:
    """Spark sums integers in bigint, decimal(p, s) in decimal(p + 10, s); floats are not exact."""
    if type_ in (*_SMALL_INTEGERS, "bigint"):
        return Exact("bigint", "bigint", "bigint")
    match = _DECIMAL.fullmatch(type_)
    if match is None:
        return None
    precision, scale = int(match[1]), int(match[2])
    if precision <= 27:
        total = f"decimal({precision + 10},{scale})"
        return Exact(type_, total, "decimal(10,0)", precision, scale)
    # Spark keeps up to six digits behind the point where a product or a sum needs more than 38.
    if precision > 36 or scale > 6:
        return None
    return Exact(type_, f"decimal(38,{scale})", "decimal(10,0)", precision, scale)


@combinable("count")
def count(call_: AggregateCall, type_: str, slots: SlotTable) -> exp.Expr:
    """count(*), count(x), count(x, y): rows whose arguments are all not NULL."""
    present = [_not_null(a.tree) for a in call_.arguments if not isinstance(a.tree, exp.Star)]
    present = [p for p in present if p is not None]
    return column(slots.count(_all(call_, present)))


@combinable("count_if")
def count_if(call_: AggregateCall, type_: str, slots: SlotTable) -> exp.Expr:
    return column(slots.count(_all(call_, [call_.arguments[0].tree])))


@combinable("sum")
def sum_(call_: AggregateCall, type_: str, slots: SlotTable) -> exp.Expr:
    """sum = stored sum, or NULL when no argument is left."""
    number = exact(type_)
    if number is None:
        raise NotCombinable(f"a sum of {type_} is not exactly invertible")
    total, present = _sum(call_, number, slots)
    return _if_any(present, column(total))


@combinable("avg", "mean")
def avg(call_: AggregateCall, type_: str, slots: SlotTable) -> exp.Expr:
    """avg = sum / count in Spark's type: double, or decimal(p + 4, s + 4) for decimals."""
    number = exact(type_)
    if number is None:
        raise NotCombinable(f"an average of {type_} is not exactly invertible")
    if not number.precision:
        if type_ == "bigint":  # Spark averages in double and so never overflows; neither may we
            number = Exact("decimal(20,0)", "decimal(30,0)", "decimal(10,0)")
        total, present = _sum(call_, number, slots)
        ratio = exp.Div(
            this=_cast(column(total), "double"), expression=_cast(column(present), "double")
        )
        return _if_any(present, ratio)
    if number.precision - number.scale > 18 or number.scale > 14:
        raise NotCombinable(f"an average of {type_} cannot be rounded as Spark does")
    total, present = _sum(call_, number, slots)
    return _if_any(present, _decimal_average(total, present, number))


def _decimal_average(total: str, present: str, number: Exact) -> exp.Expr:
    """sum / n rounded half up once: whole part exactly, then the remainder's quotient.

    Spark's own `/` would round twice here, first to the scale its division rule leaves.
    """
    p, s = number.precision, number.scale
    whole = exp.Paren(this=exp.IntDiv(this=column(total), expression=column(present)))
    product = exp.Mul(
        this=_cast(whole, "decimal(19,0)"), expression=_cast(column(present), "decimal(10,0)")
    )
    rest = _cast(exp.Sub(this=column(total), expression=product), f"decimal({10 + s},{s})")
    quotient = exp.Div(this=rest, expression=_cast(column(present), "decimal(20,0)"))
    fraction = _cast(quotient, f"decimal({s + 5},{s + 4})")
    value = exp.Add(this=_cast(whole.copy(), "decimal(19,0)"), expression=fraction)
    return _cast(value, f"decimal({p + 4},{s + 4})")


@combinable("bool_or", "any", "some")
def bool_or(call_: AggregateCall, type_: str, slots: SlotTable) -> exp.Expr:
    value = call_.arguments[0].tree
    present = slots.count(_all(call_, [_not_null(value)]))
    hits = slots.count(_all(call_, [value]))
    return _if_any(present, exp.GT(this=column(hits), expression=literal(0)))


@combinable("bool_and", "every")
def bool_and(call_: AggregateCall, type_: str, slots: SlotTable) -> exp.Expr:
    value = call_.arguments[0].tree
    present = slots.count(_all(call_, [_not_null(value)]))
    misses = slots.count(_all(call_, [exp.Not(this=exp.Paren(this=value.copy()))]))
    return _if_any(present, exp.EQ(this=column(misses), expression=literal(0)))


@combinable("min", "max")
def extremum(call_: AggregateCall, type_: str, slots: SlotTable) -> exp.Expr:
    present = slots.count(_all(call_, [_not_null(call_.arguments[0].tree)]))
    return column(slots.extremum(_filtered(call_), call_.function, present))


def _sum(call_: AggregateCall, number: Exact, slots: SlotTable) -> tuple[str, str]:
    present = slots.count(_all(call_, [_not_null(call_.arguments[0].tree)]))
    value = _cast(_filtered(call_), number.value)
    headroom = 38 - number.precision if number.precision > 27 else None
    return slots.sum(value, number.sum, number.weight, headroom), present


def _filtered(call_: AggregateCall) -> exp.Expr:
    """f(x) filter (where p) is f(case when p then x end) for aggregates that skip NULLs."""
    value = call_.arguments[0].tree
    return value if call_.condition is None else exp.Case().when(call_.condition.tree, value)


def _all(call_: AggregateCall, conditions: list[exp.Expr | None]) -> exp.Expr | None:
    if call_.condition is not None:
        conditions = [*conditions, call_.condition.tree]
    tests = [c for c in conditions if c is not None]
    return exp.and_(*tests) if tests else None


def _not_null(value: exp.Expr) -> exp.Expr | None:
    if isinstance(value, exp.Literal):
        return None
    return exp.Not(this=exp.Is(this=_atom(value), expression=exp.Null()))


def _atom(value: exp.Expr) -> exp.Expr:
    return value.copy() if isinstance(value, exp.Column) else exp.Paren(this=value.copy())


def _if_any(present: str, value: exp.Expr) -> exp.Expr:
    return exp.Case().when(exp.GT(this=column(present), expression=literal(0)), value)


def _cast(value: exp.Expr, type_: str) -> exp.Expr:
    return exp.Cast(this=value, to=spark_type(type_))
