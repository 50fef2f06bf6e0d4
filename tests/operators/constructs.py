"""One model per SQL construct; docs/sql-support.md is made from these."""

from __future__ import annotations

OUTER = {
    "left_joined": "select o.id, o.price, c.segment from {s}.orders o left join {s}.customers c"
    " on c.id = o.customer_id and c.segment <> 'b'",
    "right_joined": "select o.id, c.segment, c.id as cid from {s}.orders o right join {s}.customers c"
    " on c.id = o.customer_id where o.qty is null or o.qty > 0",
    "full_joined": "select o.id, c.id as cid, c.segment from {s}.orders o full join {s}.customers c"
    " on c.id = o.customer_id",
    "full_using": "select id, segment, low from {s}.customers full join {s}.rates using (id)",
    "banded_outer": "select o.id, r.id as rid from {s}.orders o left join {s}.rates r"
    " on o.qty between r.low and r.high",
    "natural_joined": "select * from {s}.customers natural join {s}.rates",
    "semi_joined": "select id, segment from {s}.customers c left semi join {s}.orders o"
    " on o.customer_id = c.id and o.qty > 1",
    "anti_joined": "select id, segment from {s}.customers c left anti join {s}.orders o"
    " on o.customer_id = c.id",
    "outer_grouped": "select c.segment, count(o.id) as n, sum(o.price) as total"
    " from {s}.customers c left join {s}.orders o on o.customer_id = c.id group by c.segment",
    "outer_of_groups": "select c.id, c.segment, q.n, q.top from {s}.customers c left join"
    " (select customer_id, count(*) as n, max(price) as top from {s}.orders group by customer_id) q"
    " on q.customer_id = c.id",
}
SUBQUERIES = {
    "existing": "select id, segment from {s}.customers c where exists"
    " (select 1 from {s}.orders o where o.customer_id = c.id and o.price > 0)",
    "not_existing": "select id, segment from {s}.customers c where not exists"
    " (select 1 from {s}.orders o where o.customer_id = c.id and o.price > 0)",
    "listed_in": "select id, price from {s}.orders where customer_id in"
    " (select id from {s}.customers where segment = 'a') and qty in (select low from {s}.rates)",
    "not_listed_in": "select id, price from {s}.orders where qty not in"
    " (select low from {s}.rates)",
    "under_or": "select id, case when customer_id in (select id from {s}.customers where"
    " segment = 'a') then 'a' when exists (select 1 from {s}.rates r where r.low = o.qty)"
    " then 'band' else '-' end as k from {s}.orders o where price > 0 or customer_id not in"
    " (select id from {s}.customers where segment is null)",
    "scalars": "select id, price - (select avg(price) from {s}.orders) as off,"
    " (select max(segment) from {s}.customers c where c.id = o.customer_id) as segment,"
    " (select count(*) from {s}.rates r where r.low <= o.qty) as bands from {s}.orders o",
    "above_average": "select id, price from {s}.orders o where price >"
    " (select avg(price) from {s}.orders i where i.customer_id = o.customer_id)",
    "having_scalar": "select customer_id, sum(qty) as qty, (select count(*) from {s}.customers)"
    " as customers, max((select count(*) from {s}.rates r where r.id = o.customer_id)) as known from {s}.orders o group by customer_id"
    " having sum(qty) > (select min(low) from {s}.rates)",
    "lateral_rows": "select c.id, t.price from {s}.customers c, lateral (select price from"
    " {s}.orders o where o.customer_id = c.id and o.qty > 1) t",
}
SETS = {
    "distinct_rows": "select distinct customer_id, qty from {s}.orders",
    "united": "select id, segment from {s}.customers union select customer_id, note from {s}.orders",
    "intersected": "select id from {s}.customers intersect select customer_id from {s}.orders",
    "intersected_all": "select id from {s}.customers intersect all select customer_id"
    " from {s}.orders",
    "excepted": "select customer_id from {s}.orders except select id from {s}.rates",
    "excepted_all": "select customer_id from {s}.orders minus all select id from {s}.customers",
    "distinct_counted": "select qty, count(*) as n from (select distinct customer_id, qty"
    " from {s}.orders) q group by qty",
}
NESTED = {
    "groups_of_groups": "select n, count(*) as customers, max(total) as top from (select customer_id,"
    " count(*) as n, sum(price) as total from {s}.orders group by customer_id) q group by n",
    "coarser": "select customer_id, sum(total) as total, max(total) as top from (select customer_id,"
    " qty, sum(price) as total from {s}.orders group by customer_id, qty) q group by customer_id",
    "top_sum": "select max(total) as top from (select sum(price) as total from {s}.orders"
    " group by customer_id) q",
    "groups_joined": "select c.segment, q.n, w.top from {s}.customers c join (select customer_id,"
    " count(*) as n from {s}.orders group by customer_id having count(*) > 1) q"
    " on q.customer_id = c.id join (select qty, max(price) as top from {s}.orders group by qty) w"
    " on w.qty = q.n",
    "shares": "select id, price, price / t.total as share from {s}.orders cross join (select"
    " sum(price) as total from {s}.orders) t where price > 0",
    "shared_cte": "with q as (select customer_id, count(*) as n, sum(price) as total from {s}.orders"
    " group by customer_id) select a.customer_id, b.customer_id as other from q a join q b"
    " on a.n = b.n and a.total < b.total",
}
WINDOWS = {
    "ranked": "select id, customer_id, rank() over (partition by customer_id order by price desc) as r,"
    " dense_rank() over (partition by customer_id order by price desc) as d,"
    " percent_rank() over (partition by customer_id order by price) as p,"
    " sum(price) over (partition by customer_id order by qty) as running,"
    " count(*) over (partition by qty) as alike from {s}.orders",
    "deduplicated": "select id, price, qty from (select *, row_number() over (partition by id"
    " order by placed desc, price, qty, rate, note) as n from {s}.orders) q where n = 1",
    "top_two": "select customer_id, price from (select customer_id, price, row_number() over"
    " (partition by customer_id order by price desc) as n from {s}.orders) q where n <= 2",
    "framed": "select id, qty, sum(qty) over (partition by customer_id order by id, qty, price"
    " rows between 1 preceding and 1 following) as near, lag(qty, 1, -1) over (partition by customer_id"
    " order by id, qty, price) as before, first_value(qty) over w as first_qty from {s}.orders"
    " window w as (partition by customer_id order by qty)",
    "window_of_groups": "select customer_id, qty, n, sum(n) over (partition by customer_id) as t,"
    " rank() over (partition by qty order by n desc) as r from (select customer_id, qty, count(*) as n"
    " from {s}.orders group by customer_id, qty) q",
    "window_in_groups": "select customer_id, qty, sum(price) as total, rank() over"
    " (partition by customer_id order by sum(price) desc) as r from {s}.orders group by 1, 2",
    "groups_of_windows": "select r, count(*) as n from (select rank() over (partition by customer_id"
    " order by price) as r from {s}.orders) q group by r",
    "over_all": "select id, price, rank() over (order by price desc, id, qty) as r from {s}.orders",
    "limited_inside": "select c.segment, t.total from {s}.customers c join (select customer_id,"
    " sum(price) as total from {s}.orders group by customer_id order by total desc, customer_id"
    " limit 2) t on t.customer_id = c.id",
    "limited": "select id, qty from {s}.orders order by price desc nulls last, id, qty limit 3 offset 1",
}
SHAPES = {
    "rolled_up": "select customer_id, qty, count(*) as n, sum(price) as total, grouping(qty) as g,"
    " grouping_id() as gid from {s}.orders group by rollup (customer_id, qty)",
    "cubed": "select customer_id, qty, max(price) as top from {s}.orders group by cube (customer_id,"
    " qty)",
    "grouping_sets": "select customer_id, qty, count(distinct price) as n from {s}.orders"
    " group by grouping sets ((customer_id, qty), (qty), ())",
    "pivoted": "select * from (select customer_id, qty, price from {s}.orders) pivot (sum(price) as p,"
    " count(*) as n for qty in (1, 2 as two, 3))",
    "unpivoted": "select * from {s}.rates unpivot (v for k in (low as l, high))",
    "stacked": "select id, k, v from {s}.rates lateral view stack(2, 'low', low, 'high', high) t"
    " as k, v",
    "lateral_exploded": "select id, e.tag from {s}.orders o, lateral explode(o.tags) as e(tag)",
    "constants": "select o.id, v.name from {s}.orders o join values (1, 'one'), (2, 'two') as v(n, name)"
    " on v.n = o.qty",
    "higher_order": "select id, transform(tags, t -> upper(t)) as up, exists(tags, t -> t = 'x') as x,"
    " aggregate(tags, 0, (a, t) -> a + 1) as n, named_struct('q', qty, 'p', price) as s"
    " from {s}.orders",
    "mapped": "select id, map('qty', qty, 'id', id) as m, array(map('n', note)) as ms"
    " from {s}.orders",
    "named_by_spark": "select id, pos, col from {s}.orders lateral view outer posexplode(tags)",
    "emptied": "select qty, count(*) as n, sum(price) as p from {s}.orders where id < 0"
    " group by rollup (qty)",
}
CONSTRUCTS = {
    "outer": OUTER,
    "subqueries": SUBQUERIES,
    "sets": SETS,
    "nested": NESTED,
    "windows": WINDOWS,
    "shapes": SHAPES,
}
