"""Every rule and every registered aggregate has a model in the laws, new ones included."""

from __future__ import annotations

import pytest

from dbt_ivm.aggregates.registry import REGISTRY
from dbt_ivm.algebra.nodes import Node
from dbt_ivm.delta.rules import rule
from dbt_ivm.plan.analysis import analyze
from dbt_ivm.sql.functions import Functions
from tests.laws.data import SCHEMA
from tests.laws.engine import DictCatalog, Engine
from tests.laws.models import ARGUMENTS, GROUPS, MODELS


def kinds(node: Node) -> set[type[Node]]:
    return {type(node)}.union(*(kinds(i) for i in node.inputs))


@pytest.mark.parametrize("function", REGISTRY)
def test_every_combinable_aggregate_has_an_example(function):
    assert ARGUMENTS.get(function), f"`{function}` has no example in tests/laws/models.py"


@pytest.mark.parametrize("function", sorted(ARGUMENTS))
def test_an_example_of_a_combinable_aggregate_is_combined(function):
    kept = Engine(MODELS[f"every {function}"], SCHEMA)
    assert kept.extent.family == "combinable", kept.note


def test_every_delta_rule_has_a_model():
    ruled = {kind for kind in rule.registry if kind not in (object, Node)}
    models = [analyze(sql, DictCatalog(SCHEMA), Functions()) for sql in MODELS.values()]
    used = set().union(*(kinds(m.maintainable.core) for m in models))
    assert ruled - used == set(), "rules without a model in tests/laws/models.py"


@pytest.mark.parametrize("title", [t for t in GROUPS if t.startswith("key-wise")])
def test_the_key_wise_models_are_key_wise(title):
    assert Engine(GROUPS[title], SCHEMA).extent.family == "key-wise"
