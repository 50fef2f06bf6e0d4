"""Relations of `type: ivm`: dbt-spark's, in any catalog."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.base.relation import BaseRelation, Policy
from dbt.adapters.spark.relation import SparkRelation


@dataclass
class IvmIncludePolicy(Policy):
    """A database, where one is given, is the catalog of a three-part name."""

    database: bool = True
    schema: bool = True
    identifier: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class IvmRelation(SparkRelation):
    """`schema.name` in Spark's current catalog, or `catalog.schema.name`."""

    include_policy: Policy = field(default_factory=lambda: IvmIncludePolicy())

    def __post_init__(self) -> None:
        """dbt-spark knows no catalogs and refuses a database here."""

    def render(self) -> str:
        shown = self if self.named_catalog else self.include(database=False)
        return str(BaseRelation.render(shown))

    @property
    def named_catalog(self) -> str | None:
        """The database; dbt-spark lets it repeat the schema, which then means nothing."""
        return self.database if self.database and self.database != self.schema else None
