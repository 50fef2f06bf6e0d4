-- countries
with buys as (select * from {s}.events where kind = 'buy'), per_user as (select user_id,
count(*) as n, sum(amount) as total, min(at) as first_at from buys group by user_id), enriched
as (select u.user_id, u.country, coalesce(p.n, 0) as n, coalesce(p.total, 0) as total,
p.first_at from {s}.users u left join per_user p on p.user_id = u.user_id) select country,
count(*) as users, sum(n) as orders, sum(total) as revenue, sum(case when n > 1 then 1 else 0
end) as repeaters, max(total) as best, min(first_at) as since from enriched group by country;

-- latest_days
with latest as (select * from (select e.*, row_number() over (partition by event_id order by at
desc, kind, page, amount, user_id) as rn from {s}.events e) where rn = 1) select u.country,
to_date(l.at) as day, count(*) as n, sum(l.amount) as total from latest l join {s}.users u using
(user_id) group by all;

-- best_buyers
select country, user_id, total, r from (select country, user_id, total, dense_rank() over
(partition by country order by total desc) as r from (select u.country, e.user_id, sum(e.amount)
as total from {s}.events e join {s}.users u on u.user_id = e.user_id group by u.country,
e.user_id) t) ranked where r <= 2;

-- sessions
with gaps as (select user_id, at, page, event_id, case when unix_timestamp(at) -
unix_timestamp(lag(at) over (partition by user_id order by at, event_id, page)) <= 1800 then 0
else 1 end as is_new from (select distinct user_id, at, page, event_id from {s}.events)),
numbered as (select *, sum(is_new) over (partition by user_id order by at, event_id, page rows
unbounded preceding) as session from gaps) select user_id, session, min(at) as first_at, max(at)
as last_at, count(*) as n, count(distinct page) as pages from numbered group by user_id, session;

-- session_lengths
with gaps as (select user_id, at, event_id, case when unix_timestamp(at) -
unix_timestamp(lag(at) over (partition by user_id order by at, event_id)) <= 1800 then 0 else 1
end as is_new from (select distinct user_id, at, event_id from {s}.events) d), numbered as
(select user_id, at, sum(is_new) over (partition by user_id order by at, event_id rows unbounded
preceding) as session from gaps), sessions as (select user_id, session, unix_timestamp(max(at))
- unix_timestamp(min(at)) as seconds, count(*) as n from numbered group by user_id, session)
select u.country, count(*) as sessions, max(s.seconds) as longest, sum(s.n) as events from
sessions s left join {s}.users u on u.user_id = s.user_id group by u.country;

-- running
select user_id, day, total, sum(total) over (partition by user_id order by day) as so_far,
avg(total) over (partition by user_id order by day rows between 2 preceding and current row) as
moving from (select user_id, to_date(at) as day, sum(amount) as total from {s}.events group by
user_id, to_date(at)) d;

-- cohorts
with firsts as (select user_id, date_trunc('month', min(at)) as cohort from {s}.events group by
user_id), active as (select distinct user_id, date_trunc('month', at) as month from {s}.events)
select cohort, cast(months_between(month, cohort) as int) as k, count(distinct a.user_id) as
users from firsts f join active a on a.user_id = f.user_id group by 1, 2;

-- funnel
select country, count(*) as users, sum(case when exists (select 1 from {s}.events e where
e.user_id = u.user_id and e.kind = 'cart') then 1 else 0 end) as carts, sum(case when exists
(select 1 from {s}.events e where e.user_id = u.user_id and e.kind = 'cart') and not exists
(select 1 from {s}.events b where b.user_id = u.user_id and b.kind = 'buy') then 1 else 0 end)
as abandoned from {s}.users u group by country;

-- ledger
select source, user_id, count(*) as n, sum(amount) as amount from (select 'buy' as source,
user_id, amount from {s}.events where kind = 'buy' union all select 'refund', e.user_id,
-r.amount from {s}.refunds r join {s}.events e on e.event_id = r.event_id union all select
'signup', user_id, cast(0 as decimal(10,2)) from {s}.users) l group by source, user_id;

-- priced
select e.event_id, e.user_id, e.amount, p.price, p.valid_from from {s}.events e join {s}.users u
on u.user_id = e.user_id left join {s}.prices p on p.plan = u.plan and to_date(e.at) between
p.valid_from and coalesce(p.valid_to, date '9999-12-31');

