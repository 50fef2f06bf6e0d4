"""docs/benchmarks.md and its plots, from the JSON of a run."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import plots, targets
from benchmarks.settings import Options
from benchmarks.summary import Group, fractions, growth, middle

_INTRO = """# Benchmarks

<!-- Written by `python -m benchmarks report`; edit benchmarks/report.py instead. -->

What it costs to bring a dbt project up to date after a change, with `ivm` and with what it
replaces. The data is TPC-H; the project in `benchmarks/project/` has staging views, {marts} marts
on up to three levels (joins, aggregates, windows, de-duplication, anti-joins) and the 22 queries.

```sh
make bench SCALE=0.1 FRACTIONS="0 0.001 0.01"        # writes benchmarks/results/*.json
make bench SCALE=1 GROWTH="0.1 1 3"                  # also one change over growing sources
make bench MODELS="fct_order_lines daily_sales"      # some models, with what they refer to
make bench-report RESULT=benchmarks/results/….json   # writes this page
```

## How it is measured

- One Spark, one set of source tables in Delta with change data feed. A batch of changes is
  applied, then each side brings its own copy of the project to the new state, one after the other;
  at each repetition another side comes first. Figures are medians of {repeats} repetitions; one
  refresh before them is not counted.
- A batch inserts, updates and deletes orders with their lines, and a fiftieth as many customers
  and parts, in twelve commits, spread evenly over the tables. A share of 1 % means that one order
  in a hundred is new, changed or gone.
- **full refresh**: the models as `table`, by dbt-spark. **ivm**: the same models as `ivm`.
  **merge**: hand-written `incremental` models that read the change data feed and recompute what
  it touches; their versions are remembered for them. **floor**: one MERGE written by hand, sent
  straight to Spark. The last two exist for some models.
- Seconds of the project are those of the command `dbt run --threads {threads}`, in a process that
  has imported dbt and started Spark; seconds of a model are those that dbt reports.
- After every batch each model of `ivm` and the floor is compared with full refresh, duplicates
  included, outside the measured time. One different row ends the benchmark. Rows in which the
  hand-written models differ are in their table.
