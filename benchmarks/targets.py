"""What we set out to reach, beside what was measured."""

from __future__ import annotations

from typing import Any

from benchmarks.summary import Group, fractions, growth, middle

Figure = float | None

_SELF_MAINTAINED = ("priority_totals", "q06")
"""Models whose refresh needs no source, only its changes."""


def section(result: dict[str, Any]) -> list[str]:
    """The table of targets; a figure that this run cannot give is a dash."""
    lines = ["| what | target | measured | reached |", "|---|---:|---:|---|"]
    for what, target, figure in _figures(result):
        measured = "-" if figure is None else f"{figure:.3g}"
        reached = "-" if figure is None else "yes" if figure <= target else "no"
        lines.append(f"| {what} | {target:g} | {measured} | {reached} |")
    text = "The targets hold for scale factor 1 on two cores; this run was made at scale factor\n"
    text += f"{result['options']['scale']:g}. Ratios are those of ivm to the other.\n\n"
    return ["## Targets\n", text + "\n".join(lines) + "\n"]


def _figures(result: dict[str, Any]) -> list[tuple[str, float, Figure]]:
    sized, grown = fractions(result), growth(result)
    changed = [group for group in sized if group.orders]
    start_up = (result.get("start_up") or {}).get("run")
    ready = middle(start_up["ivm"]) / middle(start_up["spark"]) if start_up else None
    planned = [1000 * s for g in sized for m in g.models("ivm") for s in g.phase(m, "planning")]
    return [
        ("whole project, 0.1 % changed, of full refresh", 0.25, _project(sized, 0.001)),
        ("whole project, 1 % changed", 0.40, _project(sized, 0.01)),
        ("whole project, nothing changed", 0.08, _project(sized, 0.0)),
        ("slowest model against full refresh", 1.1, _worst(changed, "table")),
        ("slowest model against hand-written merge", 1.0, _worst(changed, "incremental")),
        ("slowest model against the floor", 1.3, _worst(changed, "floor")),
        ("statements of an incremental refresh, most", 4, _statements(changed)),
        ("planning of a model, median ms", 50, middle(planned) if planned else None),
        ("planning of a model, slowest ms", 250, max(planned, default=None)),
        ("refresh from changes alone, largest sources over smallest", 1.5, _grown(grown)),
        ("`dbt run` start-up, of dbt-spark", 1.1, ready),
    ]


def _project(sized: list[Group], fraction: float) -> Figure:
    found = [g for g in sized if abs(g.fraction - fraction) <= fraction / 100]
    return found[0].wall("ivm") / found[0].wall("table") if found else None


def _worst(changed: list[Group], other: str) -> Figure:
    ratios = [
        group.seconds("ivm", model) / group.seconds(other, model)
        for group in changed
        for model in group.models(other)
    ]
    return max(ratios, default=None)


def _statements(changed: list[Group]) -> Figure:
    found = [
        group.statements("ivm", model) or 0
        for group in changed
        for model in group.models("ivm")
        if group.strategies(model) == "incremental"
    ]
    return max(found, default=None)


def _grown(grown: list[Group]) -> Figure:
    if len(grown) < 2:
        return None
    small, large = grown[0], grown[-1]
    models = [m for m in _SELF_MAINTAINED if m in small.models("ivm")]
    ratios = [large.seconds("ivm", m) / small.seconds("ivm", m) for m in models]
    return max(ratios, default=None)
