"""Prints what the planner says into the pages, so that they cannot drift.

`python docs/plans.py` rewrites every block between `<!-- plan: name -->` and `<!-- /plan -->`;
`python docs/plans.py --check` changes nothing and fails where a block is out of date.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from dbt_ivm.plan.explain import explain
from docs.planning import APPLY, Tables, planned
from docs.support import BLOCKS

PAGES = Path(__file__).resolve().parent
BLOCK = re.compile(r"<!-- plan: (\S+) -->\n.*?<!-- /plan -->", re.DOTALL)

SHOP = Tables(
    {
        "orders": "id bigint, customer_id int, price decimal(10,2), status string",
        "returns": "id bigint, customer_id int, price decimal(10,2)",
        "customers": "id int, segment string",
    }
)


@dataclass(frozen=True)
class Example:
    """A model, which of its sources changed, and what to show of its plan."""

    sql: str
    outputs: str = ""
    """Types of the model's columns, where they matter."""
    changed: tuple[str, ...] = ("orders",)
    show: str = APPLY
    """Title of the step, or `explain` for everything but the statements."""
    built: bool = True


JOINED = Example(
    "select o.id, c.segment from shop.orders o join shop.customers c on c.id = o.customer_id"
)
GROUPED = Example(
    "select customer_id, count(*) as orders, sum(price) as revenue\n"
    "from shop.orders group by customer_id",
    "customer_id int, orders bigint, revenue decimal(20,2)",
)
BAG = Example("select status from shop.orders")
NEWEST = Example(
    "select id, customer_id, price from (select *, row_number() over (\n"
    "  partition by customer_id order by id desc) as n from shop.orders) q where n = 1"
)
SEMI = Example(
    "select segment from shop.customers c\n"
    "where exists (select 1 from shop.orders o where o.customer_id = c.id)"
)
EXAMPLES = {
    "linear": Example("select id, upper(status) as status from shop.orders where price > 100"),
    "union": Example(
        "select customer_id, price from shop.orders\n"
        "union all select customer_id, -price from shop.returns",
        changed=("returns",),
    ),
    "one-side": JOINED,
    "both-sides": replace(JOINED, changed=("orders", "customers")),
    "combinable": GROUPED,
    "combinable-view": replace(GROUPED, show="create the view", built=False),
    "combinable-build": replace(GROUPED, show="build the extent", built=False),
    "extremum": Example(
        "select customer_id, max(price) as dearest from shop.orders group by customer_id"
    ),
    "key-wise": Example(
        "select customer_id, percentile(price, 0.5) as median\n"
        "from shop.orders group by customer_id"
    ),
    "nested": Example(
        "select n, count(*) as customers\n"
        "from (select customer_id, count(*) as n from shop.orders group by customer_id) q\n"
        "group by n"
    ),
    "parted": Example(
        "select customer_id, max(total) as dearest_status\n"
        "from (select customer_id, status, sum(price) as total\n"
        "      from shop.orders group by customer_id, status) q\n"
        "group by customer_id"
    ),
    "bag": BAG,
    "bag-view": replace(BAG, show="create the view", built=False),
    "semi": SEMI,
    "semi-explained": replace(SEMI, show="explain"),
    "outer": Example(
        "select o.id, c.segment\n"
        "from shop.orders o left join shop.customers c on c.id = o.customer_id",
        changed=("customers",),
    ),
    "correlated": Example(
        "select id, price from shop.orders o\n"
        "where price > (select avg(price) from shop.orders i where i.customer_id = o.customer_id)",
        show="explain",
    ),
    "domain": Example(
        "select id, (select count(*) from shop.returns r where r.price < o.price) as cheaper\n"
        "from shop.orders o",
        show="explain",
    ),
    "except": Example(
        "select customer_id from shop.orders except select customer_id from shop.returns"
    ),
    "except-explained": Example(
        "select customer_id from shop.orders except select customer_id from shop.returns",
        show="explain",
    ),
    "window": NEWEST,
    "window-explained": replace(NEWEST, show="explain"),
    "explain": Example(
        "select c.segment, sum(o.price) as revenue\n"
        "from shop.orders o join shop.customers c on c.id = o.customer_id\n"
        "where o.status <> 'cancelled' and c.segment is not null\n"
        "group by c.segment having sum(o.price) > 100 order by revenue desc limit 3",
        show="explain",
    ),
}


def shown(name: str) -> str:
    """The block of one name as Markdown: an example's plan, or a table of supported SQL."""
    body = BLOCKS[name]() if name in BLOCKS else _example(EXAMPLES[name])
    return f"<!-- plan: {name} -->\n{body}\n<!-- /plan -->"


def _example(example: Example) -> str:
    made = planned(example.sql, SHOP, frozenset(example.changed), example.outputs, example.built)
    if example.show == "explain":
        text = explain(made.plan).split("\n\nStatements")[0]
        return f"```text\n{text}\n```"
    return f"```sql\n{made.step(example.show)}\n```"


def renewed(page: Path) -> str:
    """The text of a page with every block as the planner would have it."""
    return BLOCK.sub(lambda found: shown(found[1]), page.read_text())


def main() -> None:
    """Rewrite or check every page."""
    check = "--check" in sys.argv
    stale = False
    for page in sorted(PAGES.rglob("*.md")):
        text = renewed(page)
        if text != page.read_text():
            stale = True
            print(f"{page.relative_to(PAGES.parent)} {'is out of date' if check else 'rewritten'}")
            if not check:
                page.write_text(text)
    if stale and check:
        sys.exit("Run `python docs/plans.py`.")


if __name__ == "__main__":
    main()
