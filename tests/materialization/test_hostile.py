"""Models with names that bite, on Spark; and what of the profile nobody may read elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

from tests.shop import Shop

NAMES = ("order`s", "a.b", "semi;colon", "it's", "ünï 😀", "select", "__ivm_count", "x" * 200)
MAPPED = "tblproperties ('delta.columnMapping.mode' = 'name')"
SECRET = "open-sesame-1001"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def test_columns_and_literals_with_anything_in_them(shop):
    listed = ", ".join(f"{quoted(name)} string" for name in NAMES)
    shop.sql(f"create table {{s}}.odd (id int, {listed}) using delta {MAPPED}")
    value = "'); drop table {s}.odd; -- \\\\ `\\n"
    literal = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    row = ", ".join([literal] * len(NAMES))
    shop.sql(f"insert into {{s}}.odd values (1, {row}), (2, {row}), (3, {row})")
    shown = ", ".join(quoted(name) for name in NAMES)
    where = f"where {quoted(NAMES[0])} = {literal}"
    shop.model("bag", f"select {shown}, id from {{s}}.odd {where}")
    counted = ", ".join(f"count({quoted(name)}) as {quoted(name)}" for name in NAMES[1:])
    first = quoted(NAMES[0])
    shop.model("grouped", f"select {first}, {counted} from {{s}}.odd {where} group by {first}")
    shop.run()
    # With a backtick in a name Delta's own UPDATE and DELETE fail on a table with a change feed.
    shop.sql(f"insert into {{s}}.odd values (4, {row}), (5, {', '.join(['null'] * len(NAMES))})")
    done = shop.run()
    assert {response["ivm_strategy"] for response in done.values()} == {"incremental"}
    assert (done["bag"]["rows_inserted"], done["grouped"]["rows_updated"]) == (1, 1)
    shop.check("bag", "grouped")


def test_a_model_cannot_take_the_name_of_an_extent(shop):
    shop.sql("create table {s}.src using delta as select id from range(3)")
    shop.model("m", "select count(*) as n from {s}.src")
    shop.run()
    shop.model("m__ivm", "select 1 as one")
    result = shop.dbt("run", "--select", "m__ivm", ok=False).result.results[0]
    assert "names that end in `__ivm` belong to the tables in which models are stored" in (
        result.message
    )
    shop.check("m")


def test_nothing_of_the_profile_is_told(spark, tmp_path):
    parameters = {"spark.hadoop.fs.s3a.secret.key": SECRET}
    schema = "t_profile"
    shop = Shop(
        spark, tmp_path / "project", schema, token=SECRET, server_side_parameters=parameters
    )
    try:
        shop.sql("create table {s}.src using delta as select id from range(3)")
        shop.model("m", "select count(*) as n from {s}.src")
        shop.model("wrong", "select nothing from {s}.src")
        shop.properties({"models": [{"name": "m", "data_tests": ["ivm_consistent"]}]})
        shop.dbt("build", "--debug", ok=False)
        shop.dbt("run-operation", "ivm_explain", "--args", "{model: m}")
        location = shop.sql("describe detail {s}.m__ivm")[0]["location"].removeprefix("file:")
        written = [*shop.folder.rglob("*"), *Path(location, "_delta_log").rglob("*")]
        texts = {
            path.name: path.read_bytes()
            for path in written
            if path.is_file() and path.name != "profiles.yml"
        }
        assert {"dbt.log", "manifest.json", "run_results.json"} <= set(texts)
        assert [name for name, text in texts.items() if re.search(SECRET.encode(), text)] == []
        assert SECRET not in str(shop.sql("describe history {s}.m__ivm"))
    finally:
        shop.sql("drop schema {s} cascade")
