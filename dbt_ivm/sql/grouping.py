"""GROUP BY: key columns, aggregate calls, and expressions over both."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Aggregate, AggregateCall, Item, Node, Project
from dbt_ivm.algebra.scalar import Scalar, column, ref
from dbt_ivm.sql.expressions import aggregate_of, function_name, has_aggregate, resolve
from dbt_ivm.sql.relations import Context
from dbt_ivm.sql.scope import Aliases, Scope

_SETS = ("rollup", "cube", "grouping_sets", "totals")


class Grouping:
    """Collects the keys and calls of one grouped SELECT, then makes its gamma node."""

    def __init__(
        self,
        node: Node,
        scope: Scope,
        aliases: Aliases,
        outputs: list[tuple[str, exp.Expr]],
        context: Context,
    ) -> None:
        self._node = node
        self._scope = scope
        self._aliases = aliases
        self._outputs = outputs
        self._context = context
        self._keys: list[tuple[str, exp.Expr]] = []
        self._calls: list[AggregateCall] = []

    def add_keys(self, group: exp.Group | None) -> None:
        """Keys by expression, position, alias (where no column has the name) or ALL."""
        if group is None:
            return
        if any(group.args.get(kind) for kind in _SETS) or any(
            isinstance(e, exp.Rollup | exp.Cube | exp.GroupingSets) for e in group.expressions
        ):
            raise self._context.unsupported("ROLLUP, CUBE or GROUPING SETS")
        if group.args.get("all"):
            for visible, value in self._outputs:
                if not has_aggregate(value, self._context.functions):
                    self._add_key(visible, value)
        for item in group.expressions:
            self._add_key(*self._key(item))

    def _key(self, item: exp.Expr) -> tuple[str, exp.Expr]:
        if isinstance(item, exp.Literal) and item.is_int:
            position = int(item.name)
            if not 1 <= position <= len(self._outputs):
                raise self._context.unsupported(f"GROUP BY {position}, which has no such column,")
            return self._outputs[position - 1]
        value = resolve(item, self._column_then_alias, self._context.functions)
        named = [visible for visible, output in self._outputs if output == value]
        return (named[0] if named else item.alias_or_name or "key"), value

    def _column_then_alias(self, parts: tuple[str, ...]) -> exp.Expr | None:
        bound = self._scope.find(parts)
        return bound if bound is not None else self._aliases.find(parts)

    def _add_key(self, visible: str, value: exp.Expr) -> None:
        if has_aggregate(value, self._context.functions):
            raise self._context.unsupported("an aggregate in GROUP BY")
        if any(known == value for _, known in self._keys):
            return
        passed = isinstance(value, exp.Column) and value.name.lower() == visible.lower()
        name = value.name if passed else self._context.names.fresh(visible)
        self._keys.append((name, value))

    def resolve_having(self, tree: exp.Expr) -> exp.Expr:
        """HAVING and ORDER BY see select aliases first; inside an aggregate, input columns."""
        shown = dict(reversed([(v.lower(), value) for v, value in self._outputs]))
        inside = {
            id(c)
            for node in tree.walk()
            if isinstance(node, exp.Anonymous) and aggregate_of(node, self._context.functions)
            for c in node.find_all(exp.Column)
        }
        copy = exp.Paren(this=tree.copy())  # `having ok`: a column on its own has no parent
        columns = zip(tree.find_all(exp.Column), list(copy.find_all(exp.Column)), strict=True)
        for original, node in columns:
            value = shown.get(node.name.lower()) if len(node.parts) == 1 else None
            if value is not None and id(original) not in inside:
                node.replace(exp.Paren(this=value.copy()))
                continue
            found = self._column_then_alias(tuple(p.name for p in node.parts))
            if found is not None:
                node.replace(found.copy())
        return resolve(copy, self._already_bound, self._context.functions)

    def _already_bound(self, parts: tuple[str, ...]) -> exp.Expr | None:
        known = len(parts) == 1 and parts[0] in self._node.columns
        return column(parts[0]) if known else None

    def above(self, tree: exp.Expr) -> exp.Expr:
        """The expression over gamma's output: keys and calls replaced by their columns."""
        for name, value in self._keys:
            if tree == value:
                return column(name)
        inner = aggregate_of(tree, self._context.functions)
        if inner is not None:
            return column(self._call(tree, inner))
        if isinstance(tree, exp.Column):
            raise self._context.unsupported(f"column `{tree.name}`, not grouped,")
        copy = tree.copy()
        for key, child in list(copy.args.items()):
            if isinstance(child, exp.Expr):
                copy.set(key, self.above(child))
            elif isinstance(child, list):
                copy.set(key, [self.above(c) if isinstance(c, exp.Expr) else c for c in child])
        return copy

    def _call(self, tree: exp.Expr, inner: exp.Anonymous) -> str:
        for argument in inner.expressions:
            if has_aggregate(argument, self._context.functions):
                raise self._context.unsupported("an aggregate inside an aggregate")
        written = Scalar(tree.copy())
        for known in self._calls:
            if known.written == written:
                return known.name
        condition, plain = None, True
        node = tree
        while node is not inner:
            if isinstance(node, exp.Filter) and condition is None:
                condition = Scalar(node.expression.this.copy())
            else:
                plain = False
            node = node.this
        plain = plain and not any(
            isinstance(a, exp.Distinct | exp.IgnoreNulls | exp.RespectNulls | exp.Order)
            for a in inner.expressions
        )
        arguments = tuple(Scalar(a.copy()) for a in inner.expressions)
        name = self._context.names.fresh(function_name(inner))
        self._calls.append(
            AggregateCall(name, function_name(inner), arguments, condition, plain, written)
        )
        return name

    def aggregate(self) -> Aggregate:
        """gamma over a projection that exposes every key as a column."""
        computed = [(n, v) for n, v in self._keys if v != column(n)]
        node = self._node
        if computed:
            passed = tuple(Item(c, ref(c)) for c in node.columns)
            node = Project(node, (*passed, *(Item(n, Scalar(v)) for n, v in computed)))
        return Aggregate(node, tuple(n for n, _ in self._keys), tuple(self._calls))
