"""Command line of the benchmark: `python -m benchmarks [run|report]` (`make bench`)."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from benchmarks import harness, report, startup
from benchmarks.settings import SIDES, Options
from benchmarks.spark import start

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
DEFAULTS = Options()


def main() -> None:
    """Measure and write JSON, or make the report from it."""
    arguments = _parser().parse_args()
    if arguments.command == "report":
        docs = HERE.parent / "docs"
        if arguments.result:
            report.write(json.loads(arguments.result.read_text()), docs)
        else:
            report.write_method(docs)
        return
    output: Path = arguments.output or RESULTS / time.strftime("%Y-%m-%d-%H%M.json")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(_measured(arguments), indent=1) + "\n")
    print(f"{output}\nmake bench-report RESULT={output} writes docs/benchmarks.md from it")


def _measured(arguments: argparse.Namespace) -> dict[str, object]:
    options = Options(
        scale=arguments.scale,
        fractions=arguments.fractions,
        growth=arguments.growth,
        repeats=arguments.repeats,
        threads=arguments.threads,
        models=arguments.models,
        sides=arguments.sides,
        start_up=arguments.start_up,
    )
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    start_up = startup.measure(folder, options.repeats, print) if options.start_up else None
    spark = start(folder / "spark")
    try:
        return {**harness.measure(spark, options, folder, print), "start_up": start_up}
    finally:
        spark.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure and write JSON")
    run.add_argument("--scale", type=float, default=DEFAULTS.scale)
    run.add_argument("--fractions", type=_numbers, default=DEFAULTS.fractions)
    run.add_argument("--growth", type=_numbers, default=DEFAULTS.growth)
    run.add_argument("--repeats", type=int, default=DEFAULTS.repeats)
    run.add_argument("--threads", type=int, default=DEFAULTS.threads)
    run.add_argument("--models", type=_names, default=DEFAULTS.models)
    run.add_argument("--sides", type=_names, default=SIDES)
    run.add_argument("--no-start-up", dest="start_up", action="store_false")
    run.add_argument("--folder", type=Path, default=HERE / ".data", help="data and tables")
    run.add_argument("--output", type=Path)
    make = commands.add_parser("report", help="docs/benchmarks.md from a JSON file")
    make.add_argument("result", type=Path, nargs="?", help="without it only the method is written")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in _names(text))


if __name__ == "__main__":
    main()
