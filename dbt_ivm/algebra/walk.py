"""Walks over plans. A plan is a tree in which one node may stand in several places.

Such a node (a CTE read twice, a delta used by two terms) is visited, changed and printed once, so
that plans grow with the query and not with the number of paths through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dbt_ivm.algebra.base import Node, Scan, TableName


def walk(node: Node) -> Iterator[Node]:
    """Every node once, inputs before the node itself."""
    seen: set[int] = set()

    def visit(part: Node) -> Iterator[Node]:
        if id(part) in seen:
            return
        seen.add(id(part))
        for i in part.inputs:
            yield from visit(i)
        yield part

    return visit(node)


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """Rebuild the plan bottom up, passing every node once through `change`."""
    done: dict[int, Node] = {}
    for part in walk(node):
        inputs = tuple(done[id(i)] for i in part.inputs)
        same = all(a is b for a, b in zip(inputs, part.inputs, strict=True))
        done[id(part)] = change(part if same else part.with_inputs(inputs))
    return done[id(node)]


def uses(node: Node) -> dict[int, int]:
    """How many places each node stands in, by identity."""
    counted = {id(node): 1}
    for part in walk(node):
        for i in part.inputs:
            counted[id(i)] = counted.get(id(i), 0) + 1
    return counted


def scans(node: Node) -> tuple[Scan, ...]:
    """All scans of a plan, left to right."""
    return tuple(part for part in walk(node) if isinstance(part, Scan))


def tables(node: Node) -> tuple[TableName, ...]:
    """The tables a plan reads, each once, in order of appearance."""
    return tuple(dict.fromkeys(scan.table for scan in scans(node)))
