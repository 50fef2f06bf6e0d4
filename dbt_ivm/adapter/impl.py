"""The adapter dbt talks to for `type: ivm`: dbt-spark's, with the planner behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from dbt.adapters.base.meta import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.impl import SparkAdapter
from dbt.flags import get_flags
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt_ivm.adapter.catalogs import relations_in
from dbt_ivm.adapter.compilation import compiled_model
from dbt_ivm.adapter.connections import IvmConnectionManager
from dbt_ivm.adapter.consistency import consistency_query
from dbt_ivm.adapter.orphans import Orphan, orphans
from dbt_ivm.adapter.relation import IvmRelation
from dbt_ivm.adapter.repair import repair
from dbt_ivm.adapter.requests import existing_relation, extent_in_project, request_of, table_name
from dbt_ivm.adapter.response import IvmResponse, response_of
from dbt_ivm.adapter.runner import Runner
from dbt_ivm.adapter.spark_facts import Pins
from dbt_ivm.adapter.wire import rows_of
from dbt_ivm.errors import IvmError, Unsupported
from dbt_ivm.plan.explain import explain
from dbt_ivm.sources.format import Row

_Result = TypeVar("_Result")


class _ThreadSession:
    """This thread's connection, as the runner uses it."""

    def __init__(self, connections: IvmConnectionManager) -> None:
        self._connections = connections

    def run(self, sql: str) -> list[Row]:
        _, cursor = self._connections.add_query(sql, auto_begin=False)
        return rows_of(cursor)

    @contextmanager
    def settings(self, values: Mapping[str, str]) -> Iterator[None]:
        with self._connections.session_settings(values):
            yield


class IvmAdapter(SparkAdapter):
    """dbt-spark's adapter on connections of our own, with the planner behind `ivm_*` methods."""

    ConnectionManager = IvmConnectionManager
    Relation = IvmRelation
    connections: IvmConnectionManager

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        self._pins: tuple[str, Pins] = ("", Pins())

    def _runner(self) -> Runner:
        invocation = get_invocation_id()
        if self._pins[0] != invocation:
            self._pins = (invocation, Pins())
        return Runner(_ThreadSession(self.connections), self._pins[1])

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """dbt-spark lists the session's catalog; the others are listed here."""
        if getattr(schema_relation, "named_catalog", None) is None:
            relations: list[BaseRelation] = super().list_relations_without_caching(schema_relation)
            return relations
        return relations_in(self._runner().facts.ask, schema_relation)

    def get_catalog(
        self, relation_configs: Iterable[Any], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[Any, list[Exception]]:
        """For `dbt docs`: dbt-spark can describe the session's catalog and stops at any other."""
        own = [c for c in relation_configs if not c.database or c.database == c.schema]
        described: tuple[Any, list[Exception]] = super().get_catalog(own, used_schemas)
        return described

    @available.parse(lambda *a, **k: None)
    def ivm_refresh(
        self, model: dict[str, Any], relation: BaseRelation, sql: str, full_refresh: bool
    ) -> IvmResponse:
        """Refresh a model and say what was done."""

        def refresh() -> IvmResponse:
            runner = self._runner()
            request = request_of(self, model, relation, sql, full_refresh)
            partial = _reads_partial_inputs()
            outcome = runner.build_unmarked(request) if partial else runner.refresh(request)
            return response_of(outcome)

        return _as_dbt_errors(refresh)

    @available.parse(lambda *a, **k: "")
    def ivm_explain(self, name: str) -> str:
        """The plan of a model's next refresh as text; runs no statement that writes."""

        def text() -> str:
            node, sql = compiled_model(self, name)
            relation = self.Relation.create_from(self.config, node)
            request = request_of(self, node.to_dict(), relation, sql, full_refresh=False)
            return explain(self._runner().plan(request))

        return _as_dbt_errors(text)

    @available.parse(lambda *a, **k: "select 1 where false")
    def ivm_consistency_sql(self, relation: BaseRelation) -> str:
        """A query for the rows in which a model differs from its SQL at its watermark."""

        def text() -> str:
            node, sql = compiled_model(self, str(relation))
            request = request_of(self, node.to_dict(), relation, sql, full_refresh=False)
            return consistency_query(self._runner(), request)

        return _as_dbt_errors(text)

    @available.parse(lambda *a, **k: None)
    def ivm_extent_name(self, relation: BaseRelation) -> BaseRelation:
        """The name of a model's extent, whether it exists or not."""
        return extent_in_project(self, relation)

    @available.parse(lambda *a, **k: "")
    def ivm_repair(self, name: str) -> str:
        """Compare a model's extent with its SQL, put right what differs, and say what was done."""

        def text() -> str:
            node, sql = compiled_model(self, name)
            relation = self.Relation.create_from(self.config, node)
            request = request_of(self, node.to_dict(), relation, sql, full_refresh=False)
            outcome = repair(self._runner(), request)
            return f"{request.model}: {response_of(outcome)._message}"

        return _as_dbt_errors(text)

    @available.parse(lambda *a, **k: [])
    def ivm_orphans(self) -> list[Orphan]:
        """Extents in the schemas of this project that no model owns."""
        return orphans(self, self._runner().facts)

    @available.parse(lambda *a, **k: False)
    def ivm_owns(self, extent: BaseRelation) -> bool:
        """Whether there is such a table, and it is an extent of dbt-ivm and not somebody's own."""
        if not getattr(extent, "named_catalog", None) and existing_relation(self, extent) is None:
            return False
        return self._runner().facts.owner(table_name(extent)) is not None


def _reads_partial_inputs() -> bool:
    """Whether --empty or --sample made dbt render refs as filtered subqueries."""
    flags = get_flags()
    return bool(getattr(flags, "EMPTY", False) or getattr(flags, "SAMPLE", None))


def _as_dbt_errors(action: Callable[[], _Result]) -> _Result:
    """Planner errors are for users: dbt shows their message without a stack trace."""
    try:
        return action()
    except (IvmError, Unsupported) as error:
        raise DbtRuntimeError(str(error)) from None
