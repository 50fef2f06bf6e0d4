"""The floor: for some models the best MERGE we can write by hand, sent straight to Spark.

Nothing is planned, looked up or made safe against a second run; the versions are given. This is
what the table format itself asks for, and no maintenance can be cheaper by much.
"""

from __future__ import annotations

from datetime import datetime, timezone
from time import perf_counter

from pyspark.sql import SparkSession

from benchmarks.changes import Range
from benchmarks.sides import ModelRun, SideRun
from benchmarks.spark import Meter, Work

SCHEMA = "bench_floor"
_SIGN = "if(_change_type in ('insert', 'update_postimage'), 1, -1) as w"

MERGES = {
    # An aggregate of one table: the signed changes, added up.
    "priority_totals": """
merge into {floor}.priority_totals t using (
  select o_orderpriority, date_trunc('month', o_orderdate) as month,
    sum(w) as orders, sum(w * o_totalprice) as revenue
  from {orders_changes}
  group by all
  having sum(w) <> 0 or sum(w * o_totalprice) <> 0
) s on t.priority = s.o_orderpriority and t.month = s.month
when matched and t.orders + s.orders = 0 then delete
when matched then update set orders = t.orders + s.orders, revenue = t.revenue + s.revenue
when not matched then insert (priority, month, orders, revenue)
  values (s.o_orderpriority, s.month, s.orders, s.revenue)""",
    # An aggregate of a join. The terms are ordered so that the largest table is read as it is now.
    "revenue_by_nation": """
merge into {floor}.revenue_by_nation t using (
  with signed as (
    select w, l_extendedprice, l_quantity, o_orderdate, c_nationkey
    from {lineitem_changes}
    join {orders_old} on o_orderkey = l_orderkey join {customer_old} on c_custkey = o_custkey
    union all
    select w, l_extendedprice, l_quantity, o_orderdate, c_nationkey
    from {tpch}.lineitem
    join {orders_changes} on o_orderkey = l_orderkey join {customer_old} on c_custkey = o_custkey
    union all
    select w, l_extendedprice, l_quantity, o_orderdate, c_nationkey
    from {tpch}.lineitem
    join {tpch}.orders on o_orderkey = l_orderkey join {customer_changes} on c_custkey = o_custkey
  )
  select r_name, n_name, date_trunc('month', o_orderdate) as month,
    sum(w) as n, sum(w * l_extendedprice) as revenue, sum(w * l_quantity) as quantity
  from signed
  join {tpch}.nation on n_nationkey = c_nationkey
  join {tpch}.region on r_regionkey = n_regionkey
  group by all
  having sum(w) <> 0 or sum(w * l_extendedprice) <> 0 or sum(w * l_quantity) <> 0
) s on t.region = s.r_name and t.nation = s.n_name and t.month = s.month
when matched and t.line_items + s.n = 0 then delete
when matched then update set line_items = t.line_items + s.n,
  revenue = t.revenue + s.revenue, quantity = t.quantity + s.quantity
when not matched then insert (region, nation, month, line_items, revenue, quantity)
  values (s.r_name, s.n_name, s.month, s.n, s.revenue, s.quantity)""",
    # A join without aggregate: the orders touched are read again, lines that left are deleted.
    "fct_order_lines": """
merge into {floor}.fct_order_lines t using (
  with touched as (
    select o_orderkey as k from {orders_changes} union select l_orderkey from {lineitem_changes}
  ),
  now as (
    select f.* from ({fct_order_lines}) f left semi join touched on k = f.order_id
  )
  select now.*, false as gone from now
  union all
  select l_orderkey, l_linenumber, null, null, null, null, null, null, null, null, null, true
  from {lineitem_changes}
  left anti join now on now.order_id = l_orderkey and now.line_number = l_linenumber
  where _change_type = 'delete'
) s on t.order_id = s.order_id and t.line_number = s.line_number
when matched and s.gone then delete
when matched then update set *
when not matched and not s.gone then insert *""",
}


class Floor:
    """Tables with the rows of some models, kept up to date by bare statements."""

    def __init__(
        self, spark: SparkSession, meter: Meter, schema: str, models: tuple[str, ...]
    ) -> None:
        self._spark, self._meter, self._schema = spark, meter, schema
        self.models = tuple(name for name in MERGES if name in models)
        self._queries: dict[str, str] = {}

    def build(self, queries: dict[str, str]) -> None:
        """Create the tables; `queries` is the compiled SQL of each model."""
        self._queries = queries
        self._spark.sql(f"create schema if not exists {SCHEMA}")
        for name in self.models:
            self._spark.sql(
                f"create or replace table {SCHEMA}.{name} using delta"
                f" tblproperties (delta.enableChangeDataFeed = false) as {queries[name]}"
            )

    def run(self, changes: dict[str, Range]) -> SideRun:
        """Send the statement of each model, if one of the tables that it reads changed."""
        total, runs = Work(), {}
        for name in self.models:
            runs[name] = self._merge(name, changes)
            total.add(runs[name].work or Work())
        return SideRun(sum(run.seconds for run in runs.values()), total, runs)

    def _merge(self, name: str, changes: dict[str, Range]) -> ModelRun:
        if not changes:
            return ModelRun(0.0, Work(), {"statements": 0})
        sql = MERGES[name].format(**self._places(changes))
        self._meter.skip()
        begun, started = datetime.now(timezone.utc), perf_counter()
        self._spark.sql(sql)
        seconds = perf_counter() - started
        self._meter.read()
        work = self._meter.between(begun, datetime.now(timezone.utc))
        return ModelRun(seconds, work, {"statements": 1})

    def _places(self, changes: dict[str, Range]) -> dict[str, str]:
        """What the statements name: tables now, before the change, and the signed change."""
        places = {"floor": SCHEMA, "tpch": self._schema, **self._queries}
        for table in ("orders", "lineitem", "customer"):
            name = f"{self._schema}.{table}"
            if table not in changes:
                places[f"{table}_old"] = name
                nothing = f"(select *, 0 as w, '' as _change_type from {name} where false)"
                places[f"{table}_changes"] = nothing
                continue
            first, last = changes[table]
            feed = f"table_changes('{name}', {first}, {last})"
            places[f"{table}_old"] = f"(select * from {name} version as of {first - 1})"
            places[f"{table}_changes"] = f"(select *, {_SIGN} from {feed})"
        return places
