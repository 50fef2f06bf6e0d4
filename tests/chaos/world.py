"""What chaos happens to: a chain of models of every kind, and a writer that never rests."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from dbt_common.exceptions import DbtRuntimeError

MODELS = {
    "joined": "select c.segment, o.customer, o.v from {s}.orders o"
    " join {s}.customers c on c.id = o.customer",
    "totals": "select segment, count(*) as n, sum(v) as v, max(v) as top"
    " from {{ ref('joined') }} group by segment",
    "overall": "select count(*) as segments, sum(n) as n, max(v) as v from {{ ref('totals') }}",
    "spread": "select customer, count(distinct v) as different, min(v) as least"
    " from {s}.orders group by customer",
    "ranked": "select id, customer, v, row_number() over (partition by customer order by v, id)"
    " as place from {s}.orders",
    "asleep": "select id, segment from {s}.customers c"
    " where not exists (select 1 from {s}.orders o where o.customer = c.id)",
}
ORDERS = """
create table {s}.orders using delta as
select cast(id as int) as id, cast(id % 12 as int) as customer, cast(id % 50 as int) as v
from range(120)
"""
CUSTOMERS = """
create table {s}.customers using delta as
select cast(id as int) as id, if(id = 3, null, concat('s', id % 4)) as segment from range(15)
"""
SOURCES = (ORDERS, CUSTOMERS)


def write_project(folder: Path, schema: str, target: dict[str, Any], **project: Any) -> None:
    """A dbt project with all models, each with the consistency test."""
    outputs = {"t": {"type": "ivm", "schema": schema, "threads": 4, **target}}
    flags = {"send_anonymous_usage_stats": False}
    about = {"name": "shop", "version": "1.0", "profile": "shop", "flags": flags}
    tested = [{"name": name, "data_tests": ["ivm_consistent"]} for name in MODELS]
    files = {
        "dbt_project.yml": {**about, **project},
        "profiles.yml": {"shop": {"target": "t", "outputs": outputs}},
        "models/schema.yml": {"version": 2, "models": tested},
    }
    for name, sql in MODELS.items():
        body = sql.replace("{s}", schema)
        files[f"models/{name}.sql"] = f"{{{{ config(materialized='ivm') }}}}\n{body}\n"
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))


def change(dice: random.Random) -> str:
    """A statement that changes the sources, or only their files; `{s}` is the schema."""
    n, customer = dice.randrange(1000), dice.randrange(15)
    rows = ", ".join(
        f"({dice.randrange(1000)}, {dice.choice([customer, 'null', 14])}, {dice.randrange(50)})"
        for _ in range(dice.randrange(1, 6))
    )
    merge = (
        f"merge into {{s}}.orders t using (select {n} as id, {customer} as customer, 7 as v) d"
        " on t.id = d.id when matched then delete when not matched then insert *"
    )
    return dice.choice(
        [
            f"insert into {{s}}.orders values {rows}",
            f"insert into {{s}}.orders values {rows}, {rows}",  # twice, for bags
            f"delete from {{s}}.orders where id % 23 = {n % 23}",
            f"update {{s}}.orders set v = v + 1 where customer = {customer}",
            f"update {{s}}.orders set customer = {customer} where id % 31 = {n % 31}",
            f"update {{s}}.customers set segment = 's{n % 5}' where id = {customer}",
            f"delete from {{s}}.customers where id = {customer}",
            f"insert into {{s}}.customers values ({customer}, 's{n % 5}')",
            merge,
            "optimize {s}.orders",
            "insert overwrite {s}.customers select distinct * from {s}.customers",
        ]
    )


class Writer:
    """A second user who changes the sources for as long as a block lasts."""

    def __init__(self, send: Callable[[str], object], schema: str, dice: random.Random) -> None:
        self.changes = 0
        self._send, self._schema, self._dice = send, schema, dice
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._failure: BaseException | None = None

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _write(self) -> None:
        try:
            while not self._stop.wait(0.3):
                self._send(change(self._dice).replace("{s}", self._schema))
                self.changes += 1
        except DbtRuntimeError as error:
            self._failure = error
