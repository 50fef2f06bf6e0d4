"""Results that several parts of a plan read, chosen to be computed once and kept meanwhile.

Spark computes a CTE anew wherever it is read. A result that is read twice by one that is read
twice is computed four times, and so on: a plan that is short as text can be long to run. Only
results that changes drive are kept, because only those are small.
"""

from __future__ import annotations

from dbt_ivm.algebra.base import Node, Scan, State
from dbt_ivm.algebra.walk import walk

LARGEST = 150
"""Operators that Spark may plan for one statement before something is kept."""


def worth_keeping(root: Node, largest: int = LARGEST) -> tuple[Node, ...]:
    """The fewest results without which the plan would be too long, inputs first."""
    parts = tuple(walk(root))
    driven = _driven(parts)
    kept: dict[int, Node] = {}
    while True:
        sizes, readers = _sizes(parts, kept), _readers(parts, root, kept)
        total = sizes[id(root)] + sum(sizes[key] for key in kept)
        savings = {
            id(part): (readers[id(part)] - 1) * sizes[id(part)]
            for part in parts
            if id(part) in driven and id(part) not in kept and not isinstance(part, Scan)
        }
        best = max(savings, key=lambda key: savings[key], default=None)
        if total <= largest or best is None or savings[best] <= 0:
            return tuple(part for part in parts if id(part) in kept)
        kept[best] = next(part for part in parts if id(part) == best)


def _driven(parts: tuple[Node, ...]) -> set[int]:
    """The parts that read the changes of some table."""
    found: set[int] = set()
    for part in parts:
        delta = isinstance(part, Scan) and part.state is State.DELTA
        if delta or any(id(i) in found for i in part.inputs):
            found.add(id(part))
    return found


def _sizes(parts: tuple[Node, ...], kept: dict[int, Node]) -> dict[int, int]:
    """How many operators each part is when everything in it is written out; a kept one is read."""
    sizes: dict[int, int] = {}
    for part in parts:
        sizes[id(part)] = 1 + sum(1 if id(i) in kept else sizes[id(i)] for i in part.inputs)
    return sizes


def _readers(parts: tuple[Node, ...], root: Node, kept: dict[int, Node]) -> dict[int, int]:
    """How often each part is computed, where a kept one is computed once."""
    readers = {id(part): 0 for part in parts}
    readers[id(root)] = 1
    for part in reversed(parts):
        times = 1 if id(part) in kept else readers[id(part)]
        for i in part.inputs:
            readers[id(i)] += times
    return readers