"""


def write_method(docs: Path) -> None:
    """Write the page without figures, for as long as no run is published."""
    text = _intro({"options": asdict(Options())})
    (docs / "benchmarks.md").write_text(f"{text}\n## Results\n\nNo run is published yet.\n")


def write(result: dict[str, Any], docs: Path) -> None:
    """Write the page and the plots it shows."""
    pictures = docs / "benchmarks"
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    sized, grown = fractions(result), growth(result)
    parts = [_intro(result), _conditions(result), *targets.section(result)]
    if sized:
        parts += _project(sized, pictures)
        for group in sized:
            parts += _models(group, pictures)
        parts += [_merges(sized), _floor(sized), _phases(sized)]
    if len(grown) > 1:
        parts += _growth(grown, pictures)
    parts.append(_start_up(result))
    text = "\n".join(part.rstrip() + "\n" for part in parts if part)
    (docs / "benchmarks.md").write_text(text)


def table(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """Markdown; the first column to the left, the others to the right."""
    lines = [f"| {' | '.join(header)} |", f"|---{'|---:' * (len(header) - 1)}|"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _intro(result: dict[str, Any]) -> str:
    options = result["options"]
    marts = len(list(Path(__file__).with_name("project").glob("models/marts/*.sql")))
    return _INTRO.format(marts=marts, repeats=options["repeats"], threads=options["threads"])


def _conditions(result: dict[str, Any]) -> str:
    rows = [("measured", result["started"])]
    for part in ("machine", "versions", "spark"):
        rows += list(result[part].items())
    for part in result["scales"]:
        sizes = part["rows"]
        shown = f"{sizes['orders']:,} orders, {sizes['lineitem']:,} lines"
        rows.append((f"scale factor {part['scale']:g}", shown))
    lines = [f"| {name} | {value} |" for name, value in rows]
    return "## Conditions\n\n| what | value |\n|---|---|\n" + "\n".join(lines) + "\n"


def _project(sized: list[Group], pictures: Path) -> list[str]:
    plots.against_change(sized, pictures / "change.png")
    rows: list[tuple[object, ...]] = []
    for group in sized:
        full, ivm = group.wall("table"), group.wall("ivm")
        strategies = [group.strategies(model) for model in group.models("ivm")]
        rows.append(
            (
                share(group),
                group.changed,
                full,
                ivm,
                ivm / full,
                group.jobs("table"),
                group.jobs("ivm"),
                sum(word == "incremental" for word in strategies),
                sum("full" in word for word in strategies),
            )
        )
    header = ("orders changed", "rows changed", "full s", "ivm s", "ivm / full", "full jobs")
    heading = f"## Whole project, scale factor {sized[0].scale:g}\n"
    return [
        heading,
        table((*header, "ivm jobs", "incremental", "rebuilt"), rows),
        "![cost against change](benchmarks/change.png)\n",
    ]


def share(group: Group) -> str:
    return f"{group.fraction * 100:.3g} %" if group.orders else "none"


def _models(group: Group, pictures: Path) -> list[str]:
    rows: list[tuple[object, ...]] = []
    for model in sorted(group.models("ivm")):
        full, ivm = group.seconds("table", model), group.seconds("ivm", model)
        row = (model, full, ivm, ivm / full, group.statements("ivm", model))
        spark = (group.work("table", model, "jobs"), group.work("ivm", model, "jobs"))
        read = (group.work("table", model, "rows_read"), group.work("ivm", model, "rows_read"))
        rows.append((*row, *spark, *read, group.strategies(model)))
    header = ("model", "full s", "ivm s", "ivm / full", "statements", "full jobs", "ivm jobs")
    shown = table((*header, "full rows read", "ivm rows read", "strategy"), rows)
    text = f"### Orders changed: {share(group)}\n\n" + shown + _reasons(group)
    if not group.orders:
        return [text]
    plots.per_model(group, pictures / f"models-{group.orders}.png")
    return [text, f"![each model](benchmarks/models-{group.orders}.png)\n"]


def _reasons(group: Group) -> str:
    rebuilt = [m for m in sorted(group.models("ivm")) if "full" in group.strategies(m)]
    if not rebuilt:
        return ""
    return "\nRebuilt: " + "; ".join(f"{m} ({group.reason(m)})" for m in rebuilt) + ".\n"


def _merges(sized: list[Group]) -> str:
    rows: list[tuple[object, ...]] = []
    for group in sized:
        for model in sorted(group.models("incremental")):
            ivm, merge = group.seconds("ivm", model), group.seconds("incremental", model)
            wrong = group.differing("incremental", model)
            full = group.seconds("table", model)
            rows.append((model, share(group), full, merge, ivm, ivm / merge, wrong))
    if not rows:
        return ""
    header = ("model", "orders changed", "full s", "merge s", "ivm s", "ivm / merge")
    return "## Hand-written merge\n\n" + table((*header, "wrong rows of merge"), rows)


def _floor(sized: list[Group]) -> str:
    rows: list[tuple[object, ...]] = []
    for group in (g for g in sized if g.orders):
        for model in sorted(group.models("floor")):
            ivm, bare = group.seconds("ivm", model), group.seconds("floor", model)
            jobs = (group.work("floor", model, "jobs"), group.work("ivm", model, "jobs"))
            rows.append((model, share(group), bare, ivm, ivm / bare, *jobs))
    if not rows:
        return ""
    header = (
        "model",
        "orders changed",
        "floor s",
        "ivm s",
        "ivm / floor",
        "floor jobs",
        "ivm jobs",
    )
    return "## The floor\n\n" + table(header, rows)


def _phases(sized: list[Group]) -> str:
    names = ("planning", "facts", "applying")
    rows: list[tuple[object, ...]] = []
    for group in sized:
        models = group.models("ivm")
        sums = [sum(middle(group.phase(model, name)) for model in models) for name in names]
        slowest = max(max(group.phase(model, "planning")) for model in models)
        rows.append((share(group), *sums, slowest * 1000))
    text = "Seconds of all models together: planning in Python, statements that look up facts,\n"
    text += "statements that apply. The last column is the slowest planning of one model.\n\n"
    header = ("orders changed", "planning s", "facts s", "applying s", "slowest planning ms")
    return "## Where the time of ivm goes\n\n" + text + table(header, rows)


def _growth(grown: list[Group], pictures: Path) -> list[str]:
    plots.against_size(grown, pictures / "size.png")
    rows: list[tuple[object, ...]] = []
    for group in grown:
        full, ivm = group.wall("table"), group.wall("ivm")
        rows.append((f"{group.scale:g}", group.changed, full, ivm, ivm / full))
    header = ("scale factor", "rows changed", "full s", "ivm s", "ivm / full")
    heading = "## The same change, growing sources\n"
    return [heading, table(header, rows), "![cost against size](benchmarks/size.png)\n"]


def _start_up(result: dict[str, Any]) -> str:
    found = result.get("start_up")
    if not found:
        return ""
    rows: list[tuple[object, ...]] = []
    for command, sides in found.items():
        ivm, spark = (middle(sides[kind]) for kind in ("ivm", "spark"))
        rows.append((f"`dbt {command}`", spark, ivm, ivm / spark))
    text = "A process of its own for each figure; `dbt run` builds one view and starts Spark.\n\n"
    header = ("command", "type: spark s", "type: ivm s", "ivm / spark")
    return "## Start-up\n\n" + text + table(header, rows)
