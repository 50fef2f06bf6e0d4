"""Chaos is short in the test suite and long in `make chaos`; it says what it did."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest


@pytest.fixture
def times(request) -> int:
    return int(request.config.getoption("--times"))


@pytest.fixture
def say(capsys, request) -> Callable[[str], None]:
    """Print past pytest's capture."""

    def say(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {request.node.name}: {text}", flush=True)

    return say


@pytest.fixture
def dice(request) -> random.Random:
    """Random, and the same again with `--seed`."""
    return random.Random(request.config.getoption("--seed"))
