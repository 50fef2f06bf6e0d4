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
    Project,
    Scan,
    Sort,
    UnionAll,
)
from dbt_ivm.algebra.scalar import Scalar
from dbt_ivm.plan.watermark import STATE_FORMAT
from dbt_ivm.sql.dialect import render

FAMILIES: dict[type[Node], str] = {
    Filter: "linear",
    Project: "linear",
    Generate: "linear",
    UnionAll: "linear",
    Join: "bilinear",
    Sort: "view",
    Limit: "view",
}


def tree_lines(node: Node, depth: int = 0, family: str | None = None) -> list[str]:
    """One line per operator, inputs indented below it, the family of each in brackets."""
    label = family or FAMILIES.get(type(node), "")
    line = "  " * depth + describe(node) + (f"  [{label}]" if label else "")
    return [line, *(sub for i in node.inputs for sub in tree_lines(i, depth + 1))]


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
def _(node: Limit) -> str:
    parts = [f"limit {_text(node.limit)}"] if node.limit else []
    parts += [f"offset {_text(node.offset)}"] if node.offset else []
    return " ".join(parts).capitalize()


def _text(scalar: Scalar) -> str:
    return render(scalar.tree, pretty=False)


def _renamed(source: str, name: str) -> str:
    return "" if source == name else f" as {name}"
