"""Spark SQL as dbt-ivm reads and prints it; the one place where trees become text."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import sqlglot
from sqlglot import Token, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, SqlglotError, TokenError

from dbt_ivm.errors import Unsupported

# Functions with a grammar of their own; every other call is read and printed by its bare name.
_OWN_GRAMMAR = {"CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTR", "SUBSTRING", "POSITION", "OVERLAY"}
_CONSTRUCTORS = {"ARRAY", "MAP", "STRUCT"}
TOO_DEEP = "SQL that is nested too deeply for the planner"
"""Trees are walked by recursion, and Python's stack has an end."""


class SparkVerbatim(Spark):
    """Spark's dialect with function calls kept as written.

    sqlglot would otherwise rewrite many calls into what it takes for their equivalent and would
    read unknown aggregates as scalars. Here a function is a name, and `functions.py` says
    what each name is.
    """

    class Parser(Spark.Parser):  # type: ignore[misc, valid-type]
        FUNCTIONS: ClassVar[dict[str, Any]] = {
            name: build for name, build in Spark.Parser.FUNCTIONS.items() if name in _CONSTRUCTORS
        }
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: read
            for name, read in Spark.Parser.FUNCTION_PARSERS.items()
            if name in _OWN_GRAMMAR
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: read
            for name, read in Spark.Parser.NO_PAREN_FUNCTION_PARSERS.items()
            if name == "CASE"
        }

    class Generator(Spark.Generator):  # type: ignore[misc, valid-type]
        def nullsafeeq_sql(self, expression: exp.NullSafeEQ) -> str:
            return str(self.binary(expression, "<=>"))


def parse_query(text: str, for_meaning: bool = True) -> exp.Query:
    """Parse one query; SQL that sqlglot cannot read is a reason, not a crash.

    Where only the place of names matters and not what literals mean, `for_meaning` is false.
    """
    try:
        if for_meaning and _has_doubled_quote(text):
            raise Unsupported("a doubled quote in a string literal (write \\' for a quote)")
        trees = sqlglot.parse(text, read=SparkVerbatim)
    except (ParseError, TokenError, SqlglotError) as error:
        raise Unsupported(f"SQL that the planner cannot parse ({_first_line(error)})") from error
    except RecursionError:
        raise Unsupported(TOO_DEEP) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise Unsupported("a text that is not one query")
    return trees[0]


def tokenize(text: str) -> list[Token]:
    """The words of a text, each with its place."""
    return list(SparkVerbatim().tokenize(text))


def _has_doubled_quote(text: str) -> bool:
    """Spark 4.0 reads 'it''s' as two literals in a row, its; Spark 4.1 as one, it's."""
    tokens = tokenize(text)
    return any(
        first.token_type is second.token_type is sqlglot.TokenType.STRING
        and first.end + 1 == second.start
        for first, second in pairwise(tokens)
    )


def render(tree: exp.Expr, pretty: bool = True) -> str:
    """Print a tree as Spark SQL, every identifier quoted."""
    return tree.sql(dialect=SparkVerbatim, pretty=pretty, identify=True, comments=False)


def spark_type(text: str) -> exp.DataType:
    """A type in Spark's own words, e.g. `array<struct<a:int>>`, printed as it came."""
    return exp.DataType(this=exp.DType.USERDEFINED, kind=text)


def parse_table(text: str) -> tuple[str, ...]:
    """The parts of a possibly quoted table name, unquoted."""
    table = exp.to_table(text, dialect=SparkVerbatim)
    return tuple(part.name for part in table.parts)


def table(name: tuple[str, ...]) -> exp.Table:
    """A table reference with every part quoted."""
    *qualifiers, this = (exp.to_identifier(part, quoted=True) for part in name)
    reference = exp.Table(this=this)
    for role, part in zip(("db", "catalog"), reversed(qualifiers), strict=False):
        reference.set(role, part)
    return reference


def literal(value: str | int) -> exp.Expr:
    """A string or integer literal, escaped by the printer."""
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(value)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def verbatim(sql: str) -> exp.Expr:
    """The user's own SQL inside a statement, passed on untouched."""
    return exp.Var(this=sql)