-- plan_revenue
select p.plan, p.valid_from, count(e.event_id) as events, sum(p.price) as revenue,
count(distinct u.user_id) as users from {s}.prices p left join {s}.users u on u.plan = p.plan
left join {s}.events e on e.user_id = u.user_id and to_date(e.at) >= p.valid_from and
(p.valid_to is null or to_date(e.at) <= p.valid_to) group by p.plan, p.valid_from;

-- kinds_pivoted
select * from (select u.country, e.kind, e.amount from {s}.events e join {s}.users u on
u.user_id = e.user_id) pivot (sum(amount) as total, count(*) as n for kind in ('view' as v,
'buy' as b));

-- percentiles
select u.country, percentile_approx(e.amount, 0.5) as middle, median(e.amount) as med,
percentile_cont(0.9) within group (order by e.amount) as p90, percentile(e.amount, array(0.25,
0.75)) filter (where e.kind = 'buy') as quartiles from {s}.events e join {s}.users u on
u.user_id = e.user_id group by u.country;

-- not_referrers
select user_id, name from {s}.users where user_id not in (select referrer from {s}.users);

-- silent
select u.user_id, u.country from {s}.users u left join {s}.events e on e.user_id = u.user_id and
e.kind <> 'view' where e.event_id is null;

-- distinct_buyers
select to_date(e.at) as day, count(distinct e.user_id) as users, count(distinct e.user_id)
filter (where e.kind = 'buy') as buyers, count(distinct e.page, e.kind) as places from
{s}.events e left join {s}.users u on u.user_id = e.user_id group by to_date(e.at);

-- rolled
select u.country, u.plan, count(*) as n, sum(e.amount) as total, grouping_id() as level from
{s}.events e join {s}.users u on u.user_id = e.user_id group by rollup (u.country, u.plan)
having count(*) > 1;

-- cubed
with pairs as (select distinct user_id, kind, page from {s}.events) select kind, page, count(*)
as users from pairs group by cube (kind, page);

-- shares
select u.country, e.kind, sum(e.amount) as total, sum(e.amount) / sum(sum(e.amount)) over
(partition by u.country) as share, rank() over (partition by e.kind order by sum(e.amount) desc
nulls last) as place from {s}.events e join {s}.users u on u.user_id = e.user_id group by
u.country, e.kind;

-- growth
with months as (select kind, date_trunc('month', at) as month, sum(amount) as total from
{s}.events group by 1, 2) select kind, month, total, lag(total) over (partition by kind order by
month) as before, total - lag(total, 1, 0) over (partition by kind order by month) as growth,
first_value(total) over (partition by kind order by month) as first_total from months;

-- above_own_mean
select user_id, count(*) as n, (select max(name) from {s}.users u where u.user_id = e.user_id)
as name from {s}.events e group by user_id having sum(amount) > (select avg(amount) from
{s}.events);

-- tags
select tag, count(*) as n, count(distinct user_id) as users, max(at) as last_at from {s}.events
lateral view explode(tags) t as tag group by tag having count(*) > 1;

-- tag_pairs
select a.tag, b.tag as other, count(*) as n from (select event_id, explode(tags) as tag from
{s}.events) a join (select event_id, explode(tags) as tag from {s}.events) b on a.event_id =
b.event_id and a.tag < b.tag group by a.tag, b.tag;

-- tags_kept
select e.event_id, p.pos, p.tag, u.country from {s}.events e lateral view outer posexplode(tags)
p as pos, tag left join {s}.users u on u.user_id = e.user_id;

-- balances
select coalesce(b.user_id, r.user_id) as user_id, coalesce(b.total, 0) - coalesce(r.total, 0) as
balance from (select user_id, sum(amount) as total from {s}.events where kind = 'buy' group by
user_id) b full join (select e.user_id, sum(r.amount) as total from {s}.refunds r join
{s}.events e on e.event_id = r.event_id group by e.user_id) r on r.user_id = b.user_id;

-- three_full
select user_id, n, m, k from (select user_id, count(*) as n from {s}.events where kind = 'view'
group by user_id) full join (select user_id, count(*) as m from {s}.events where kind = 'buy'
group by user_id) using (user_id) full join (select user_id, count(*) as k from {s}.users group
by user_id) using (user_id);

-- last_week
select event_id, user_id, sum(amount) over (partition by user_id order by to_date(at) range
between interval 7 days preceding and current row) as week, count(*) over (partition by user_id
order by to_date(at) range between interval 1 day preceding and interval 1 day following) as
near from {s}.events;

