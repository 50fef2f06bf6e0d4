"""A dbt project on the shared Spark, with sources to change and the judge to ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner, dbtRunnerResult
from pyspark.sql import DataFrame, Row, SparkSession, functions

from dbt_ivm.adapter.runner import Request
from dbt_ivm.adapter.spark_facts import Pins, SparkFacts
from dbt_ivm.names import CLOCK, STAMP
from dbt_ivm.plan.analysis import analyze
from dbt_ivm.plan.layout import extent_of
from dbt_ivm.plan.model import Docs
from dbt_ivm.plan.settings import Settings
from dbt_ivm.plan.watermark import decode
from dbt_ivm.sources.facts import Head
from dbt_ivm.sources.formats import classify
from dbt_ivm.sources.reader import SourceReader
from dbt_ivm.sql.dialect import render, table
from dbt_ivm.sql.functions import Functions
from dbt_ivm.sql.pin import pin
from dbt_ivm.sql.render import to_query


class Shop:
    """One schema: Delta sources `s_*` made by the test, and the models of a dbt project."""

    def __init__(
        self, spark: SparkSession, folder: Path, schema: str, threads: int = 4, **more: Any
    ) -> None:
        self.spark, self.folder, self.schema = spark, folder, schema
        spark.sql(f"create schema if not exists {schema}")
        (folder / "models").mkdir(parents=True)
        self._write("dbt_project.yml", {"name": "shop", "version": "1.0", "profile": "shop"})
        target = {"type": "ivm", "method": "session", "schema": schema, "threads": threads, **more}
        self._write("profiles.yml", {"shop": {"target": "t", "outputs": {"t": target}}})

    def _write(self, name: str, content: Any) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))

    def sql(self, text: str) -> list[Row]:
        """Run a statement; `{s}` is the schema."""
        return self.spark.sql(text.replace("{s}", self.schema)).collect()

    def model(self, name: str, sql: str, **config: Any) -> None:
        settings = {"materialized": "ivm", **config}
        listed = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        body = sql.replace("{s}", self.schema)
        self._write(f"models/{name}.sql", f"{{{{ config({listed}) }}}}\n{body}\n")

    def properties(self, content: Any) -> None:
        self._write("models/schema.yml", {"version": 2, **content})

    def dbt(self, *arguments: str, ok: bool = True) -> dbtRunnerResult:
        """Run a dbt command in this process."""
        places = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        places += ["--target-path", str(self.folder / "target"), "--log-path", str(self.folder)]
        result = dbtRunner().invoke([*arguments, *places])
        if ok and not result.success:
            messages = [
                str(getattr(r, "message", r)) for r in getattr(result.result, "results", [])
            ]
            raise AssertionError(f"dbt {arguments} failed: {result.exception} {messages}")
        return result

    def run(self, *arguments: str) -> dict[str, dict[str, Any]]:
        """`dbt run`; per model what `run_results.json` says about its refresh."""
        self.dbt("run", *arguments)
        return self.responses()

    def responses(self) -> dict[str, dict[str, Any]]:
        results = json.loads((self.folder / "target/run_results.json").read_text())["results"]
        return {r["unique_id"].split(".")[-1]: r["adapter_response"] for r in results}

    def compiled(self, name: str) -> str:
        return (self.folder / f"target/compiled/shop/models/{name}.sql").read_text()

    def request(self, name: str, **changes: Any) -> Request:
        """A refresh of a model that dbt has built, as dbt would hand it to the runner."""
        given = {"model": name, "sql": self.compiled(name), "view": (self.schema, name)}
        given |= {"extent": (self.schema, f"{name}__ivm"), "settings": Settings(), "kind": "view"}
        given |= {"view_hash": None, "extent_exists": True, "full_refresh": False, "docs": Docs()}
        return Request(**{**given, **changes})

    def check(self, *names: str, extent: tuple[str, ...] | None = None) -> None:
        """The judge: the view equals its SQL at the watermark, the extent equals a rebuilt one."""
        for name in names:
            self._check(name, extent or (self.schema, f"{name}__ivm"))

    def _check(self, name: str, extent: tuple[str, ...]) -> None:
        facts = SparkFacts(lambda sql: [r.asDict() for r in self.sql(sql)], Pins())
        target = facts.target(extent, "view", None, exists=True)
        mark = target.watermark
        assert mark is not None, target.problem
        versions = {m.table: m.version for m in mark.marks}
        sql = self.compiled(name)
        expected = self.spark.sql(pin(sql, facts, versions.get))
        shown = self.spark.table(f"{self.schema}.`{name}`")
        plain = self.spark.sql(sql)
        assert [(f.name, f.dataType.simpleString()) for f in shown.schema] == [
            (f.name, f.dataType.simpleString()) for f in plain.schema
        ], f"{name}: the view's columns differ from the query's"
        analysis = analyze(sql, facts, Functions())
        stamps = analysis.maintainable.stamps if analysis.maintainable else ()
        _same_rows(shown.drop(*stamps), expected.drop(*stamps), name)
        if analysis.maintainable is None:
            return
        layout, _ = extent_of(analysis.maintainable, mark.types, extent)
        heads = {
            m.table: Head(
                m.table,
                m.id,
                m.version,
                m.timestamp,
                has_feed=True,
                format=CLOCK if m.table[0] == CLOCK else facts.relation(m.table).provider,
            )
            for m in mark.marks
        }
        reader = SourceReader({t: classify(h, None) for t, h in heads.items()})
        rebuilt = self.spark.sql(render(to_query(layout.rebuilt(), reader)))
        stored = self.spark.table(render(table(extent))).drop(STAMP)
        _same_rows(stored, rebuilt.select(*[f"`{c}`" for c in stored.columns]), f"extent of {name}")


def _same_rows(actual: DataFrame, expected: DataFrame, what: str) -> None:
    """Bag equality in one query: signed rows of both sides must cancel, as EXCEPT ALL both ways."""
    names = [f"c{i}" for i in range(len(actual.columns))]
    signed = [
        side.toDF(*names).withColumn("sign", functions.lit(sign))
        for side, sign in ((actual, 1), (expected, -1))
    ]
    rest = signed[0].unionAll(signed[1]).groupBy(*names).agg(functions.sum("sign").alias("n"))
    different = rest.where("n <> 0").limit(6).collect()
    assert not different, f"{what} (+ extra, - missing): {different}"


def watermark_of(shop: Shop, name: str) -> Any:
    """The decoded watermark of a model's newest commit that has one."""
    for row in shop.sql(f"describe history {{s}}.{name}__ivm"):
        found = decode(row["userMetadata"])
        if found:
            return found
    return None
