"""Window functions: OVER clauses to window nodes, one per way of partitioning."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Item, Node, Project, Window
from dbt_ivm.algebra.scalar import Scalar, column, ref
from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.expressions import function_name
from dbt_ivm.sql.scope import Names


def with_named_windows(select: exp.Select) -> exp.Select:
    """`sum(x) over w … window w as (partition by a)` with the definition written in place."""
    definitions = {w.this.name.lower(): w for w in select.args.get("windows") or ()}
    if not definitions:
        return select
    copy = select.copy()
    copy.set("windows", None)
    for window in copy.find_all(exp.Window):
        name = window.args.get("alias")
        if name is None:
            continue
        found = definitions.get(name.name.lower())
        if found is None:
            raise Unsupported(f"the window `{name.name}`, which is not defined,")
        for part in ("partition_by", "order", "spec"):
            value = found.args.get(part)
            if value and not window.args.get(part):
                values = [v.copy() for v in value] if isinstance(value, list) else value.copy()
                window.set(part, values)
        window.set("alias", None)
    return copy


class Windows:
    """Collects the window functions of one SELECT over a node."""

    def __init__(self, node: Node, names: Names) -> None:
        self._node = node
        self._names = names
        self._computed: list[tuple[str, exp.Expr]] = []
        self._calls: dict[tuple[str, ...], list[tuple[str, exp.Expr]]] = {}

    def column_for(self, tree: exp.Expr) -> exp.Expr:
        """The expression with every window function replaced by the column that holds it."""
        copy = exp.Paren(this=tree.copy())
        for window in list(copy.find_all(exp.Window)):
            window.replace(column(self._call(window)))
        result: exp.Expr = copy.this
        return result

    def _call(self, window: exp.Window) -> str:
        partition = [self._key(e) for e in window.args.get("partition_by") or ()]
        written = window.copy()
        written.set("partition_by", [column(name) for name in partition])
        calls = self._calls.setdefault(tuple(sorted(set(partition))), [])
        for name, known in calls:
            if known == written:
                return name
        function = written.this
        while not isinstance(function, exp.Anonymous) and isinstance(function.this, exp.Expr):
            function = function.this
        name = self._names.fresh(function_name(function) or "window")
        calls.append((name, written))
        return name

    def _key(self, tree: exp.Expr) -> str:
        if isinstance(tree, exp.Column):
            return tree.name
        for name, known in self._computed:
            if known == tree:
                return name
        name = self._names.fresh("key")
        self._computed.append((name, tree.copy()))
        return name

    def node(self) -> Node:
        """Window nodes over the input, stacked where they partition differently.

        Those without PARTITION BY come last: they can stay in the view.
        """
        node = self._node
        if self._computed:
            passed = tuple(Item(c, ref(c)) for c in node.columns)
            computed = tuple(Item(n, Scalar(tree)) for n, tree in self._computed)
            node = Project(node, (*passed, *computed))
        for keys, calls in sorted(self._calls.items(), key=lambda entry: not entry[0]):
            node = Window(node, keys, tuple(Item(n, Scalar(tree)) for n, tree in calls))
        return node
