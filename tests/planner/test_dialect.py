"""Expressions are read and printed without a change of meaning."""

from __future__ import annotations

import pytest

from dbt_ivm.errors import Unsupported
from dbt_ivm.sql.dialect import literal, parse_query, parse_table, render, table

VERBATIM = r"""
date_add(`a`, 1)
datediff(`a`, `b`)
date_diff(`a`, `b`)
trunc(`a`, 'MM')
date_trunc('month', `a`)
to_date(`a`, 'yyyy')
unix_timestamp(`a`)
from_json(`a`, 'x int')
get_json_object(`a`, '$.x')
split(`a`, '\\.')
regexp_replace(`a`, '(\\d+)', '$1')
date_format(`a`, 'yyyy-MM-dd')
nvl2(`a`, `b`, `c`)
ifnull(`a`, `b`)
decode(`a`, 1, 'x', 'y')
if(`a`, `b`, `c`)
count(distinct `a`, `b`)
first(`a`, true)
last(`a`) ignore nulls
percentile_approx(`a`, 0.5, 100)
percentile_cont(0.5) within group (order by `a` desc)
listagg(distinct `a`, ',')
any(`a`)
some(`a`)
every(`a`)
std(`a`)
mean(`a`)
array_agg(`a`)
collect_list(`a`)
approx_count_distinct(`a`)
log(2, `a`)
mod(`a`, `b`)
string(`a`)
date(`a`)
substring_index(`a`, '.', 1)
left(`a`, 1)
ltrim('x', `a`)
named_struct('x', 1)
map('a', 1)['a']
`a`[0].`b`
`a`.`b`.`c`
`a` <=> `b`
not `a` <=> `b`
`a` div `b`
`a` % 2
`a` || `b`
`a` & `b`
`a` like 'x!%' escape '!'
`a` rlike 'x'
`a` is distinct from `b`
`a` between 1 and 2
case `a` when 1 then 'x' else 'y' end
cast(`a` as decimal(10, 2))
try_cast(`a` as int)
interval '1-2' year to month
- -1
1e3
x'1F'
'😀é'
'a\\b'
'a\nb'
'--no comment'
'/* no */'
'say "hi"'
'say ""hi""'
`a``b`
`a b`
`a"b`
`a'b`
"""


def printed(expression: str) -> str:
    query = parse_query(f"select {expression} as z from t")
    return render(query.expressions[0].this, pretty=False)


@pytest.mark.parametrize("expression", VERBATIM.strip().splitlines())
def test_an_expression_is_printed_as_it_was_read(expression):
    assert printed(expression).lower() == expression.lower()


@pytest.mark.parametrize(
    ("expression", "want"),
    [
        ("'it' 's'", "CONCAT('it', 's')"),
        ('"it\'s"', r"'it\'s'"),
        (r"'it\'s'", r"'it\'s'"),
        ("\"it''s\"", r"'it\'\'s'"),
        (r"r'\d+'", r"'\\d+'"),
        (r"'\d'", "'d'"),
        (r"'\u0041\102'", "'AB'"),
        (r"'100\%'", r"'100\\%'"),
        ("1L", "CAST(1 AS BIGINT)"),
        ("1.5BD", "CAST('1.5' AS DECIMAL(2, 1))"),
        ("2.5D", "CAST(2.5 AS DOUBLE)"),
        ("3S", "CAST(3 AS SMALLINT)"),
        ("date '2024-02-29'", "CAST('2024-02-29' AS DATE)"),
        ("a == b", "`a` = `b`"),
        ("a != b", "`a` <> `b`"),
        ("!a", "NOT `a`"),
        ("a::string", "CAST(`a` AS STRING)"),
        ("a is not distinct from b", "`a` <=> `b`"),
        ("interval 1 day 2 hours", "INTERVAL '1' DAY + INTERVAL '2' HOURS"),
        ("substr(a, 1, 2)", "SUBSTRING(`a`, 1, 2)"),
        ("position('a' in b)", "LOCATE('a', `b`)"),
        ("trim(both 'x' from a)", "TRIM(BOTH 'x' FROM `a`)"),
    ],
)
def test_other_words_for_the_same(expression, want):
    assert printed(expression) == want
    assert printed(want) == want


@pytest.mark.parametrize("value", ["it's", "\\", "\\'", "a\nb", "😀", '"', "", "${x}", "'; --"])
def test_a_literal_reads_back_as_itself(value):
    query = parse_query(f"select {render(literal(value))} as z")
    assert query.expressions[0].this.name == value


@pytest.mark.parametrize(
    "parts", [("t",), ("d", "t"), ("c", "d", "t"), ("a b", "x`y"), ("d.e", "t")]
)
def test_a_table_name_reads_back_as_itself(parts):
    assert parse_table(render(table(parts))) == parts


@pytest.mark.parametrize("text", ["", "select (", "select 'open", "selec 1", "with q as select 1"])
def test_text_that_is_no_query_is_refused(text):
    with pytest.raises(Unsupported):
        parse_query(text)


@pytest.mark.parametrize("text", ["select 'it''s'", 'select "say ""hi"" x"'])
def test_a_doubled_quote_is_left_to_spark(text):
    """Spark 4.0 and 4.1 read it differently, so only the text itself is right for both."""
    with pytest.raises(Unsupported, match="doubled quote"):
        parse_query(text)
    assert parse_query(text, for_meaning=False)


@pytest.mark.parametrize(
    "text", ["drop table t", "insert into t select 1", "set a = 1", "select 1; select 2"]
)
def test_a_statement_is_refused(text):
    with pytest.raises(Unsupported, match="not one query"):
        parse_query(text)


def test_comments_and_hints_are_not_printed():
    query = parse_query("select a /* one */ -- two\nfrom t")
    assert render(query, pretty=False) == "SELECT `a` FROM `t`"
