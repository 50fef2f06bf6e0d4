"""The select list: stars, generators, aliases, and the values that are shown."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dbt_ivm.algebra.scalar import column
from dbt_ivm.sql.clocks import is_clock, is_time_alone, lift_clocks, stamped
from dbt_ivm.sql.context import Context
from dbt_ivm.sql.expressions import (
    aggregate_of,
    ancestors,
    is_subquery,
    is_windowed,
    resolve,
)
from dbt_ivm.sql.functions import Functions, Kind
from dbt_ivm.sql.generators import generated, generator_call
from dbt_ivm.sql.scope import Aliases, Output, Scope
from dbt_ivm.sql.subqueries import Host, Subqueries

Shown = tuple[str, exp.Expr]
"""A column as it is called and what it computes."""


@dataclass
class SelectList:
    """The select list, resolved over the rows below it."""

    is_grouped: bool
    """Whether the SELECT has groups: GROUP BY, HAVING or an aggregate."""
    shown: list[Shown] = field(default_factory=list)
    aliases: Aliases = field(default_factory=Aliases)
    above: dict[str, exp.Expr] = field(default_factory=dict)
    """Subqueries and the time above the groups, by the column that stands for each."""


def select_list(
    select: exp.Select, host: Host, subqueries: Subqueries, context: Context, top: bool
) -> SelectList:
    """Resolve every item; subqueries become joins below, or above where there are groups.

    At the top of a model the time alone is a stamp, anywhere else it is an input.
    """
    found = SelectList(
        bool(select.args.get("group") or select.args.get("having"))
        or any(_calls_aggregate(item, context.functions) for item in select.expressions)
    )

    def lookup(parts: tuple[str, ...]) -> exp.Expr | None:
        bound = host.scope.find(parts)
        return bound if bound is not None else found.aliases.find(parts)

    for item in select.expressions:
        star = _expanded(item, host.scope, context)
        if star is not None:
            found.shown.extend((o.visible, column(o.name)) for o in star)
        elif _is_generator(item, context.functions):
            _generate(item, found, host, context)
        else:
            tree = item.unalias()
            is_key = _is_key(select, item, len(found.shown) + 1)
            can_stamp = top and not is_key and not select.args.get("distinct")
            if can_stamp and is_time_alone(tree, context.functions):
                tree = stamped(tree, context.functions)
            elif found.is_grouped:
                tree = set_aside(tree, found, context, clocks=not is_key)
            tree = lift_clocks(subqueries.lift(tree, host), host, context)
            value = resolve(tree, lookup, context.functions)
            name = item.alias_or_name or f"col{len(found.shown) + 1}"
            found.shown.append((name, value))
            if isinstance(item, exp.Alias):
                found.aliases.add(name, value)
    return found


def _is_key(select: exp.Select, item: exp.Expr, position: int) -> bool:
    """Whether GROUP BY names an item, by its place, its alias or as it is written."""
    group = select.args.get("group")
    wanted = (exp.Literal.number(position), exp.column(item.alias), item.unalias())
    return group is not None and any(part in wanted for part in group.walk())


def set_aside(tree: exp.Expr, found: SelectList, context: Context, clocks: bool = True) -> exp.Expr:
    """Subqueries outside any aggregate replaced by columns, to be joined above the groups.

    So is the time there, unless it is part of a key.
    """
    copy = exp.Paren(this=tree.copy())
    for node in list(copy.walk()):
        is_ours = is_subquery(node) or (clocks and is_clock(node, context.functions))
        if not is_ours or _inside_subquery(node):
            continue
        if any(aggregate_of(a, context.functions) for a in ancestors(node) if not is_windowed(a)):
            continue
        name = context.names.fresh("aside")
        found.above[name] = node.copy()
        stand_in = column(name)
        stand_in.meta["bound"] = True
        node.replace(stand_in)
    rest: exp.Expr = copy.this
    return rest


def _inside_subquery(node: exp.Expr) -> bool:
    return any(is_subquery(a) for a in ancestors(node))


def _calls_aggregate(item: exp.Expr, functions: Functions) -> bool:
    return any(
        aggregate_of(node, functions) is not None
        and not is_windowed(node)
        and not any(isinstance(a, exp.Query) for a in ancestors(node))
        for node in item.copy().find_all(exp.Anonymous)  # apart from the SELECT around it
    )


def _expanded(item: exp.Expr, scope: Scope, context: Context) -> list[Output] | None:
    star = item.this if isinstance(item, exp.Column) else item
    if not isinstance(star, exp.Star):
        return None
    if any(star.args.get(k) for k in ("replace", "rename", "replace_", "rename_")):
        raise context.unsupported("`*` with REPLACE or RENAME")
    qualifier = tuple(p.name for p in item.parts[:-1]) if isinstance(item, exp.Column) else ()
    excluded = star.args.get("except_") or star.args.get("except") or ()
    dropped = {e.name.lower() for e in excluded}
    return [o for o in scope.star(qualifier) if o.visible.lower() not in dropped]


def _is_generator(item: exp.Expr, functions: Functions) -> bool:
    call = item.unalias() if isinstance(item, exp.Alias) else item
    call = call.this if isinstance(call, exp.Aliases) else call
    return isinstance(call, exp.Anonymous) and functions.kind(call.name) is Kind.GENERATOR


def _generate(item: exp.Expr, found: SelectList, host: Host, context: Context) -> None:
    """`select explode(xs) as x from t` is `lateral view explode(xs) as x`."""
    call, visible = item, list[str]()
    if isinstance(item, exp.Aliases):
        call, visible = item.this, [name.name for name in item.expressions]
    elif isinstance(item, exp.Alias):
        call, visible = item.this, [item.alias]
    generator = generator_call(call, host.scope, context)
    host.node, outputs = generated(host.node, generator, False, visible, context)
    found.shown.extend((o.visible, column(o.name)) for o in outputs)
