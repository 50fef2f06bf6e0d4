"""The curves of the report as PNG files."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.summary import Group

_LABELS = {"table": "full refresh", "ivm": "ivm"}
_COLOURS = {"table": "#8c8c8c", "ivm": "#1f6fb4"}
_SIDES = ("table", "ivm")


def against_change(groups: list[Group], path: Path) -> None:
    """Cost of the whole project against the size of the change, at one scale factor."""
    changed = [group for group in groups if group.orders]
    figure, axes = pyplot.subplots(figsize=(6.4, 4))
    for side in _SIDES:
        _line(axes, [g.fraction * 100 for g in changed], [g.wall(side) for g in changed], side)
    axes.set_xlabel("orders changed, %")
    axes.set_title(f"Whole project, scale factor {changed[0].scale:g}")
    _finish(figure, axes, path)


def against_size(groups: list[Group], path: Path) -> None:
    """Cost of the whole project against the size of the sources, for one and the same change."""
    figure, axes = pyplot.subplots(figsize=(6.4, 4))
    for side in _SIDES:
        _line(axes, [group.scale for group in groups], [g.wall(side) for g in groups], side)
    axes.set_xlabel("scale factor")
    axes.set_title(f"Whole project, {groups[0].orders:,} orders changed")
    _finish(figure, axes, path)


def per_model(group: Group, path: Path) -> None:
    """Each model's refresh as a share of its full refresh."""
    models = sorted(group.models("ivm"), key=lambda m: _ratio(group, m), reverse=True)
    figure, axes = pyplot.subplots(figsize=(6.4, 1.2 + 0.2 * len(models)))
    colours = [_COLOURS["ivm" if group.strategies(m) != "full" else "table"] for m in models]
    axes.barh(models, [_ratio(group, m) for m in models], color=colours)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel("seconds of ivm over seconds of full refresh; grey: rebuilt")
    axes.set_title(f"Scale factor {group.scale:g}, {group.fraction:.2%} of orders changed")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _ratio(group: Group, model: str) -> float:
    return group.seconds("ivm", model) / group.seconds("table", model)


def _line(axes: Axes, x: list[float], y: list[float], side: str) -> None:
    axes.plot(x, y, marker="o", label=_LABELS[side], color=_COLOURS[side])


def _finish(figure: Figure, axes: Axes, path: Path) -> None:
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("seconds")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
