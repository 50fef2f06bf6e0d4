"""A model's compiled SQL outside its own run, for explain and the consistency test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt_ivm.errors import IvmError

if TYPE_CHECKING:
    from dbt.adapters.spark.impl import SparkAdapter


def compiled_model(adapter: SparkAdapter, name: str) -> tuple[Any, str]:
    """The node and SQL of an `ivm` model, by model name, unique id or relation."""
    from dbt.compilation import Compiler

    manifest: Any = adapter.get_macro_resolver()
    models = [
        node
        for node in manifest.nodes.values()
        if node.resource_type == "model" and node.config.materialized == "ivm"
    ]
    found = [n for n in models if name in (n.name, n.unique_id, n.alias, n.relation_name)]
    if len(found) != 1:
        known = ", ".join(sorted(n.name for n in models)) or "none"
        raise IvmError(f"There is no single ivm model `{name}`; ivm models: {known}.")
    node = found[0]
    if not getattr(node, "compiled", False):
        node = Compiler(adapter.config).compile_node(node, manifest, {}, write=False)
    return node, str(node.compiled_code)
