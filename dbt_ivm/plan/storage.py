"""The statements that create what a model is stored in: extent, view, and what they replace."""

from __future__ import annotations

import hashlib
import json

from sqlglot import exp

from dbt_ivm.algebra.nodes import Item, Node, Project, TableName
from dbt_ivm.algebra.scalar import Scalar, column, ref
from dbt_ivm.errors import IvmError
from dbt_ivm.extents.base import Extent
from dbt_ivm.names import KEY_PROPERTY, MODEL_PROPERTY, STORAGE_PROPERTY, VIEW_PROPERTY
from dbt_ivm.plan.analysis import Analysis, Maintainable
from dbt_ivm.plan.layout import above_extent
from dbt_ivm.plan.model import Facts, Step
from dbt_ivm.sources.formats import FORMATS, classify
from dbt_ivm.sources.reader import SourceReader
from dbt_ivm.sql.catalog import Catalog
from dbt_ivm.sql.dialect import render, spark_type, table, verbatim
from dbt_ivm.sql.pin import pin
from dbt_ivm.sql.render import to_query
from dbt_ivm.sql.statements import Merge, create_table, create_view


def build_step(analysis: Analysis, extent: Extent | None, facts: Facts, catalog: Catalog) -> Step:
    """`create or replace table m__ivm as` the whole state at the pinned versions."""
    settings = facts.settings
    form = FORMATS[settings.file_format]
    properties = form.extent_properties() | dict(settings.properties)
    properties[MODEL_PROPERTY] = facts.model
    if settings.storage() or form.replace_keeps_properties:
        properties[STORAGE_PROPERTY] = json.dumps(settings.storage())
    if extent is not None or form.replace_keeps_properties:
        properties[KEY_PROPERTY] = json.dumps(extent.keys if extent else None)
    location = None
    if settings.location_root:
        location = f"{settings.location_root.rstrip('/')}/{facts.extent[-1]}"
    statement = create_table(
        facts.extent,
        state_query(analysis, extent, facts, catalog),
        settings.file_format,
        properties,
        _stored_columns(settings.partition_by, "partition_by", analysis, extent, facts),
        _stored_columns(settings.cluster_by, "clustered_by", analysis, extent, facts),
        location,
    )
    return Step("build the extent", render(statement), commits=True)


def apply_steps(title: str, merge: Merge, facts: Facts) -> list[Step]:
    """A MERGE into the extent, with what its format needs around it."""
    if facts.target.extent is None:
        raise AssertionError("there is no extent to merge into")
    form = FORMATS[facts.settings.file_format]
    applied = form.apply(merge, facts.target.extent, facts.writer)
    steps = [Step("stage the change", render(statement)) for statement in applied.before]
    steps.append(Step(title, render(applied.merge), commits=True))
    if applied.publish is not None:
        steps.append(Step("publish the change", render(applied.publish), commits=True))
    return steps + [Step("clear the stage", render(statement)) for statement in applied.after]


def changed_storage(facts: Facts) -> list[str]:
    """Storage settings whose value is not the one that the extent was built with."""
    before = json.loads(facts.target.properties.get(STORAGE_PROPERTY, "{}"))
    now = facts.settings.storage()
    return sorted(key for key in before | now if before.get(key) != now.get(key))


def state_query(
    analysis: Analysis, extent: Extent | None, facts: Facts, catalog: Catalog
) -> exp.Expr:
    """The content of the extent at the head versions; a refused model is a copy of its result."""
    if extent is not None:
        changes = {name: classify(head, None) for name, head in facts.heads.items()}
        return to_query(extent.rebuilt(), SourceReader(changes))
    if analysis.tables is None:
        return verbatim(analysis.sql)
    heads = facts.heads
    return verbatim(
        pin(analysis.sql, catalog, lambda name: heads[name].version if name in heads else None)
    )


def view_step(analysis: Analysis, extent: Extent | None, facts: Facts) -> tuple[Step, str]:
    """`create or replace view m` with exactly the model's columns, names, order and types.

    Beside the step comes its hash, which the view carries: that way the view itself tells whether
    it is the right one, whatever happened between two statements of an earlier run.
    """
    names = [c.name for c in facts.types.outputs]
    lowered = [name.lower() for name in names]
    twice = sorted({name for name in lowered if lowered.count(name) > 1})
    if twice:
        raise IvmError(
            f"Model {facts.model} selects `{twice[0]}` twice; give one of them another name."
        )
    if extent is None or analysis.maintainable is None:
        query: exp.Expr = exp.select(*(column(name) for name in names)).from_(table(facts.extent))
    else:
        query = to_query(_shown(analysis.maintainable, extent, facts), SourceReader({}))
    comments = {name.lower(): text for name, text in facts.docs.columns}
    columns = [(name, comments.get(name.lower())) for name in names]
    comment, types = facts.docs.relation, [c.type for c in facts.types.outputs]
    plain = render(create_view(facts.view, query, columns, comment, {}))
    digest = hashlib.sha256(f"{plain}\n{types}".encode()).hexdigest()[:16]
    marked = create_view(facts.view, query, columns, comment, {VIEW_PROPERTY: digest})
    return Step("create the view", render(marked)), digest


def _shown(model: Maintainable, extent: Extent, facts: Facts) -> Node:
    """The model's columns over the extent, cast where finishing could change their type."""
    node = above_extent(model, extent)
    items = []
    for output, fact in zip(model.outputs, facts.types.outputs, strict=True):
        value = ref(output.name)
        if not _passed_through(node, output.name):
            value = Scalar(exp.Cast(this=value.tree, to=spark_type(fact.type)))
        items.append(Item(fact.name, value))
    return Project(node, tuple(items))


def _passed_through(node: Node, name: str) -> bool:
    """Whether a column comes from the extent as it is stored, so that its type is the model's."""
    while node.inputs:
        if isinstance(node, Project):
            source = next(item.value.column for item in node.items if item.name == name)
            if source is None:
                return False
            name = source
        elif name not in node.inputs[0].columns:
            return False
        node = node.inputs[0]
    return True


def _stored_columns(
    wanted: tuple[str, ...], setting: str, analysis: Analysis, extent: Extent | None, facts: Facts
) -> tuple[str, ...]:
    """Columns named by their model name, as the extent stores them."""
    if extent is None or analysis.maintainable is None:
        return wanted
    stored = {
        fact.name.lower(): output.name
        for output, fact in zip(analysis.maintainable.outputs, facts.types.outputs, strict=True)
        if output.name in extent.keys
    }
    for name in wanted:
        if name.lower() not in stored:
            raise IvmError(
                f"Model {facts.model}: {setting} names `{name}`, which is not stored as such;"
                f" columns of the extent: {', '.join(stored) or 'none'}."
            )
    return tuple(stored[name.lower()] for name in wanted)


def drop_table_step(name: TableName) -> Step:
    """A table that stood under the model's name makes way for the view."""
    return Step("drop the table", render(exp.Drop(tables=[table(name)], kind="TABLE", exists=True)))


def schema_step(extent: TableName) -> Step:
    """The schema that `ivm_schema` names; dbt makes only those of the models themselves."""
    made = exp.Create(this=table(extent[:-1]), kind="SCHEMA", exists=True)
    return Step("create the schema of the extent", render(made))