-- hour_before
select a.event_id, count(b.event_id) as before, max(b.amount) as top from {s}.events a left join
{s}.events b on b.user_id = a.user_id and b.at < a.at and b.at >= a.at - interval 1 hour group
by a.event_id;

-- sections
select lower(trim(split(page, '/')[1])) as section, regexp_extract(page, '([0-9]+)', 1) as
number, count(*) as n, max(length(page)) as longest from {s}.events where page like '/%' group
by 1, 2;

-- buckets
select case when amount is null then 'none' when amount < 5 then 'low' when amount between 5 and
20 then 'mid' else 'high' end as bucket, if(kind in ('buy', 'cart'), 'sale', kind) as k,
count(*) as n, avg(amount) as mean from {s}.events group by bucket, k;

-- devices
select device.os as os, device, count(*) as n, sort_array(collect_set(struct(kind, page))) as
places, max(struct(at, event_id)) as last_event from {s}.events group by device.os, device;

-- referrals
select props['ref'] as ref, count(*) as n, sum(amount) as total from {s}.events where
map_contains_key(props, 'ref') or kind = 'buy' group by props['ref'];

-- wide
select u.*, e.* except (user_id, props), p.price from {s}.users u left join {s}.events e on
e.user_id = u.user_id and e.kind = 'buy' left join {s}.prices p on p.plan = u.plan and
p.valid_to is null;

-- latest_kind
select user_id, max_by(struct(kind, page), struct(at, event_id, kind, page)) as latest,
max(struct(at, event_id)).event_id as last_id from {s}.events group by user_id;

-- islands
select user_id, min(day) as first_day, max(day) as last_day, count(*) as days from (select
user_id, day, date_sub(day, cast(row_number() over (partition by user_id order by day) as int))
as island from (select distinct user_id, to_date(at) as day from {s}.events) d) i group by
user_id, island;

-- spine
with days as (select explode(sequence(date '2026-01-01', date '2026-01-10', interval 1 day)) as
day), counted as (select to_date(at) as day, kind, count(*) as n from {s}.events group by 1, 2)
select d.day, k.kind, coalesce(c.n, 0) as n, sum(coalesce(c.n, 0)) over (partition by k.kind
order by d.day) as so_far from days d cross join (select distinct kind from {s}.events where
kind is not null) k left join counted c on c.day = d.day and c.kind = k.kind;

-- saw_everything
select u.user_id from {s}.users u where not exists (select 1 from (select distinct page from
{s}.events where kind = 'buy') p where not exists (select 1 from {s}.events e where e.user_id =
u.user_id and e.page = p.page));

-- loyal
with buyers as (select user_id from {s}.events where kind = 'buy'), viewers as (select user_id
from {s}.events where kind = 'view') (select user_id from buyers intersect select user_id from
viewers) except select e.user_id from {s}.refunds r join {s}.events e on e.event_id = r.event_id;

-- podium
select u.country, t.user_id, t.total from (select user_id, sum(amount) as total from {s}.events
group by user_id order by total desc nulls last, user_id limit 3) t left join {s}.users u on
u.user_id = t.user_id union select country, null, null from {s}.users;

-- quartiles
select country, q, count(*) as users, max(total) as top from (select u.country, e.user_id,
sum(e.amount) as total, ntile(4) over (partition by u.country order by sum(e.amount), e.user_id)
as q from {s}.events e join {s}.users u on u.user_id = e.user_id group by u.country, e.user_id)
t group by country, q;

-- last_seen
select u.user_id, u.name, (select e.kind from {s}.events e where e.user_id = u.user_id order by
e.at desc, e.event_id desc, e.kind limit 1) as last_kind, (select count(*) from {s}.events e
where e.user_id = u.user_id and e.kind = 'buy') as buys from {s}.users u;

-- strong
select u.country, sum(e.amount) as total from {s}.events e join {s}.users u on u.user_id =
e.user_id group by u.country having sum(e.amount) >= (select avg(t) from (select sum(e.amount)
as t from {s}.events e join {s}.users u on u.user_id = e.user_id group by u.country) x);

-- month_on_month
with m as (select user_id, month(at) as month, sum(amount) as total from {s}.events group by
user_id, month(at)) select a.user_id, a.month, a.total, b.total as before, a.total -
coalesce(b.total, 0) as change, t.total as overall from m a left join m b on b.user_id =
a.user_id and b.month = a.month - 1 join (select user_id, sum(total) as total from m group by
user_id) t on t.user_id = a.user_id;

