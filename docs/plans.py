"""Prints the planner's own statements into the operator pages, so that they cannot drift.

`python docs/plans.py` rewrites every block between `<!-- plan: name -->` and `<!-- /plan -->`;
`python docs/plans.py --check` changes nothing and fails where a block is out of date.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.plan.analysis import analyze
from dbt_ivm.plan.explain import explain
from dbt_ivm.plan.model import Facts, RefreshPlan, Target
from dbt_ivm.plan.refresh import plan_refresh
from dbt_ivm.plan.settings import Settings
from dbt_ivm.plan.watermark import Types, Watermark
from dbt_ivm.sources.facts import Commit, Head, Mark
from dbt_ivm.sql.catalog import ColumnFact, RelationFact

PAGES = Path(__file__).resolve().parent
BLOCK = re.compile(r"<!-- plan: (\S+) -->\n.*?<!-- /plan -->", re.DOTALL)
OLD, NEW = 3, 5

TABLES = {
    "orders": "id bigint, customer_id int, price decimal(10,2), status string",
    "returns": "id bigint, customer_id int, price decimal(10,2)",
    "customers": "id int, segment string",
}
JOINED = "select o.id, c.segment from shop.orders o join shop.customers c on c.id = o.customer_id"


@dataclass(frozen=True)
class Example:
    """A model, the types Spark would give it, and what to show of its plan."""

    sql: str
    inputs: str
    """Types of keys and aggregate arguments, or of the columns of a bag."""
    outputs: str
    changed: tuple[str, ...] = ("orders",)
    show: str = "apply the change"
    """Title of the step, or `explain` for everything but the statements."""
    built: bool = True


GROUPED = Example(
    "select customer_id, count(*) as orders, sum(price) as revenue\n"
    "from shop.orders group by customer_id",
    "customer_id int, price decimal(10,2), sum decimal(10,2)",
    "customer_id int, orders bigint, revenue decimal(20,2)",
)
EXAMPLES = {
    "linear": Example(
        "select id, upper(status) as status from shop.orders where price > 100",
        "id bigint, status_1 string",
        "id bigint, status string",
    ),
    "union": Example(
        "select customer_id, price from shop.orders\n"
        "union all select customer_id, -price from shop.returns",
        "customer_id_2 int, price_2 decimal(10,2)",
        "customer_id int, price decimal(10,2)",
        changed=("returns",),
    ),
    "one-side": Example(JOINED, "id bigint, segment string", "id bigint, segment string"),
    "both-sides": Example(
        JOINED,
        "id bigint, segment string",
        "id bigint, segment string",
        changed=("orders", "customers"),
    ),
    "combinable": GROUPED,
    "combinable-view": Example(
        GROUPED.sql, GROUPED.inputs, GROUPED.outputs, show="create the view", built=False
    ),
    "combinable-build": Example(
        GROUPED.sql, GROUPED.inputs, GROUPED.outputs, show="build the extent", built=False
    ),
    "extremum": Example(
        "select customer_id, max(price) as dearest from shop.orders group by customer_id",
        "customer_id int, price decimal(10,2), max decimal(10,2)",
        "customer_id int, dearest decimal(10,2)",
    ),
    "key-wise": Example(
        "select customer_id, percentile(price, 0.5) as median\n"
        "from shop.orders group by customer_id",
        "customer_id int, price decimal(10,2), percentile decimal(10,2)",
        "customer_id int, median double",
    ),
    "bag": Example("select status from shop.orders", "status string", "status string"),
    "bag-view": Example(
        "select status from shop.orders",
        "status string",
        "status string",
        show="create the view",
        built=False,
    ),
    "explain": Example(
        "select c.segment, sum(o.price) as revenue\n"
        "from shop.orders o join shop.customers c on c.id = o.customer_id\n"
        "group by c.segment having sum(o.price) > 100 order by revenue desc limit 3",
        "segment string, price decimal(10,2), sum decimal(10,2)",
        "segment string, revenue decimal(20,2)",
        show="explain",
    ),
}


class Shop:
    """A catalog without a database."""

    def relation(self, name: TableName) -> RelationFact:
        return RelationFact(name, _columns(TABLES[name[-1]]))


def _columns(text: str) -> tuple[ColumnFact, ...]:
    pairs = (part.split(" ", 1) for part in text.split(", "))
    return tuple(ColumnFact(name, type_) for name, type_ in pairs)


def plan(example: Example) -> RefreshPlan:
    """The plan of an extent at version 3 of every source, where some stand at 5 by now."""
    catalog, settings = Shop(), Settings()
    analysis = analyze(example.sql, catalog, settings.functions)
    names = analysis.tables or ()
    versions = {name: NEW if name[-1] in example.changed else OLD for name in names}
    commits = tuple(Commit(version, "", "WRITE") for version in range(OLD + 1, NEW + 1))
    heads = {
        name: Head(name, "id", version, "", True, commits) for name, version in versions.items()
    }
    types = Types(_columns(example.inputs), _columns(example.outputs))
    extent = ("shop", "m__ivm")
    watermark = Watermark(
        generation=1,
        fingerprint=analysis.fingerprint,
        shape=analysis.shape,
        marks=tuple(Mark(name, "id", OLD, "") for name in names),
        types=types,
        package="",
    )
    target = Target("view", Head(extent, "id", 1, "", True), watermark)
    facts = Facts(
        model="model.shop.m",
        view=("shop", "m"),
        extent=extent,
        settings=settings,
        heads=heads,
        types=types,
        target=target if example.built else Target(),
    )
    return plan_refresh(analysis, facts, catalog)


def shown(name: str) -> str:
    """The block of one example as Markdown."""
    example = EXAMPLES[name]
    made = plan(example)
    if example.show == "explain":
        language, text = "text", explain(made).split("\n\nStatements")[0]
    else:
        language = "sql"
        text = next(step.sql for step in made.steps if step.title == example.show)
    return f"<!-- plan: {name} -->\n```{language}\n{text}\n```\n<!-- /plan -->"


def main() -> None:
    """Rewrite or check every page."""
    stale = []
    for page in sorted(PAGES.rglob("*.md")):
        old = page.read_text()
        new = BLOCK.sub(lambda found: shown(found[1]), old)
        if new != old:
            stale.append(page.relative_to(PAGES.parent))
            if "--check" not in sys.argv:
                page.write_text(new)
    for page in stale:
        print(f"{page} {'is out of date' if '--check' in sys.argv else 'rewritten'}")
    if stale and "--check" in sys.argv:
        sys.exit("Run `python docs/plans.py`.")


if __name__ == "__main__":
    main()
