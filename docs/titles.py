"""What each tested model shows, in the words of the page on supported SQL."""

from __future__ import annotations

SECTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "Rows": (
        "[linear](operators/linear.md), [bag](operators/bag.md)",
        {
            "filtered": "expressions, `WHERE`",
            "starred": "`*`, `t.*`, `* EXCEPT (…)`",
            "higher_order": "lambdas, arrays, structs",
            "unioned": "`UNION ALL`",
            "exploded": "`LATERAL VIEW [OUTER]`",
            "listed": "generator in the select list",
            "stacked": "`stack`",
            "lateral_exploded": "`LATERAL` with a generator",
            "unpivoted": "`UNPIVOT`",
            "constants": "`VALUES` in `FROM`",
            "mapped": "map columns, stored as their sorted entries",
            "named_by_spark": "generators under the column names that Spark gives them",
        },
    ),
    "Joins": (
        "[bilinear](operators/bilinear.md)",
        {
            "joined": "inner join",
            "banded": "any `ON` condition; comma join",
            "crossed": "cross join",
            "selfjoined": "self-join",
            "used_twice": "CTE read twice; `USING`",
            "natural_joined": "`NATURAL` join",
        },
    ),
    "Outer, semi and anti joins": (
        "[matching](operators/matching.md)",
        {
            "left_joined": "`LEFT` join",
            "right_joined": "`RIGHT` join that shows the key of the right side",
            "full_joined": "`FULL` join",
            "full_using": "`FULL` join `USING`",
            "banded_outer": "outer join without an equality",
            "semi_joined": "`LEFT SEMI` join",
            "anti_joined": "`LEFT ANTI` join",
            "outer_grouped": "groups over an outer join",
            "outer_of_groups": "outer join with groups",
        },
    ),
    "Subqueries": (
        "[subqueries](operators/subqueries.md)",
        {
            "existing": "`EXISTS`",
            "not_existing": "`NOT EXISTS`",
            "listed_in": "`IN`",
            "not_listed_in": "`NOT IN`, with the meaning of NULL it has",
            "under_or": "`IN` and `EXISTS` below `OR` and in `CASE`",
            "scalars": "scalar subqueries, plain and correlated, by `=` and by other conditions",
            "above_average": "correlated aggregate in `WHERE`",
            "having_scalar": "scalar subqueries in `HAVING` and above groups",
            "lateral_rows": "`LATERAL` subquery",
        },
    ),
    "Sets": (
        "[sets](operators/sets.md)",
        {
            "distinct_rows": "`DISTINCT`",
            "united": "`UNION`",
            "intersected": "`INTERSECT`",
            "intersected_all": "`INTERSECT ALL`",
            "excepted": "`EXCEPT`",
            "excepted_all": "`EXCEPT ALL`, `MINUS ALL`",
            "distinct_counted": "groups over `DISTINCT`",
        },
    ),
    "Groups": (
        "[combinable](operators/combinable.md), [key-wise](operators/key-wise.md)",
        {
            "summed": "`count`, `sum`, `avg`, grouped over a join",
            "tested": "`count_if`, `bool_or`, `every`, `FILTER (WHERE …)`",
            "by_day": "keys by expression, position and alias; `HAVING`",
            "by_all": "`GROUP BY ALL`; `ORDER BY … LIMIT` at the top",
            "extremes": "`min`, `max`",
            "overall": "no `GROUP BY`: one row even of no input",
            "distincts": "`count(DISTINCT …)`, `sum(DISTINCT …)`",
            "floats": "sums of `double`, approximate aggregates",
            "gathered": "`collect_list`, `percentile`, `max_by`, … : any aggregate",
            "medians": "any aggregate without `GROUP BY`",
            "rolled_up": "`ROLLUP`, `grouping`, `grouping_id`",
            "emptied": "`ROLLUP` of no rows",
            "cubed": "`CUBE`",
            "grouping_sets": "`GROUPING SETS`",
            "pivoted": "`PIVOT`",
        },
    ),
    "Groups below other operators": (
        "[key-wise](operators/key-wise.md)",
        {
            "groups_of_groups": "groups of groups",
            "coarser": "coarser groups by some of the same keys",
            "top_sum": "`max` of sums",
            "groups_joined": "joins with groups",
            "shares": "share of a total",
            "shared_cte": "CTE with groups, read twice",
        },
    ),
    "Windows, order and limit": (
        "[windows](operators/windows.md)",
        {
            "ranked": "ranks and running sums, by several partitions",
            "deduplicated": "`row_number() … = 1`",
            "top_two": "the first n per key",
            "framed": "frames, `lag`, `first_value`, `WINDOW` clause",
            "window_of_groups": "windows over groups",
            "window_in_groups": "windows beside `GROUP BY`",
            "groups_of_windows": "groups over a window",
            "over_all": "window without `PARTITION BY`",
            "limited": "`ORDER BY … LIMIT … OFFSET` at the top",
            "limited_inside": "`ORDER BY … LIMIT` in a subquery",
        },
    ),
    "Time": (
        "",
        {
            "stamped": "`current_timestamp()` in the select list: a stamp, taken when the row is"
            " written",
            "recent": "`current_date` in a filter: an input whose change between two refreshes has"
            " a delta of its own",
            "aged": "`current_date()` beside a column, in a key, above groups: the same",
        },
    ),
}
"""Per section: the pages that give its rules, and the title of each model."""

TIME = {
    "stamped": "select id, price, current_timestamp() as seen_at from {s}.orders",
    "recent": "select id, price from {s}.orders where placed >= current_date() - 30",
    "aged": "select customer_id, datediff(current_date(), max(placed)) as days from {s}.orders"
    " group by customer_id",
}
"""Models of the last section; tests/operators/test_clocks.py has their like on Spark."""
