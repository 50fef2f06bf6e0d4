"""dbt's view of a model as a request to the runner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.relation import BaseRelation

from dbt_ivm.adapter.runner import Request
from dbt_ivm.errors import IvmError
from dbt_ivm.names import EXTENT_SUFFIX, VIEW_PROPERTY
from dbt_ivm.plan.model import Docs
from dbt_ivm.plan.settings import read_settings

if TYPE_CHECKING:
    from dbt.adapters.spark.impl import SparkAdapter


def extent_of(
    relation: BaseRelation, schema: str | None = None, catalog: str | None = None
) -> BaseRelation:
    """`shop.m` keeps its state in `shop.m__ivm`, or with a schema of its own in `s.shop__m__ivm`.

    There the name tells the model's schema, so that models of one name do not meet.
    """
    prefix = f"{relation.schema}__" if schema else ""
    path = {"identifier": f"{prefix}{relation.identifier}{EXTENT_SUFFIX}"}
    path |= {"schema": schema} if schema else {}
    path |= {"database": catalog} if catalog else {}
    extent: BaseRelation = relation.incorporate(path=path, type="table")
    return extent


def extent_in_project(adapter: SparkAdapter, relation: BaseRelation) -> BaseRelation:
    """The extent's name by the settings of the model that has this relation, if there is one.

    A relation is dropped where dbt knows nothing of models, so the project is asked.
    """
    manifest: Any = adapter.get_macro_resolver()
    for node in manifest.nodes.values() if manifest else ():
        if node.resource_type == "model" and node.relation_name == str(relation):
            return extent_of(
                relation, node.config.get("ivm_schema"), node.config.get("ivm_catalog")
            )
    return extent_of(relation)


def existing_relation(adapter: SparkAdapter, relation: BaseRelation) -> BaseRelation | None:
    """What dbt's cache holds under a name."""
    path = relation.path
    return adapter.get_relation(path.database, path.schema, path.identifier)  # type: ignore[arg-type]


def request_of(
    adapter: SparkAdapter,
    model: dict[str, Any],
    relation: BaseRelation,
    sql: str,
    full_refresh: bool,
) -> Request:
    """Collect what dbt knows: settings, descriptions, and what stands under the model's names."""
    config = model["config"]
    name = str(model["unique_id"])
    if model.get("language", "sql") != "sql":
        raise IvmError(f"Model {name} is not SQL; only SQL models can be maintained.")
    if str(relation.identifier).lower().endswith(EXTENT_SUFFIX):
        raise IvmError(
            f"Model {name}: names that end in `{EXTENT_SUFFIX}` belong to the tables in which"
            " models are stored; give the model another name or alias."
        )
    settings = read_settings(dict(config), name)
    extent = extent_of(relation, settings.schema, settings.catalog)
    existing = existing_relation(adapter, relation)
    return Request(
        model=name,
        sql=sql.strip().rstrip(";"),
        view=table_name(relation),
        extent=table_name(extent),
        settings=settings,
        kind=str(existing.type) if existing is not None and existing.type else None,
        view_hash=_view_hash(existing),
        # dbt lists the schemas of the project; an extent in another catalog is asked for itself.
        extent_exists=bool(settings.catalog) or existing_relation(adapter, extent) is not None,
        full_refresh=full_refresh,
        docs=_docs(model, config),
    )


def _view_hash(existing: BaseRelation | None) -> str | None:
    """What the catalog listing says about the view; dbt has read it already."""
    found = re.search(
        re.escape(VIEW_PROPERTY) + r"=(\w+)", getattr(existing, "information", "") or ""
    )
    return found[1] if found else None


def table_name(relation: BaseRelation) -> tuple[str, ...]:
    """A relation as the planner names it."""
    name = (str(relation.schema), str(relation.identifier))
    catalog = getattr(relation, "named_catalog", None)
    return (str(catalog), *name) if catalog else name


def _docs(model: dict[str, Any], config: Any) -> Docs:
    persist = config.get("persist_docs") or {}
    columns = model.get("columns") or {}
    return Docs(
        relation=(model.get("description") or None) if persist.get("relation") else None,
        columns=tuple(
            (column["name"], column["description"])
            for column in columns.values()
            if column.get("description")
        )
        if persist.get("columns")
        else (),
    )
