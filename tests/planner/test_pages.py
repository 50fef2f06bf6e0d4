"""The pages say what the planner says, about every construct, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.plans import EXAMPLES, PAGES, renewed
from docs.support import BLOCKS, MODELS, documented

ROOT = PAGES.parent
GENERATED = sorted(page for page in PAGES.rglob("*.md") if "<!-- plan: " in page.read_text())
WRITTEN = sorted([*ROOT.glob("*.md"), *PAGES.rglob("*.md")])


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", GENERATED, ids=named)
def test_a_page_shows_the_plans_of_today(page):
    assert page.read_text() == renewed(page), "run `python docs/plans.py`"


def test_every_block_stands_on_a_page():
    shown = {n for page in GENERATED for n in re.findall(r"<!-- plan: (\S+) -->", page.read_text())}
    assert shown == EXAMPLES.keys() | BLOCKS.keys()


def test_every_tested_construct_has_a_row():
    rows = list(documented())
    assert sorted(rows) == sorted(MODELS)


@pytest.mark.parametrize("page", WRITTEN, ids=named)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)\s#]+)[^)]*\)", page.read_text())
    files = [target for target in targets if "://" not in target]
    assert [f for f in files if not (page.parent / f).exists()] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_stands_beside_its_plan(name):
    page = next(p for p in GENERATED if f"<!-- plan: {name} -->" in p.read_text())
    assert EXAMPLES[name].sql in page.read_text()
