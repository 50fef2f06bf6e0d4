"""Stored columns of a group and how a change table combines with them.

In a MERGE the stored row is `t` and the row of the change table is `d`. A slot says what it stores
(`build`), what the change table must hold for it (`changes`), and what becomes of the stored value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_ivm.algebra.scalar import call, column
from dbt_ivm.names import COUNT, HIDDEN_PREFIX, WEIGHT
from dbt_ivm.sql.dialect import literal, spark_type

OUT_OF_RANGE = "a sum left the range of {}: run the model with --full-refresh"


def stored(name: str) -> exp.Column:
    """The value in the extent."""
    return column(name, "t")


def changed(name: str) -> exp.Column:
    """The value in the change table."""
    return column(name, "d")


@dataclass(frozen=True)
class Slot(ABC):
    """One column of an extent."""

    name: str

    @abstractmethod
    def build(self) -> exp.Expr:
        """The stored value as an aggregate over the plain rows of a group."""

    @abstractmethod
    def changes(self) -> dict[str, exp.Expr]:
        """Columns of the change table, as aggregates over the signed rows of a group."""

    @abstractmethod
    def merged(self) -> exp.Expr:
        """combine: the new stored value, from `t` and `d`."""

    @abstractmethod
    def differs(self) -> exp.Expr:
        """Whether the stored value of a matched group changes."""

    def inserted(self) -> exp.Expr:
        """The stored value of a group that is new."""
        return changed(self.name)

    def is_change(self) -> exp.Expr:
        """Over the change table alone: false only if the slot cannot change."""
        return exp.NEQ(this=column(self.name), expression=literal(0))


@dataclass(frozen=True)
class CountSlot(Slot):
    """How many rows of the group satisfy a condition: signed weights simply add up."""

    condition: exp.Expr | None

    def build(self) -> exp.Expr:
        if self.condition is None:
            return call("count", exp.Star())
        return call("count_if", self.condition.copy())

    def changes(self) -> dict[str, exp.Expr]:
        weight: exp.Expr = column(WEIGHT)
        if self.condition is not None:
            weight = exp.Case().when(self.condition.copy(), weight).else_(literal(0))
        return {self.name: call("coalesce", call("sum", weight), literal(0))}

    def merged(self) -> exp.Expr:
        return exp.Add(this=stored(self.name), expression=changed(self.name))

    def differs(self) -> exp.Expr:
        return exp.NEQ(this=changed(self.name), expression=literal(0))


@dataclass(frozen=True)
class SumSlot(Slot):
    """The sum of an exact number: `sum(x × weight)` is added; a removed row cancels exactly."""

    value: exp.Expr
    type: str
    factor: str
    """Type in which the weight multiplies without loss."""
    headroom: int | None = None
    """Of a wide decimal: how many digits are left for a weight and for adding up.

    What does not fit stops the refresh; a sum that Spark itself could not hold is stored as NULL.
    """

    def build(self) -> exp.Expr:
        total = call("sum", self.value.copy())
        if self.headroom is None:
            return self._exact(total)
        nothing = exp.EQ(this=call("count", self.value.copy()), expression=literal(0))
        return self._cast(exp.Case().when(nothing, literal(0)).else_(total))

    def changes(self) -> dict[str, exp.Expr]:
        weight = exp.Cast(this=column(WEIGHT), to=spark_type(self.factor))
        product: exp.Expr = exp.Mul(this=exp.Paren(this=self.value.copy()), expression=weight)
        if self.headroom is None:
            return {self.name: self._exact(call("sum", product))}
        fits = exp.LT(this=call("abs", column(WEIGHT)), expression=literal(10**self.headroom))
        total = call("sum", exp.Case().when(fits, product).else_(self._stop()))
        some = exp.GT(this=call("count", self.value.copy()), expression=literal(0))
        rest = exp.Case().when(some, self._stop()).else_(self._cast(literal(0)))
        return {self.name: self._cast(call("coalesce", total, rest))}

    def merged(self) -> exp.Expr:
        total = self._cast(exp.Add(this=stored(self.name), expression=changed(self.name)))
        if self.headroom is None:
            return total
        lost = exp.Is(this=stored(self.name), expression=exp.Null())
        return exp.Case().when(lost, self._stop()).else_(total)

    def differs(self) -> exp.Expr:
        return exp.NEQ(this=changed(self.name), expression=literal(0))

    def _exact(self, total: exp.Expr) -> exp.Expr:
        return self._cast(call("coalesce", total, literal(0)))

    def _cast(self, value: exp.Expr) -> exp.Expr:
        return exp.Cast(this=value, to=spark_type(self.type))

    def _stop(self) -> exp.Expr:
        return self._cast(call("raise_error", literal(OUT_OF_RANGE.format(self.type))))


@dataclass(frozen=True)
class ExtremumSlot(Slot):
    """min or max: combines on insert; on delete only if the stored extremum itself left.

    stale ⇔ something is left ∧ the best that left reaches the stored value ∧ nothing that came
    does. Only stale groups are recomputed from the source (`refill`).
    """

    value: exp.Expr
    function: str
    count: str

    @property
    def came(self) -> str:
        return f"{self.name}_came"

    @property
    def left(self) -> str:
        return f"{self.name}_left"

    @property
    def refill(self) -> str:
        return f"{self.name}_refill"

    def build(self) -> exp.Expr:
        return call(self.function, self.value.copy())

    def changes(self) -> dict[str, exp.Expr]:
        sign = {self.came: exp.GT, self.left: exp.LT}
        return {
            name: call(self.function, self._where(test(this=column(WEIGHT), expression=literal(0))))
            for name, test in sign.items()
        }

    def _where(self, condition: exp.Expr) -> exp.Expr:
        return exp.Case().when(condition, self.value.copy())

    def stale(self, t: str = "t", d: str = "d") -> exp.Expr:
        total = exp.Add(this=column(self.count, t), expression=column(self.count, d))
        reaches = exp.GTE if self.function == "max" else exp.LTE
        held = column(self.name, t)
        return exp.and_(
            exp.GT(this=total, expression=literal(0)),
            reaches(this=column(self.left, d), expression=held),
            exp.Not(
                this=call(
                    "coalesce",
                    reaches(this=column(self.came, d), expression=held.copy()),
                    exp.false(),
                )
            ),
        )

    def merged(self) -> exp.Expr:
        total = exp.Add(this=stored(self.count), expression=changed(self.count))
        better = "greatest" if self.function == "max" else "least"
        return (
            exp.Case()
            .when(exp.EQ(this=total, expression=literal(0)), exp.Null())
            .when(self.stale(), changed(self.refill))
            .else_(call(better, stored(self.name), changed(self.came)))
        )

    def differs(self) -> exp.Expr:
        same = exp.NullSafeEQ(this=stored(self.name), expression=exp.Paren(this=self.merged()))
        return exp.Not(this=exp.Paren(this=same))

    def inserted(self) -> exp.Expr:
        return changed(self.came)

    def is_change(self) -> exp.Expr:
        return exp.or_(*(exp.Not(this=column(n).is_(exp.Null())) for n in (self.came, self.left)))


@dataclass
class SlotTable:
    """The slots of one extent; equal ones are stored once."""

    slots: list[Slot] = field(default_factory=lambda: [CountSlot(COUNT, None)])

    def count(self, condition: exp.Expr | None) -> str:
        for slot in self.slots:
            if isinstance(slot, CountSlot) and slot.condition == condition:
                return slot.name
        return self._add(CountSlot(self._name("n"), condition))

    def sum(self, value: exp.Expr, type_: str, factor: str, headroom: int | None = None) -> str:
        for slot in self.slots:
            if isinstance(slot, SumSlot) and (slot.value, slot.type) == (value, type_):
                return slot.name
        return self._add(SumSlot(self._name("sum"), value, type_, factor, headroom))

    def extremum(self, value: exp.Expr, function: str, count: str) -> str:
        for slot in self.slots:
            if isinstance(slot, ExtremumSlot) and (slot.value, slot.function) == (value, function):
                return slot.name
        return self._add(ExtremumSlot(self._name(function), value, function, count))

    def _name(self, kind: str) -> str:
        return f"{HIDDEN_PREFIX}{kind}_{len(self.slots)}"

    def _add(self, slot: Slot) -> str:
        self.slots.append(slot)
        return slot.name
