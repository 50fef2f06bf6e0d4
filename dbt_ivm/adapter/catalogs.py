"""What stands in a schema of a catalog other than the session's, which dbt-spark does not list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import RelationType
from dbt_common.exceptions import DbtRuntimeError

from dbt_ivm.names import VIEW_PROPERTY
from dbt_ivm.sources.format import Ask
from dbt_ivm.sql.statements import show_in, show_properties

# Catalogs without views, such as Iceberg's `hadoop`, refuse to list them.
_NOTHING = ("SCHEMA_NOT_FOUND", "MISSING_CATALOG_ABILITY", "NoSuchNamespace")


def relations_in(ask: Ask, place: BaseRelation) -> list[BaseRelation]:
    """Tables and views of `catalog.schema`, in the words that dbt-spark uses for its own."""
    schema = (str(place.database), str(place.schema))
    found = []
    for row in _rows(ask, "TABLE EXTENDED", schema):
        told = {"information": row["information"], "is_iceberg": "iceberg" in row["information"]}
        found.append(_relation(place, row["tableName"], RelationType.Table, **told))
    for row in _rows(ask, "VIEWS", schema):
        properties = {
            p["key"]: p["value"] for p in ask(show_properties((*schema, row["viewName"])))
        }
        information = f"Type: VIEW\n{VIEW_PROPERTY}={properties.get(VIEW_PROPERTY, '')}\n"
        found.append(_relation(place, row["viewName"], RelationType.View, information=information))
    return found


def _rows(ask: Ask, kind: str, schema: tuple[str, ...]) -> Iterator[Any]:
    try:
        yield from ask(show_in(kind, schema))
    except DbtRuntimeError as error:
        if not any(sign in str(error) for sign in _NOTHING):
            raise


def _relation(place: BaseRelation, name: str, kind: RelationType, **told: Any) -> BaseRelation:
    path = {"database": place.database, "schema": place.schema, "identifier": name}
    relation: BaseRelation = type(place).create(**path, type=kind, **told)
    return relation
