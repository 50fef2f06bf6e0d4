"""The algebra in words: the tree that explain prints and that fingerprints are taken of."""

from __future__ import annotations

import hashlib
from functools import singledispatch

from dbt_ivm.algebra.nodes import (
    Aggregate,
    Filter,
    Generate,
    Join,
    Limit,
    Node,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    Sort,
    Stamped,
    UnionAll,
    Values,
    Window,
)
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.algebra.walk import uses
from dbt_ivm.plan.watermark import STATE_FORMAT
from dbt_ivm.sql.dialect import render

FAMILIES: dict[type[Node], str] = {
    Filter: "linear",
    Project: "linear",
    Generate: "linear",
    UnionAll: "linear",
    Join: "bilinear",
    OuterJoin: "bilinear and key-wise",
    SemiJoin: "key-wise",
    Aggregate: "key-wise",
    Window: "key-wise",
    Sort: "view",
    Limit: "view",
    Stamped: "view",
}


def tree_lines(node: Node, depth: int = 0, family: str | None = None) -> list[str]:
    """One line per operator, inputs indented below it, the family of each in brackets.

    A part that stands in several places is written once, and referred to by its number.
    """
    counted, numbers = uses(node), dict[int, int]()

    def lines(part: Node, indent: int, label: str) -> list[str]:
        shared = counted[id(part)] > 1 and bool(part.inputs)
        if id(part) in numbers:
            return ["  " * indent + f"#{numbers[id(part)]} again"]
        if shared:
            numbers[id(part)] = len(numbers) + 1
        mark = f"#{numbers[id(part)]} " if shared else ""
        line = "  " * indent + mark + describe(part) + (f"  [{label}]" if label else "")
        return [line, *(sub for i in part.inputs for sub in lines(i, indent + 1, _family(i)))]

    return lines(node, depth, family or _family(node))


def _family(node: Node) -> str:
    return FAMILIES.get(type(node), "")


def fingerprint(node: Node, *more: str) -> str:
    """Equal for queries with the same normalised plan, whatever their layout and comments."""
    text = "\n".join((*tree_lines(node), *more))
    return hashlib.sha256(f"{STATE_FORMAT}\n{text}".encode()).hexdigest()[:32]


@singledispatch
def describe(node: Node) -> str:
    """An operator with its own expressions, without its inputs."""
    return type(node).__name__


@describe.register
def _(node: Scan) -> str:
    columns = ", ".join(f"{f.source} {f.type}" + _renamed(f.source, f.name) for f in node.fields)
    return f"Scan {'.'.join(node.table)} ({columns})"


@describe.register
def _(node: OneRow) -> str:
    return "One row"


@describe.register
def _(node: Filter) -> str:
    return f"Filter {_text(node.predicate)}"


@describe.register
def _(node: Project) -> str:
    items = (
        _text(i.value) if i.value.column == i.name else f"{_text(i.value)} as {i.name}"
        for i in node.items
    )
    return f"Project {', '.join(items)}"


@describe.register
def _(node: Generate) -> str:
    outer = "outer " if node.outer else ""
    return f"Generate {outer}{_text(node.generator)} as {', '.join(node.names)}"


@describe.register
def _(node: Join) -> str:
    return f"Join on {_text(node.condition)}" if node.condition else "Cross join"


@describe.register
def _(node: OuterJoin) -> str:
    kind = "Full outer join" if node.full else "Left outer join"
    return f"{kind} on {_text(node.condition) if node.condition else 'true'}"


@describe.register
def _(node: SemiJoin) -> str:
    kind = "Anti join" if node.anti else "Semi join"
    return f"{kind} on {_text(node.condition) if node.condition else 'true'}"


@describe.register
def _(node: Values) -> str:
    rows = ", ".join(f"({', '.join(_text(value) for value in row)})" for row in node.rows)
    return f"Values {rows} as {', '.join(node.names)}"


@describe.register
def _(node: Window) -> str:
    items = ", ".join(f"{_text(i.value)} as {i.name}" for i in node.items)
    return f"Window by {', '.join(node.keys) or '()'}: {items}"


@describe.register
def _(node: UnionAll) -> str:
    return f"Union all as {', '.join(node.names)}"


@describe.register
def _(node: Aggregate) -> str:
    calls = ", ".join(f"{_text(c.written)} as {c.name}" for c in node.calls)
    keys = ", ".join(node.keys) or "()"
    return f"Aggregate by {keys}: {calls}" if calls else f"Aggregate by {keys}"


@describe.register
def _(node: Sort) -> str:
    return f"Sort by {', '.join(_text(key.value) for key in node.keys)}"


@describe.register
def _(node: Stamped) -> str:
    return "Stamp with the time of writing"


@describe.register
def _(node: Limit) -> str:
    parts = [f"limit {_text(node.limit)}"] if node.limit else []
    parts += [f"offset {_text(node.offset)}"] if node.offset else []
    return " ".join(parts).capitalize()


def _text(scalar: Scalar) -> str:
    return render(scalar.tree, pretty=False)


def _renamed(source: str, name: str) -> str:
    return "" if source == name else f" as {name}"
