"""A dbt project on the shared Spark, with sources to change and the judge to ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner, dbtRunnerResult
from pyspark.sql import Row, SparkSession

from dbt_ivm.adapter.runner import Request
from dbt_ivm.plan.model import Docs
from dbt_ivm.plan.settings import Settings
from dbt_ivm.plan.watermark import decode
from tests import judge
from tests.session import Session


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
        session = Session(self.spark, own=False)
        for name in names:
            stored = extent or (self.schema, f"{name}__ivm")
            judge.check(session, self.compiled(name), (self.schema, name), stored)


def watermark_of(shop: Shop, name: str) -> Any:
    """The decoded watermark of a model's newest commit that has one."""
    for row in shop.sql(f"describe history {{s}}.{name}__ivm"):
        found = decode(row["userMetadata"])
        if found:
            return found
    return None
