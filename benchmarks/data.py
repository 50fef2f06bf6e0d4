"""TPC-H tables: generated once per scale factor, loaded into Delta with change data feed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


def generate(scale: float, folder: Path) -> Path:
    """The folder with one parquet file per table; what is there already is not made again."""
    target = folder / f"sf{scale:g}"
    if all((target / f"{table}.parquet").exists() for table in TABLES):
        return target
    generator = Path(sys.executable).with_name("tpchgen-cli")
    if not generator.exists():
        raise SystemExit(f"{generator} is missing: pip install -e '.[bench]'")
    command = [generator, "parquet", "--scale-factor", f"{scale:g}", "--output-dir", target]
    subprocess.run([*map(str, command), "--overwrite", "--quiet"], check=True)
    return target


def load(spark: SparkSession, files: Path, schema: str) -> dict[str, int]:
    """Replace the tables of `schema` by the generated ones; returns the number of rows of each."""
    spark.sql(f"create schema if not exists {schema}")
    for table in TABLES:
        spark.sql(
            f"create or replace table {schema}.{table} using delta"
            " tblproperties (delta.enableChangeDataFeed = true)"
            f" as select * from parquet.`{files / table}.parquet`"
        )
    return {table: spark.table(f"{schema}.{table}").count() for table in TABLES}


def version(spark: SparkSession, table: str) -> int:
    """The newest version of a Delta table."""
    newest = spark.sql(f"describe history {table} limit 1").first()
    assert newest is not None
    return int(newest["version"])
