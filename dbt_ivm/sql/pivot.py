"""PIVOT and UNPIVOT behind a table, as groups with filters and as a generator.

pivot (sum(v) as s for k in ('a' as x))   ->   γ_{rest; sum(v) filter (where k <=> 'a')} as x_s
unpivot (v for k in (a, b))               ->   stack(2, 'a', a, 'b', b) as (k, v), v not NULL
"""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.nodes import Aggregate, AggregateCall, Filter, Generate, Item, Node, Project
from dbt_ivm.algebra.scalar import Scalar, call, column, ref
from dbt_ivm.sql.context import Context, Relation
from dbt_ivm.sql.dialect import literal, render
from dbt_ivm.sql.expressions import aggregate_of, function_name, resolve
from dbt_ivm.sql.scope import Output, Scope, Source

_PIVOTED = {"sum", "avg", "mean", "min", "max", "count"}


def pivoted(relation: Relation, pivot: exp.Pivot, context: Context) -> Relation:
    """The relation that a PIVOT or UNPIVOT clause makes of another."""
    fields: list[exp.Expr] = pivot.args.get("fields") or []
    if len(fields) != 1 or not isinstance(fields[0], exp.In):
        raise context.unsupported("this form of PIVOT")
    if pivot.args.get("unpivot"):
        return _Unpivot(relation, pivot, fields[0], context).relation()
    return _Pivot(relation, pivot, fields[0], context).relation()


def _parts(tree: exp.Expr) -> list[exp.Expr]:
    return list(tree.expressions) if isinstance(tree, exp.Tuple) else [tree.unnest()]


class _Base:
    def __init__(
        self, relation: Relation, pivot: exp.Pivot, choice: exp.In, context: Context
    ) -> None:
        self._relation, self._pivot, self._choice = relation, pivot, choice
        self._context = context
        self._scope = Scope((Source((), relation.outputs),))

    def _resolved(self, tree: exp.Expr) -> exp.Expr:
        return resolve(tree, self._scope.find, self._context.functions)


class _Pivot(_Base):
    """Groups of every column that the clause does not name, one call per value and aggregate."""

    def relation(self) -> Relation:
        fields = [self._resolved(tree) for tree in _parts(self._choice.this)]
        calls = [self._aggregate(tree) for tree in self._pivot.expressions]
        self._check([function for _, function, _ in calls])
        used = {c.name for tree in fields for c in tree.find_all(exp.Column)}
        used |= {c.name for _, _, tree in calls for c in tree.find_all(exp.Column)}
        rest = tuple(o for o in self._relation.outputs if o.name not in used)
        groups: list[AggregateCall] = []
        shown: list[tuple[str, exp.Expr]] = [(o.visible, column(o.name)) for o in rest]
        for value in self._choice.expressions:
            name, here = self._value(value, fields)
            rows = self._call("count", call("count", exp.Star()), here)
            groups.append(rows)
            for alias, function, tree in calls:
                found = self._call(function, tree, here)
                groups.append(found)
                any_row = exp.GT(this=column(rows.name), expression=literal(0))
                visible = f"{name}_{alias}" if len(calls) > 1 else name
                shown.append((visible, exp.Case().when(any_row, column(found.name))))
        node = Aggregate(self._relation.node, tuple(o.name for o in rest), tuple(groups))
        return self._projected(node, shown)

    def _aggregate(self, tree: exp.Expr) -> tuple[str, str, exp.Anonymous]:
        value = self._resolved(tree.unalias())
        inner = aggregate_of(value, self._context.functions)
        if inner is None or inner is not value:
            raise self._context.unsupported("PIVOT of what is no plain aggregate")
        alias = tree.alias or render(tree, pretty=False).replace("`", "")
        return alias, function_name(inner), inner

    def _check(self, functions: list[str]) -> None:
        """Spark shows a count of no rows as NULL or as 0, by the types of what stands beside it."""
        other = [f for f in functions if f not in _PIVOTED]
        if other:
            raise self._context.unsupported(f"PIVOT of {other[0]}")
        if "count" in functions and {"min", "max"} & set(functions):
            raise self._context.unsupported("PIVOT of a count beside min or max")

    def _value(self, tree: exp.Expr, fields: list[exp.Expr]) -> tuple[str, exp.Expr]:
        value = tree.this if isinstance(tree, exp.PivotAlias) else tree
        parts = _parts(value)
        if len(parts) != len(fields):
            raise self._context.unsupported("PIVOT with values of another width")
        name = tree.args["alias"].name if isinstance(tree, exp.PivotAlias) else ""
        if not name:
            if len(parts) != 1 or not isinstance(parts[0], exp.Literal):
                raise self._context.unsupported("a PIVOT value without an alias")
            name = parts[0].name
        same = [
            exp.NullSafeEQ(this=exp.Paren(this=f.copy()), expression=self._resolved(v))
            for f, v in zip(fields, parts, strict=True)
        ]
        return name, exp.and_(*same)

    def _call(self, function: str, tree: exp.Anonymous, here: exp.Expr) -> AggregateCall:
        condition = here.copy()
        written = exp.Filter(this=tree.copy(), expression=exp.Where(this=condition))
        name = self._context.names.fresh(function)
        arguments = tuple(Scalar(a.copy()) for a in tree.expressions)
        return AggregateCall(
            name, function, arguments, Scalar(condition.copy()), True, Scalar(written)
        )

    def _projected(self, node: Node, shown: list[tuple[str, exp.Expr]]) -> Relation:
        items, outputs = [], []
        for visible, tree in shown:
            name = tree.name if isinstance(tree, exp.Column) else self._context.names.fresh(visible)
            items.append(Item(name, Scalar(tree)))
            outputs.append(Output(visible, name))
        return Relation(Project(node, tuple(items)), tuple(outputs))


class _Unpivot(_Base):
    """One row per value column, beside the name of the column."""

    def relation(self) -> Relation:
        visible = [self._choice.this.name, *(t.name for t in _parts(self._pivot.expressions[0]))]
        names = tuple(self._context.names.fresh(name) for name in visible)
        rows, used = [], set()
        for item in self._choice.expressions:
            tree = item.this if isinstance(item, exp.PivotAlias) else item
            columns = [self._resolved(part) for part in _parts(tree)]
            if len(columns) != len(visible) - 1:
                raise self._context.unsupported("UNPIVOT of another width")
            used |= {c.name for c in columns}
            written = "_".join(p.name for p in _parts(tree))
            label = item.args["alias"].name if isinstance(item, exp.PivotAlias) else written
            rows.append([literal(label), *columns])
        values = [literal(len(rows)), *(value for row in rows for value in row)]
        generator = Scalar(call("stack", *values))
        node: Node = Generate(self._relation.node, generator, outer=False, names=names)
        if not self._pivot.args.get("include_nulls"):
            there = [exp.Not(this=exp.Is(this=column(n), expression=exp.Null())) for n in names[1:]]
            node = Filter(node, Scalar(exp.or_(*there)))
        rest = tuple(o for o in self._relation.outputs if o.name not in used)
        outputs = (*rest, *(Output(v, n) for v, n in zip(visible, names, strict=True)))
        return Relation(Project(node, tuple(Item(o.name, ref(o.name)) for o in outputs)), outputs)
