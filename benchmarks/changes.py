"""Change streams: seeded inserts, updates and deletes of orders, lines, customers and parts.

A batch changes a given number of orders with their lines, and a fiftieth as many customers and
parts, spread evenly over the keys. Which rows, is a hash of key, batch and seed: the same batch on
the same data is the same change on any machine, and needs no state.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession

from benchmarks.data import version

Range = tuple[int, int]
"""First and last version of a change, both included."""

COPIES = 10_000_000_000  # above every generated key; copies of batch n have keys from n times this
_OTHERS = 50  # orders changed per customer or part changed
_FEWEST = 6
_PRIORITIES = "array('1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW')"
_SEGMENTS = "array('AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY')"
_CONTAINERS = "array('MED BOX', 'SM CASE', 'LG PKG', 'JUMBO JAR')"


@dataclass(frozen=True)
class Batch:
    """One change of the sources: `orders` is how many orders it inserts, updates and deletes."""

    number: int
    orders: int
    seed: int = 1


class Sample:
    """Conditions on a key that pick about `wanted` of `rows` rows, apart for each kind of change.

    Four in ten are copied under a new key, three updated, three deleted.
    """

    def __init__(self, key: str, wanted: int, rows: int, batch: Batch) -> None:
        self._place = f"pmod(xxhash64({key}, {batch.number}, {batch.seed}), {COPIES})"
        self._share = min(1.0, max(wanted, _FEWEST) / rows)
        # Copies of copies could meet under one key.
        self._original = f"{key} < {COPIES}"
        self.new_key = f"{key} + {batch.number * COPIES}"

    @property
    def copied(self) -> str:
        return f"{self._between(0.0, 0.4)} and {self._original}"

    @property
    def updated(self) -> str:
        return self._between(0.4, 0.7)

    @property
    def deleted(self) -> str:
        return self._between(0.7, 1.0)

    def pick(self, choices: str) -> str:
        """One element of an array, another one for another key."""
        return f"element_at({choices}, cast({self._place} % size({choices}) as int) + 1)"

    def _between(self, low: float, high: float) -> str:
        bounds = [int(edge * self._share * COPIES) for edge in (low, high)]
        return f"{self._place} >= {bounds[0]} and {self._place} < {bounds[1]}"


def statements(schema: str, rows: dict[str, int], batch: Batch) -> list[tuple[str, str]]:
    """The commits of a batch in order, as (table, SQL); `rows` is the size of each table."""
    others = batch.orders // _OTHERS
    orders = Sample("o_orderkey", batch.orders, rows["orders"], batch)
    lines = Sample("l_orderkey", batch.orders, rows["orders"], batch)
    customers = Sample("c_custkey", others, rows["customer"], batch)
    parts = Sample("p_partkey", others, rows["part"], batch)
    offers = Sample("ps_partkey", others, rows["part"], batch)
    edits = [
        ("orders", _copies("o_orderkey", orders, "o_orderstatus", "'O'")),
        ("lineitem", _copies("l_orderkey", lines, "l_quantity", "l_quantity + 1")),
        (
            "orders",
            (
                f"update {{table}} set o_totalprice = o_totalprice + 10.5, o_orderstatus ="
                f" if(o_orderstatus = 'F', 'O', 'F'), o_orderpriority = {orders.pick(_PRIORITIES)}"
                f" where {orders.updated}"
            ),
        ),
        (
            "lineitem",
            (
                "update {table} set l_quantity = l_quantity + 2,"
                " l_extendedprice = l_extendedprice + 20.25, l_returnflag = 'R',"
                f" l_receiptdate = date_add(l_receiptdate, 4) where l_linenumber < 4"
                f" and {lines.updated}"
            ),
        ),
        ("lineitem", f"delete from {{table}} where {lines.deleted}"),
        ("orders", f"delete from {{table}} where {orders.deleted}"),
        ("customer", _copies("c_custkey", customers, "c_acctbal", "c_acctbal + 50")),
        (
            "customer",
            (
                f"update {{table}} set c_acctbal = c_acctbal - 100,"
                f" c_mktsegment = {customers.pick(_SEGMENTS)} where {customers.updated}"
            ),
        ),
        # Every third customer never orders: those can go without leaving orders behind.
        ("customer", f"delete from {{table}} where c_custkey % 3 = 0 and {customers.deleted}"),
        ("part", _copies("p_partkey", parts, "p_size", "p_size + 1")),
        ("partsupp", _copies("ps_partkey", offers, "ps_supplycost", "ps_supplycost + 1")),
        (
            "part",
            (
                "update {table} set p_brand = 'Brand#23',"
                f" p_container = {parts.pick(_CONTAINERS)} where {parts.updated}"
            ),
        ),
    ]
    return [(table, sql.format(table=f"{schema}.{table}")) for table, sql in edits]


def _copies(key: str, sample: Sample, column: str, value: str) -> str:
    """Insert the copied rows under their new key, with one more column edited."""
    return (
        f"insert into {{table}} by name select * except ({key}, {column}),"
        f" {sample.new_key} as {key}, {value} as {column} from {{table}} where {sample.copied}"
    )


def apply(spark: SparkSession, schema: str, rows: dict[str, int], batch: Batch) -> dict[str, Range]:
    """Change the sources; returns the new versions of each table that changed."""
    edits = statements(schema, rows, batch)
    before = {table: version(spark, f"{schema}.{table}") for table, _ in edits}
    for _, sql in edits:
        spark.sql(sql)
    after = {table: version(spark, f"{schema}.{table}") for table in before}
    return {t: (before[t] + 1, after[t]) for t in before if after[t] > before[t]}


def changed_rows(spark: SparkSession, schema: str, ranges: dict[str, Range]) -> dict[str, int]:
    """Rows inserted, updated and deleted in each table; an update counts once."""
    counts = {}
    for table, (first, last) in ranges.items():
        feed = spark.sql(f"select * from table_changes('{schema}.{table}', {first}, {last})")
        counts[table] = feed.where("_change_type <> 'update_preimage'").count()
    return counts
