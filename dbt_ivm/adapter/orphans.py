"""Extents that no model of the project owns: left behind by models renamed, moved or deleted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypedDict

from dbt.adapters.base.relation import BaseRelation

from dbt_ivm.adapter.requests import existing_relation, extent_of, table_name
from dbt_ivm.adapter.spark_facts import SparkFacts, canonical
from dbt_ivm.algebra.nodes import TableName
from dbt_ivm.names import EXTENT_SUFFIX, VIEW_PROPERTY

if TYPE_CHECKING:
    from dbt.adapters.spark.impl import SparkAdapter


class Orphan(TypedDict):
    """An extent, the model it was made for, and the view that still stands on it."""

    extent: BaseRelation
    model: str
    view: BaseRelation | None


def orphans(adapter: SparkAdapter, facts: SparkFacts) -> list[Orphan]:
    """Look through every schema in which the project has models or extents."""
    manifest: Any = adapter.get_macro_resolver()
    nodes = [n for n in manifest.nodes.values() if n.resource_type in ("model", "seed", "snapshot")]
    kept = [n for n in nodes if n.config.get("materialized") == "ivm"]
    extents = {_extent_name(adapter, node) for node in kept}
    relations = {canonical(table_name(_relation(adapter, node))) for node in nodes}
    places = {(n.database, n.schema) for n in nodes}
    places |= {(n.database, n.config.get("ivm_schema")) for n in kept if n.config.get("ivm_schema")}
    found = []
    for database, schema in sorted(places, key=str):
        for relation in adapter.list_relations(database, schema):
            name = canonical(table_name(relation))
            if not _looks_like_extent(name) or _main(name) in extents:
                continue
            model = facts.owner(name)
            if model is not None:
                found.append(Orphan(extent=relation, model=model, view=None))
    for orphan in found:
        orphan["view"] = _view_on(adapter, orphan["extent"], relations)
    return found


def _relation(adapter: SparkAdapter, node: Any) -> BaseRelation:
    return adapter.Relation.create_from(adapter.config, node)


def _extent_name(adapter: SparkAdapter, node: Any) -> TableName:
    schema, catalog = node.config.get("ivm_schema"), node.config.get("ivm_catalog")
    return canonical(table_name(extent_of(_relation(adapter, node), schema, catalog)))


def _looks_like_extent(name: TableName) -> bool:
    return _main(name)[-1].endswith(EXTENT_SUFFIX)


def _main(name: TableName) -> TableName:
    """The main extent that an auxiliary one, `m__ivm_1`, goes with."""
    return (*name[:-1], re.sub(rf"{EXTENT_SUFFIX}_\d+$", EXTENT_SUFFIX, name[-1]))


def _view_on(
    adapter: SparkAdapter, extent: BaseRelation, relations: set[TableName]
) -> BaseRelation | None:
    """The model's view beside its extent, unless another model has taken the name."""
    identifier = str(extent.identifier).removesuffix(EXTENT_SUFFIX)
    view = existing_relation(adapter, extent.incorporate(path={"identifier": identifier}))
    if view is None or canonical(table_name(view)) in relations:
        return None
    return view if VIEW_PROPERTY in (getattr(view, "information", "") or "") else None
