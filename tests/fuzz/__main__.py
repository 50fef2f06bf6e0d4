"""`python -m tests.fuzz [MINUTES [SEED]]`: search, then print every failure at its smallest."""

from __future__ import annotations

import logging
import random
import sys
import time
from collections import Counter

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.case import Case, Failed, cases
from tests.fuzz.shrink import shrink

_BATCH = 20


class Search:
    """What was generated, and the smallest case of each kind of failure."""

    def __init__(self) -> None:
        self.models = 0
        self.operators: Counter[str] = Counter()
        self.depths: Counter[int] = Counter()
        self.failures: dict[str, Case] = {}
        self.hits: Counter[str] = Counter()

    def batch(self, number: int) -> None:
        seed(number)(_search(self))()

    def count(self, case: Case) -> None:
        assert case.query is not None
        self.models += 1
        self.operators.update(case.query.used.keys())
        self.depths[case.query.depth] += 1

    def keep(self, case: Case, failure: Failed) -> None:
        kind = failure.kind
        self.hits[kind] += 1
        if kind not in self.failures or len(case.sql) < len(self.failures[kind].sql):
            self.failures[kind] = case

    def report(self) -> str:
        lines = [f"{self.models} models"]
        lines += [f"  depth {d:2}: {n}" for d, n in sorted(self.depths.items())]
        lines += [f"  {name}: {n}" for name, n in self.operators.most_common()]
        return "\n".join(lines)

    def smallest(self, kind: str) -> str:
        """The failure of a kind, shrunk."""
        small = shrink(self.failures[kind], lambda case: case.failure_kind() == kind)
        try:
            small.run()
        except Failed as failure:
            return f"\nFAILED {self.hits[kind]} times: {kind}\n{failure}"
        raise AssertionError("a shrunk case fails like the one it was made from")


def _search(search: Search):  # type: ignore[no-untyped-def]
    @settings(
        max_examples=_BATCH,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases())
    def one(case: Case) -> None:
        search.count(case)
        try:
            case.run()
        except Failed as failure:
            search.keep(case, failure)

    return one


def main() -> int:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)
    search = Search()
    print(f"seed {first}", flush=True)
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        search.batch(first)
        first += 1
    print(search.report(), flush=True)
    for kind in search.failures:
        print(search.smallest(kind), flush=True)
    return 1 if search.failures else 0


if __name__ == "__main__":
    sys.exit(main())
