"""Values at the edges of every type, through rounds of changes, judged after each."""

from __future__ import annotations

import pytest

from tests.shop import Shop

COLUMNS = """
id int, k int, d double, f float, t tinyint, l bigint, n decimal(38, 10), s string, b binary,
day date, at timestamp, local timestamp_ntz, a array<double>,
r struct<x: int, y: struct<z: string>>, yes boolean
"""
ZEROS = (
    "0.0, 0, 0, 0, 0, '', x'', date'1970-01-01', timestamp'1970-01-01 00:00:00Z',"
    " timestamp_ntz'1970-01-01 00:00:00', array(-0d), named_struct('x', 0, 'y',"
    " named_struct('z', '')), false"
)
LEAST = (
    "double('-infinity'), float('-infinity'), -128, -9223372036854775808,"
    " -9999999999999999999999999999.9999999999, ' ', x'00', date'0001-01-01',"
    " timestamp'0001-01-01 00:00:00Z', timestamp_ntz'0001-01-01 00:00:00', array(), null, false"
)
MOST = (
    "double('infinity'), float('infinity'), 127, 9223372036854775807,"
    " 9999999999999999999999999999.9999999999, repeat('😀', 100), x'ffff', date'9999-12-31',"
    " timestamp'9999-12-31 23:59:59.999999Z', timestamp_ntz'9999-12-31 23:59:59.999999',"
    " array(double('nan'), null), named_struct('x', null, 'y', null), true"
)
NANS = (
    "double('nan'), float('nan'), 1, 1, 0.0000000001, 'a\\\\b', x'5c27', date'2024-02-29',"
    " timestamp'2024-03-31 01:30:00Z', timestamp_ntz'2024-03-31 02:30:00', array(double('nan')),"
    " named_struct('x', 1, 'y', named_struct('z', null)), null"
)
NOTHING = ", ".join(["null"] * 13)
HALF = "-0d, float('-0'), 1, 1, 0.5, 'A', x'41', " + NANS.split(", ", 7)[-1]


def row(number: int, group: int | str, values: str) -> str:
    return f"({number}, {group}, {values})"


def insert(*rows: str) -> str:
    return "insert into {s}.edge values " + ", ".join(rows)


START = insert(
    *(row(n, n % 2, v) for n, v in enumerate((ZEROS, LEAST, MOST, NANS, NOTHING, HALF))),
    row(6, "null", NOTHING),
)
EXTREMA = ("t", "l", "n", "s", "day", "at", "local", "yes")
MODELS = {
    "bag": "select k, d, f, t, l, n, s, b, day, at, local, a, r, yes from {s}.edge",
    "sums": "select k, count(*) as c, sum(t) as t, sum(l) as l, sum(n) as n, avg(t) as m,"
    " sum(cast(n as decimal(38, 0))) as w, bool_or(yes) as y from {s}.edge group by k",
    "extrema": "select k, "
    + ", ".join(f"min({c}) as min_{c}, max({c}) as max_{c}" for c in (*EXTREMA, "d", "f", "b"))
    + " from {s}.edge group by k",
    "by_double": "select d, f, count(*) as n, max(l) as l from {s}.edge group by d, f",
    "by_struct": "select r, a, count(*) as n from {s}.edge group by r, a",
    "by_text": "select s, b, count(*) as n from {s}.edge group by s, b",
    "by_time": "select at, local, day, count(*) as n from {s}.edge group by at, local, day",
    "matched": "select x.id, y.id as other from {s}.edge x join {s}.edge y on x.d <=> y.d"
    " and x.s <=> y.s and x.at <=> y.at",
    "ranked": "select id, k, rank() over (partition by k order by d, id) as place from {s}.edge",
    "hours": "select hour(at) as h, date(at) as d, at + interval '1' day as later, count(*) as n"
    " from {s}.edge group by hour(at), date(at), at + interval '1' day",
}
ROUNDS = (
    [insert(row(10, 0, NANS), row(11, 0, NANS), row(12, 1, MOST), row(13, 1, LEAST))],
    ["delete from {s}.edge where id in (2, 10)", "update {s}.edge set d = -d, f = -f"],
    ["update {s}.edge set k = null where k = 1", insert(row(14, 1, MOST), row(15, 1, MOST))],
    ["update {s}.edge set d = 0, n = null, l = null", "delete from {s}.edge where id = 6"],
    ["delete from {s}.edge"],
    [START],
)


@pytest.fixture
def edge(shop) -> Shop:
    shop.sql(f"create table {{s}}.edge ({COLUMNS}) using delta")
    shop.sql(START)
    return shop


@pytest.mark.slow
def test_edges_of_every_type(edge):
    for name, sql in MODELS.items():
        edge.model(name, sql)
    edge.run()
    edge.check(*MODELS)
    for statements in ROUNDS:
        for statement in statements:
            edge.sql(statement)
        done = edge.run()
        assert {r["ivm_strategy"] for r in done.values()} == {"incremental"}, done
        edge.check(*MODELS)


NIGHTS = ("2024-03-31 00:30:00Z", "2024-03-31 01:30:00Z", "2024-10-27 00:30:00Z")
"""Before and after the clocks change in Europe."""


@pytest.mark.slow
def test_sessions_in_other_time_zones(edge):
    """Across the changes of the clock in spring and autumn, from one zone to another and back."""
    setting = "spark.sql.session.timeZone"
    before = edge.spark.conf.get(setting)
    edge.model("hours", MODELS["hours"])
    try:
        for zone in ("Europe/Berlin", "Europe/Berlin", "America/New_York", "UTC"):
            edge.spark.conf.set(setting, zone)
            for number, night in enumerate(NIGHTS):
                edge.sql(f"update {{s}}.edge set at = timestamp'{night}' where id = {number}")
            edge.sql("insert into {s}.edge (id, at) values (20, timestamp'2024-10-27 01:30:00Z')")
            response = edge.run()["hours"]
            edge.check("hours")
        assert "time zone of the session changed" in response["ivm_reason"]
    finally:
        edge.spark.conf.set(setting, before)


def test_what_spark_rejects_is_said_in_its_words(edge):
    edge.model("unknown", "select no_such_column from {s}.edge")
    edge.model("odd", "select id one two from {s}.edge")
    results = edge.dbt("run", ok=False).result.results
    said = {result.node.name: result.message for result in results}
    assert "no_such_column" in said["unknown"]
    assert "PARSE_SYNTAX_ERROR" in said["odd"]
    assert all("\tat " not in text and "Traceback" not in text for text in said.values())
    left = {row["tableName"] for row in edge.sql("show tables in {s}")}
    assert left == {"edge"}
