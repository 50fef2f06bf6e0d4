"""Derived property: what a refresh reads beside the changes themselves (self-maintenance).

A plan that reads no state of any table is self-maintainable: the new value of the model follows
from its old value and the changes alone.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Filter, Node, Scan, State, TableName


def tables_read(plan: Node) -> tuple[TableName, ...]:
    """The tables of which a plan reads a state, each once, in order of appearance."""
    found: dict[TableName, None] = {}
    seen: set[int] = set()

    def visit(node: Node) -> None:
        if id(node) in seen or _is_empty(node):
            return
        seen.add(id(node))
        if isinstance(node, Scan) and node.state is not State.DELTA:
            found[node.table] = None
        for i in node.inputs:
            visit(i)

    visit(plan)
    return tuple(found)


def _is_empty(node: Node) -> bool:
    """`where false`: an unchanged branch of a union, kept for the types of its columns."""
    return isinstance(node, Filter) and node.predicate.tree == exp.false()
