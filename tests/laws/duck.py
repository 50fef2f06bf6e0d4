"""The printed Spark SQL on DuckDB: the one place that knows where the two differ."""

from __future__ import annotations

import re
from functools import cache

import sqlglot
from sqlglot import exp

_FUNCTIONS = {
    "raise_error": "error",
    "any": "bool_or",
    "some": "bool_or",
    "every": "bool_and",
    "mean": "avg",
}
_SPARK_TYPES = {
    "TINYINT": "tinyint",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "HUGEINT": "bigint",  # DuckDB's sum of integers; Spark's is a bigint
    "VARCHAR": "string",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "INTEGER[]": "array<int>",
}


def translate(spark_sql: str) -> str:
    """Spark SQL as DuckDB reads it."""
    tree = sqlglot.parse_one(spark_sql, read="spark")
    for node in list(tree.find_all(exp.Update)):
        for assignment in node.expressions:
            assignment.this.set("table", None)  # DuckDB: `set x =`, never `set t.x =`
    return tree.transform(_renamed).transform(_patched).sql("duckdb")


def _renamed(node: exp.Expr) -> exp.Expr:
    """Functions by DuckDB's names; a pass of its own, as what `_patched` makes is not visited."""
    if isinstance(node, exp.Anonymous) and node.name.lower() in _FUNCTIONS:
        return exp.Anonymous(this=_FUNCTIONS[node.name.lower()], expressions=node.expressions)
    return node


def _patched(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Select) and node.args.get("laterals"):
        return _stacked(node)
    if isinstance(node, exp.IntDiv):  # `//` takes integers only
        quotient = exp.Div(this=node.this, expression=node.expression, typed=False, safe=False)
        return exp.Anonymous(this="trunc", expressions=[quotient])
    if isinstance(node, exp.CountIf):  # DuckDB's count_if of no rows is NULL, Spark's is 0
        hit = exp.Case().when(node.this.copy(), exp.Literal.number(1))
        return exp.Count(this=hit)
    if isinstance(node, exp.Count) and node.expressions:  # count(x, y): rows with no NULL in it
        arguments = (node.this, *node.expressions)
        nulls = exp.or_(*(exp.Is(this=a.copy(), expression=exp.Null()) for a in arguments))
        return exp.Count(this=exp.Case().when(nulls.not_(), exp.Literal.number(1)))
    if isinstance(node, exp.Any) and not isinstance(node.this.unnest(), exp.Query):
        return exp.Anonymous(this="bool_or", expressions=[node.this.unnest()])
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        if name == "array_repeat":
            value, times = node.expressions
            return exp.Anonymous(this="repeat", expressions=[exp.array(value), times])
    return node


def _stacked(select: exp.Select) -> exp.Select:
    """`lateral view stack(2, a, b, c, d) as x, y`: `cross join lateral (values (a, b), (c, d))`."""
    for view in list(select.args["laterals"]):
        if not isinstance(view.this, exp.Stack):
            continue
        view.pop()
        values = view.this.expressions
        width = len(values) // int(view.this.this.name)
        rows = [exp.Tuple(expressions=values[i : i + width]) for i in range(0, len(values), width)]
        table = exp.Subquery(this=exp.Values(expressions=rows))
        lateral = exp.Lateral(this=table, alias=view.args["alias"])
        select.append("joins", exp.Join(this=lateral, kind="CROSS"))
    return select


def spark_type(duck_type: str) -> str:
    """The name Spark has for a type that DuckDB derived."""
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", duck_type)
    return f"decimal({decimal[1]},{decimal[2]})" if decimal else _SPARK_TYPES[duck_type]


def literal(value: object, type_: str) -> str:
    """A Python value as a typed literal, so that NULLs keep the type of their column."""
    if value is None:
        text = "NULL"
    elif isinstance(value, list):
        text = "[" + ", ".join("NULL" if v is None else str(v) for v in value) + "]"
    else:
        text = "'" + str(value).replace("'", "''") + "'"
    return f"CAST({text} AS {duck_type(type_)})"


@cache
def duck_type(type_: str) -> str:
    """A column type in DuckDB's words."""
    return exp.DataType.build(type_, dialect="spark").sql("duckdb")
