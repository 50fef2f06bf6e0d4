"""The judge: two tables hold the same bag of rows, or how many differ."""

from __future__ import annotations

from pyspark.sql import SparkSession, functions


def differences(spark: SparkSession, actual: str, expected: str) -> int:
    """Rows of `EXCEPT ALL` in both directions, counted in one query over signed rows."""
    left, right = spark.table(actual), spark.table(expected)
    if left.dtypes != right.dtypes:
        raise SystemExit(f"{actual} and {expected} differ in columns: {left.dtypes} {right.dtypes}")
    names = [f"c{i}" for i in range(len(left.columns))]
    signed = left.toDF(*names).withColumn("sign", functions.lit(1))
    signed = signed.unionAll(right.toDF(*names).withColumn("sign", functions.lit(-1)))
    rest = signed.groupBy(*names).agg(functions.abs(functions.sum("sign")).alias("n"))
    counted = rest.agg(functions.coalesce(functions.sum("n"), functions.lit(0))).first()
    return int(counted[0]) if counted else 0