-- measures
select kind, measure, value from (select kind, cast(count(*) as decimal(20,2)) as n,
cast(sum(amount) as decimal(20,2)) as total from {s}.events group by kind) unpivot include nulls
(value for measure in (n, total));

-- statistics
select kind, round(stddev(amount), 6) as deviation, round(var_pop(amount), 6) as variance,
round(corr(amount, event_id), 6) as c, round(skewness(event_id), 6) as skew, sum(cast(amount as
double)) as f, bit_xor(event_id) as x from {s}.events group by kind;

-- pages_listed
select user_id, listagg(distinct page, ',') within group (order by page) as pages,
array_sort(collect_list(kind)) as kinds, count_if(page is null) as lost from {s}.events group by
user_id;

-- filled
select event_id, user_id, last_value(page, true) over (partition by user_id order by at,
event_id, kind, page, amount rows between unbounded preceding and current row) as page_so_far,
percent_rank() over (partition by user_id order by at) as p from {s}.events;

-- in_pairs
select event_id, user_id, kind from {s}.events where (user_id, kind) in (select user_id, 'buy' from
{s}.users where country = 'de') and (event_id, amount) not in (select event_id, amount from
{s}.refunds);

-- grouped_sets
select country, plan, count(distinct name) as names, grouping(plan) as g from {s}.users group by
grouping sets ((country, plan), (country), ());

-- two_best
select u.user_id, t.event_id, t.amount from {s}.users u, lateral (select event_id, amount from
{s}.events e where e.user_id = u.user_id order by amount desc nulls last, event_id limit 2) t;

-- flags
select is_buyer, is_refunded, count(*) as users from (select u.user_id, exists (select 1 from
{s}.events e where e.user_id = u.user_id and kind = 'buy') as is_buyer, u.user_id in (select
e.user_id from {s}.refunds r join {s}.events e on e.event_id = r.event_id) as is_refunded from
{s}.users u) f group by is_buyer, is_refunded;

-- timeline
select user_id, at, what, row_number() over (partition by user_id order by at, what) as n from
(select user_id, at, kind as what from {s}.events union select e.user_id, r.at, 'refund' from
{s}.refunds r join {s}.events e on e.event_id = r.event_id union select user_id, cast(signed_up
as timestamp), 'signup' from {s}.users) t;

-- referral_tree
select c.user_id, c.name, p.name as referred_by, g.name as before_that, coalesce(g.country,
p.country, c.country) as origin from {s}.users c left join {s}.users p on p.user_id = c.referrer
left join {s}.users g on g.user_id = p.referrer;

-- net_revenue
select e.event_id, e.amount - coalesce((select sum(r.amount) from {s}.refunds r where r.event_id
= e.event_id), 0) as net, (select count(*) from {s}.refunds r where r.event_id = e.event_id) as
refunds from {s}.events e where e.kind = 'buy' and not exists (select 1 from {s}.refunds r where
r.event_id = e.event_id + 1 and r.amount > e.amount);

-- maps
select event_id, kind, props, map_filter(props, (k, v) -> v is not null) as known,
array(props, map('kind', kind)) as all_props, named_struct('m', props, 'd', device) as both
from {s}.events where user_id > 1;

-- spans
select user_id, sum(at - timestamp '2026-01-01 00:00:00') as spent, max(at) - min(at) as span,
try_sum(event_id) as ids, try_avg(amount) as mean, mode(kind, true) as usual from {s}.events
group by user_id;

-- names_of_columns
select event_id, pos, t.col, key, value from (select event_id, tags, explode(props) from {s}.events)
lateral view outer posexplode(tags) t;

-- recency
select u.user_id, u.country, datediff(current_date(), u.signed_up) as age, e.days, e.n from {s}.users u
join (select user_id, datediff(current_date(), max(to_date(at))) as days, count(*) as n from
{s}.events group by user_id having max(at) < now()) e on e.user_id = u.user_id;

-- ages
select case when datediff(current_date(), signed_up) > 200 then 'old' else 'new' end as age, plan,
current_date() as day, count(*) as n from {s}.users group by 1, plan, current_date();

-- reactivated
select user_id, month, total, case when before is null then 'new' when gap > 1 then 'back' else 'kept'
end as state, count(*) over (partition by month) as peers from (select user_id, month, total,
lag(month) over (partition by user_id order by month) as before, months_between(month, lag(month)
over (partition by user_id order by month)) as gap from (select user_id, date_trunc('month', at) as
month, sum(amount) as total from {s}.events where at is not null group by 1, 2) m) g;
