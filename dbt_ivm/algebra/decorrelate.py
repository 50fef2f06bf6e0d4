"""Subqueries that refer to the query around them, made into relations of their own.

A subquery is resolved over `F × OuterRow`, where OuterRow has the columns of the query around it.
What it really uses of them, d, becomes part of its result, and it is joined back on `outer = d`:

    Q(F, d)  ->  γ_{…, d}, π_{…, d}, window by …, d    over    σ(F with d)

    σ_{d = e}(F × OuterRow)  ->  π_{F, d := e}(F)        where an equality says what d is
    σ_p(F × OuterRow)        ->  σ_p(F × δ(π_d(outer)))  otherwise: d for every outer row there is

With the first form the query around is not read for the subquery at all. An aggregate without keys
has a row for every d, whether or not there are rows for it: γ_∅ -> δ(π_d(outer)) ⟕ γ_d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatchmethod

from sqlglot import exp

from dbt_ivm.algebra.base import OuterRow
from dbt_ivm.algebra.joins import Conditional
from dbt_ivm.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    Generate,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    UnionAll,
    Window,
)
from dbt_ivm.algebra.predicates import all_of, conjuncts
from dbt_ivm.algebra.projections import needed, select_columns
from dbt_ivm.algebra.scalar import Scalar, column, ref
from dbt_ivm.algebra.walk import walk
from dbt_ivm.errors import Unsupported
from dbt_ivm.names import HIDDEN_PREFIX

_TOTAL = HIDDEN_PREFIX + "total_"


@dataclass(frozen=True)
class Unnested:
    """A subquery as a relation, and the columns by which it belongs to rows of the outer query."""

    node: Node
    columns: tuple[str, ...]
    """Columns of OuterRow that it uses, now columns of the relation."""
    null_safe: frozenset[str]
    """Those that match NULLs too."""


OverNoRows = Callable[[AggregateCall], exp.Expr]
"""The value of an aggregate over no rows."""


def unnest(
    node: Node,
    shown: frozenset[str],
    row: OuterRow,
    outer: Node,
    outer_names: dict[str, str],
    over_no_rows: OverNoRows,
    spared: Node | None = None,
) -> Unnested:
    """Take OuterRow out of a subquery; `outer_names` says which outer column each of its is.

    The total `spared` is left without rows where it has none: the caller knows what it is then.
    """
    used = needed(node, shown).get(id(row), frozenset())
    wanted = tuple(name for name in row.names if name in used)
    work = _Unnesting(row, wanted, outer, outer_names, over_no_rows, spared)
    return Unnested(work.take(node), wanted, frozenset(work.null_safe))


def plain_filter(node: Node, row: OuterRow) -> tuple[Node, list[exp.Expr]] | None:
    """F and the conjuncts of `σ…σ(F × OuterRow)`, where a subquery has just that form."""
    trees: list[exp.Expr] = []
    while isinstance(node, Filter):
        trees = [*conjuncts(node.predicate), *trees]
        node = node.input
    if isinstance(node, Join) and node.right is row and node.condition is None:
        return node.left, trees
    return None


class _Unnesting:
    def __init__(
        self,
        row: OuterRow,
        wanted: tuple[str, ...],
        outer: Node,
        outer_names: dict[str, str],
        over_no_rows: OverNoRows,
        spared: Node | None,
    ) -> None:
        self._row, self._wanted = row, wanted
        self._outer, self._outer_names = outer, outer_names
        self._over_no_rows, self._spared = over_no_rows, spared
        self.null_safe: set[str] = set()

    def take(self, node: Node) -> Node:
        if not any(part is self._row for part in walk(node)):
            return node
        plain = plain_filter(node, self._row)
        return self._bound(*plain) if plain else self._through(node)

    def _bound(self, node: Node, trees: list[exp.Expr]) -> Node:
        """σ_trees(F × OuterRow) with every wanted column given a value."""
        meant: dict[str, exp.Expr] = {}
        rest = []
        for tree in trees:
            found = self._meaning(tree, node)
            if found and found[0] not in meant:
                meant[found[0]] = found[1]
                if isinstance(tree, exp.NullSafeEQ):
                    self.null_safe.add(found[0])
            else:
                rest.append(tree)
        if all(name in meant for name in self._wanted):
            passed = tuple(Item(c, ref(c)) for c in node.columns)
            items = tuple(Item(name, Scalar(meant[name])) for name in self._wanted)
            bound: Node = Project(node, (*passed, *items)) if items else node
        else:
            self.null_safe = set(self._wanted)
            bound, rest = Join(node, self._domain()), trees
        condition = all_of(rest)
        return Filter(bound, condition) if condition else bound

    def _meaning(self, tree: exp.Expr, node: Node) -> tuple[str, exp.Expr] | None:
        """(d, e) of `d = e` or `e = d`, where e is made of columns of the subquery alone."""
        if not isinstance(tree, exp.EQ | exp.NullSafeEQ):
            return None
        for one, other in ((tree.left, tree.right), (tree.right, tree.left)):
            name = Scalar(one.unnest()).column
            uses = Scalar(other).columns
            if name in self._wanted and uses and uses <= set(node.columns):
                return name, other.unnest()
        return None

    def _domain(self) -> Node:
        """δ(π_d(outer)): an aggregate without calls, so that it has a delta like any other."""
        items = tuple(Item(name, ref(self._outer_names[name])) for name in self._wanted)
        names = frozenset(self._outer_names[name] for name in self._wanted)
        return Aggregate(Project(_alone(self._outer, names), items), self._wanted, ())

    @singledispatchmethod
    def _through(self, node: Node) -> Node:
        raise Unsupported(f"a reference to the outer query below {type(node).__name__.upper()}")

    @_through.register(Filter)
    @_through.register(Generate)
    def _(self, node: Filter | Generate) -> Node:
        return node.with_inputs((self.take(node.input),))

    @_through.register
    def _(self, node: Project) -> Node:
        names = set(self._row.names)
        kept = tuple(i for i in node.items if not (i.value.columns & names) - set(self._wanted))
        own = {item.name for item in kept}
        passed = tuple(Item(n, ref(n)) for n in self._wanted if n not in own)
        return Project(self.take(node.input), (*kept, *passed))

    @_through.register
    def _(self, node: Window) -> Node:
        more = tuple(name for name in self._wanted if name not in node.keys)
        keys = (*node.keys, *more)
        return replace(node, input=self.take(node.input), keys=keys, items=_by(node, more))

    @_through.register
    def _(self, node: Aggregate) -> Node:
        more = tuple(name for name in self._wanted if name not in node.keys)
        groups = replace(node, input=self.take(node.input), keys=(*node.keys, *more))
        is_total = not node.keys and bool(more) and node is not self._spared
        return self._for_every_row(groups) if is_total else groups

    def _for_every_row(self, groups: Aggregate) -> Node:
        """δ(π_d(outer)) ⟕ γ_d: where a d has no rows, every call has its value over none."""
        own = [(name, f"{_TOTAL}{name}") for name in groups.keys]
        matches: list[exp.Expr] = [
            (exp.NullSafeEQ if name in self.null_safe else exp.EQ)(
                this=column(name), expression=column(hidden)
            )
            for name, hidden in own
        ]
        self.null_safe = set(self._wanted)
        found = f"{_TOTAL}found"
        items = (
            *(Item(hidden, ref(name)) for name, hidden in own),
            *(Item(call.name, ref(call.name)) for call in groups.calls),
            Item(found, Scalar(exp.true())),
        )
        joined = OuterJoin(self._domain(), Project(groups, items), all_of(matches))
        values = []
        for call in groups.calls:
            otherwise = exp.Case().when(column(found), column(call.name))
            values.append(Item(call.name, Scalar(otherwise.else_(self._over_no_rows(call)))))
        return Project(joined, (*(Item(name, ref(name)) for name in groups.keys), *values))

    @_through.register
    def _(self, node: UnionAll) -> Node:
        """Where one branch matches NULLs, one that does not must show none to be matched."""
        branches, safe = [], []
        for branch in node.branches:
            self.null_safe = set()
            taken = self.take(branch)
            if not set(self._wanted) <= set(taken.columns):
                taken, self.null_safe = Join(taken, self._domain()), set(self._wanted)
            branches.append(select_columns(taken, (*branch.columns, *self._wanted)))
            safe.append(self.null_safe)
        self.null_safe = set().union(*safe)
        cut = tuple(
            _present(b, self.null_safe - mine) for b, mine in zip(branches, safe, strict=True)
        )
        return UnionAll(cut, (*node.names, *self._wanted))

    @_through.register
    def _(self, node: Conditional) -> Node:
        if any(part is self._row for part in walk(node.right)):
            raise Unsupported("a reference to the outer query from the right side of a join")
        left = self.take(node.left)
        return replace(node, left=left)


def _alone(outer: Node, names: frozenset[str]) -> Node:
    """The query around without a query around itself, where it has the columns without it.

    It may have more rows then, which does no harm: what no row around asks for is not joined.
    """
    for part in walk(outer):
        is_inside = isinstance(part, Join) and isinstance(part.right, OuterRow)
        if is_inside and names <= set(part.inputs[0].columns):
            return part.inputs[0]
    return outer


def _present(node: Node, names: set[str]) -> Node:
    """The rows with no NULL in these columns."""
    nulls = [exp.Is(this=column(name), expression=exp.Null()) for name in sorted(names)]
    condition = all_of([exp.Not(this=null) for null in nulls])
    return Filter(node, condition) if condition else node


def _by(node: Window, more: tuple[str, ...]) -> tuple[Item, ...]:
    """The calls of a window with further columns to partition by."""
    items = []
    for item in node.items:
        tree = item.value.tree
        for window in tree.find_all(exp.Window):
            partition = [*window.args.get("partition_by", []), *(ref(n).tree for n in more)]
            window.set("partition_by", partition)
        items.append(Item(item.name, Scalar(tree)))
    return tuple(items)
