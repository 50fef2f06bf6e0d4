"""The shop from nothing to proof: build, refresh, compare with a rebuild, test (`make demo`)."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

HERE = Path(__file__).resolve().parent
CUSTOMERS, ORDERS, ITEMS = 20_000, 6_000_000, 600_000
EXPLAINED = "revenue_by_segment"
EXPLAIN_LINES = 30


class Demo:
    """One dbt in this process, so that Spark starts once; its log goes to `logs/dbt.log`."""

    def __init__(self) -> None:
        self._logged: list[str] = []
        self._runner = dbtRunner(callbacks=[self._listen])

    def _listen(self, event: Any) -> None:
        if event.info.name in ("JinjaLogInfo", "LogModelResult"):
            self._logged.append(event.info.msg)

    def dbt(self, *arguments: str, show: str = "") -> list[Any]:
        """Run a dbt command quietly; the demo ends where dbt fails."""
        print(f"$ dbt {show or ' '.join(arguments)}", flush=True)
        self._logged.clear()
        places = ["--project-dir", str(HERE), "--profiles-dir", str(HERE)]
        paths = ["--target-path", str(HERE / "target"), "--log-path", str(HERE / "logs")]
        outcome = self._runner.invoke([*arguments, *places, *paths, "--quiet", "--no-use-colors"])
        if not outcome.success:
            sys.exit(f"dbt {arguments[0]} failed: {outcome.exception or 'see the errors above'}")
        return list(getattr(outcome.result, "results", ()))

    def run(self, *arguments: str) -> dict[str, Any]:
        """`dbt run` of the ivm models, one at a time so that the seconds of each are its own."""
        chosen = ["--select", "config.materialized:ivm", "--threads", "1"]
        shown = " ".join(["run", *arguments])
        return {r.node.name: r for r in self.dbt("run", *chosen, *arguments, show=shown)}

    def operation(self, macro: str, **arguments: Any) -> list[str]:
        listed = ", ".join(f"{key}: {value}" for key, value in arguments.items())
        extra = ["--args", f"{{{listed}}}"] if listed else []
        shown = f"run-operation {macro}" + (f" --args '{{{listed}}}'" if listed else "")
        self.dbt("run-operation", macro, *extra, show=shown)
        return list(self._logged)

    def log_lines(self) -> list[str]:
        return [line for line in self._logged if " sql ivm model " in line]


def main() -> None:
    """Tell the story in the order in which a user meets it."""
    started = time.monotonic()
    for leftover in (".ivm", "target", "logs"):
        shutil.rmtree(HERE / leftover, ignore_errors=True)
    demo = Demo()

    heading("1. Sources")
    say(f"Delta tables: {CUSTOMERS:,} customers, {ORDERS:,} orders, {ITEMS:,} items.")
    say("This also starts a local Spark with Delta; the first time it downloads Delta's jars.")
    demo.operation("shop_load", customers=CUSTOMERS, orders=ORDERS, items=ITEMS)

    heading("2. First build")
    say("Three staging views, then six ivm models on two levels. Each ivm model m is a table with")
    say("its state (m__ivm) and a view (m) with the columns of its SQL.")
    demo.dbt("run", "--select", "staging")
    report(demo.run())

    heading("3. Nothing changed")
    say("Each model's last commit says at which source versions it stands. They are still the")
    say("newest, so nothing is scanned and nothing is written. In dbt's own words:")
    demo.run()
    show(demo.log_lines())

    heading("4. One customer moves to another segment")
    say("Only the models that read customers, directly or not, have something to do.")
    demo.operation("shop_small_change")
    report(demo.run())

    heading("5. A busy day")
    say("Five commits: 200 new orders with 400 items, 30 orders cancelled, prices of one product")
    say("corrected, dear items of another deleted. The plan of one model, before it runs:")
    demo.operation("shop_busy_day", orders=ORDERS, items=ITEMS)
    show(demo.operation("ivm_explain", model=EXPLAINED), limit=EXPLAIN_LINES)
    say("")
    say("The refresh. `read` counts changed rows in the tables below a model; + ~ - are the rows")
    say("inserted, updated and deleted in its state, by one MERGE. Key-wise models and stale")
    say("extremes also read the source for the groups that changed.")
    busy = demo.run()
    report(busy)

    heading("6. Proof")
    say("The test ivm_consistent compares a model's rows with its own SQL at the source versions")
    say("in its last commit, duplicates included.")
    tests = demo.dbt("test")
    for test in tests:
        say(f"  {test.status.upper()}  {test.node.name.rstrip('_')}")

    heading("7. The same models rebuilt")
    rebuilt = demo.run("--full-refresh")
    compare(busy, rebuilt)
    if not len(tests) == len(busy) == len(rebuilt):
        sys.exit("Some models were not refreshed, tested or rebuilt.")
    print(f"\nDone in {time.monotonic() - started:.0f} s. The tables are in {HERE / '.ivm'}.")


def report(results: dict[str, Any]) -> None:
    """One row per model: what was done, why, and what it took."""
    rows = [("model", "strategy", "read", "+", "~", "-", "statements", "seconds", "why")]
    for name, result in results.items():
        said = result.adapter_response
        counts = (said["rows_inserted"], said["rows_updated"], said["rows_deleted"])
        rows.append(
            (
                name,
                said["ivm_strategy"],
                _read(said),
                *(number(count) for count in counts),
                number(said["statements"]),
                f"{result.execution_time:.1f}",
                said["ivm_reason"],
            )
        )
    table(rows)


def _read(said: dict[str, Any]) -> str:
    """Changed rows, where the commits of the sources tell how many they changed."""
    if said["ivm_strategy"] == "full":
        return "all"
    return number(said["rows_read"]) if "rows_read" in said else "?"


def compare(refreshed: dict[str, Any], rebuilt: dict[str, Any]) -> None:
    """Seconds of the busy day's refresh beside those of a rebuild."""
    rows = [("model", "rows touched", "refresh s", "rows written", "rebuild s")]
    for name, result in refreshed.items():
        again = rebuilt[name]
        rows.append(
            (
                name,
                number(result.adapter_response["rows_affected"]),
                f"{result.execution_time:.1f}",
                number(again.adapter_response["rows_affected"]),
                f"{again.execution_time:.1f}",
            )
        )
    totals = (sum(r.execution_time for r in results.values()) for results in (refreshed, rebuilt))
    first, second = totals
    rows.append(("all", "", f"{first:.1f}", "", f"{second:.1f}"))
    table(rows)
    say("A MERGE has a fixed cost of several Spark jobs, whatever the size of the data, so on")
    say("small data a rebuild may be as fast or faster. Its cost grows with the sources; that of")
    say("a refresh grows with the change, and with the tables the change must be joined to. The")
    say("rebuild also ran later, on a warmer JVM.")


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def say(text: str) -> None:
    print(text, flush=True)


def show(messages: list[str], limit: int | None = None) -> None:
    lines = [line for message in messages for line in message.splitlines()]
    for line in lines[:limit]:
        print(f"  {line}".rstrip())
    if limit and len(lines) > limit:
        print(f"  ... {len(lines) - limit} more lines", flush=True)


def table(rows: list[tuple[str, ...]]) -> None:
    """Text to the left, numbers to the right, under one header."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    numeric = [
        all(row[i][:1].isdigit() or not row[i] or row[i] in ("-", "all") for row in rows[1:])
        for i in range(len(widths))
    ]
    for row in rows:
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        print("  " + "  ".join(cells).rstrip(), flush=True)


def number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


if __name__ == "__main__":
    main()
