"""Medians over the repetitions of a result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Group:
    """The repetitions of one change at one scale factor."""

    scale: float
    orders: int
    fraction: float
    cases: tuple[dict[str, Any], ...]

    @property
    def changed(self) -> int:
        """Source rows changed, all tables together."""
        return round(middle([sum(case["changed"].values()) for case in self.cases]))

    def has(self, side: str) -> bool:
        return all(side in case["sides"] for case in self.cases)

    def wall(self, side: str) -> float:
        """Seconds of the whole `dbt run`."""
        return middle([case["sides"][side]["seconds"] for case in self.cases])

    def jobs(self, side: str) -> int:
        return round(middle([case["sides"][side]["work"]["jobs"] for case in self.cases]))

    def models(self, side: str) -> list[str]:
        return list(self.cases[0]["sides"][side]["models"]) if self.has(side) else []

    def seconds(self, side: str, model: str) -> float:
        return middle([run["seconds"] for run in self._runs(side, model)])

    def work(self, side: str, model: str, name: str) -> int | None:
        """A figure of Spark's work on one model, where models ran one at a time."""
        runs = list(self._runs(side, model))
        if any(run["work"] is None for run in runs):
            return None
        return round(middle([run["work"][name] for run in runs]))

    def statements(self, side: str, model: str) -> int | None:
        found = [run["response"].get("statements") for run in self._runs(side, model)]
        return None if None in found else round(middle(found))

    def strategies(self, model: str) -> str:
        """What the refreshes did: one word, or several where they differ."""
        return ", ".join(sorted({r["response"]["ivm_strategy"] for r in self._runs("ivm", model)}))

    def reason(self, model: str) -> str:
        return str(next(self._runs("ivm", model))["response"]["ivm_reason"])

    def phase(self, model: str, name: str) -> list[float]:
        """Seconds of one phase in each refresh of a model."""
        return [run["phases"][name] for run in self._runs("ivm", model) if run["phases"]]

    def differing(self, side: str, model: str) -> int:
        """Rows in which a side differed from full refresh, the most of all repetitions."""
        found: list[int] = [c["differences"].get(side, {}).get(model, 0) for c in self.cases]
        return max(found)

    def _runs(self, side: str, model: str) -> Iterator[dict[str, Any]]:
        return (case["sides"][side]["models"][model] for case in self.cases)


def middle(values: list[float]) -> float:
    return median(values)


def groups(result: dict[str, Any]) -> list[Group]:
    """By scale, then by size of the change."""
    found = []
    for part in result["scales"]:
        for orders in sorted({case["orders"] for case in part["cases"]}):
            cases = tuple(case for case in part["cases"] if case["orders"] == orders)
            found.append(Group(part["scale"], orders, cases[0]["fraction"], cases))
    return found


def fractions(result: dict[str, Any]) -> list[Group]:
    """The groups at the main scale factor that belong to its list of fractions."""
    options = result["options"]
    at_scale = [part for part in result["scales"] if part["scale"] == options["scale"]]
    if not at_scale:
        return []
    wanted = {round(f * at_scale[0]["rows"]["orders"]) for f in options["fractions"]}
    return [g for g in groups(result) if g.scale == options["scale"] and g.orders in wanted]


def growth(result: dict[str, Any]) -> list[Group]:
    """The groups with one and the same change at several scale factors."""
    options = result["options"]
    same = [g for g in groups(result) if g.orders == options["growth_orders"]]
    return [g for g in same if g.scale in options["growth"]]
