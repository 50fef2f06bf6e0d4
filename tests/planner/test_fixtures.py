"""Golden plans: per rule a file of models with their algebra, build, view and MERGE as text.

`pytest tests/planner --update-golden` writes the files anew; the diff is then the review.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dbt_ivm.errors import IvmError
from dbt_ivm.plan.settings import OnUnsupported, Settings
from tests.planner.facts import OLD, analyzed, built, columns, facts, head, planned

FOLDER = Path(__file__).parent / "fixtures"
_KEYS = "title|columns|changed|rows|print"
_STEPS = {"build": "build the extent", "view": "create the view", "merge": "apply the change"}


@dataclass(frozen=True)
class Block:
    """One titled model: what a fixture states as given."""

    given: dict[str, str]
    """`title`; and where they matter `columns` of the model, tables `changed`, with how many `rows`
    in each commit, steps to `print`."""
    sql: str

    @property
    def title(self) -> str:
        return self.given["title"]

    def words(self, key: str, default: str = "") -> set[str]:
        return {word.strip() for word in self.given.get(key, default).split(",")} - {""}

    def header(self) -> str:
        return "\n".join([*(f"-- {k}: {v}" for k, v in self.given.items()), self.sql + ";"])


def blocks(text: str) -> Iterator[tuple[Block, str]]:
    """Every block of a file with the text it has now."""
    for part in re.split(r"(?m)^(?=-- title: )", text)[1:]:
        given = dict(re.findall(rf"(?m)^-- ({_KEYS}): (.*)$", part))
        body = re.sub(rf"\A(-- ({_KEYS}): .*\n)+", "", part)
        yield Block(given, body.split(";\n", 1)[0]), part


def expected(block: Block) -> str:
    """The block with everything the planner says about its model."""
    analysis = analyzed(block.sql)
    shown = block.given.get("columns")
    told = facts(analysis, columns(shown) if shown else ())
    plan = planned(analysis, told)
    if plan.refusal:
        return f"{block.header()}\n-- refused: {plan.refusal}\n"
    lines = [block.header(), "", *(f"--   {line}" for line in plan.tree)]
    lines += [f"-- note: {note}" for note in plan.notes]
    later = built(analysis, told)
    moved = block.words("changed")
    if moved:
        rows = int(block.given["rows"]) if "rows" in block.given else None
        heads = {n: head(n, rows=rows) if n[-1] in moved else head(n, OLD) for n in later.heads}
        later = replace(later, heads=heads)
    refresh = planned(analysis, later)
    printed = {_STEPS[word] for word in block.words("print", "merge")}
    for step in (*plan.steps, *refresh.steps):
        if step.title in printed:
            lines += ["", f"-- {step.title}", step.sql + ";"]
    return "\n".join(lines) + "\n"


def cases() -> list[object]:
    files = sorted(FOLDER.glob("*.sql"))
    return [
        pytest.param(file, block, now, id=f"{file.stem}: {block.title}")
        for file in files
        for block, now in blocks(file.read_text())
    ]


@pytest.mark.parametrize(("file", "block", "now"), cases())
def test_plan_is_as_written_down(file, block, now, request):
    want = expected(block)
    if request.config.getoption("--update-golden"):
        text = file.read_text()
        file.write_text(text.replace(now.rstrip("\n"), want.rstrip("\n"), 1))
        return
    assert now.rstrip("\n") == want.rstrip("\n")


REFUSED = [block for block, _ in blocks((FOLDER / "refusals.sql").read_text())]


@pytest.mark.parametrize("block", REFUSED, ids=lambda block: block.title)
def test_a_refusal_stops_the_run_when_asked(block):
    analysis = analyzed(block.sql)
    told = facts(analysis, settings=Settings(on_unsupported=OnUnsupported.ERROR))
    with pytest.raises(IvmError, match=r"cannot be maintained incrementally: .* has no rule"):
        planned(analysis, told)


def test_there_is_a_file_for_every_rule():
    assert {file.stem for file in FOLDER.glob("*.sql")} == {
        "bag",
        "bilinear",
        "clocks",
        "combinable",
        "extrema",
        "inlined",
        "keywise",
        "linear",
        "matching",
        "nested",
        "refusals",
        "sets",
        "shapes",
        "subqueries",
        "windows",
    }
