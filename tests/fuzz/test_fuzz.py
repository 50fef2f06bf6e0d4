"""A fixed budget of random models; `make fuzz` searches on, elsewhere every time."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.case import Case, Failed, cases, is_valid
from tests.fuzz.shrink import shrink
from tests.laws.data import History
from tests.laws.engine import Change


@settings(
    max_examples=40,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # the case is shrunk below, in seconds instead of minutes
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(case=cases())
def test_a_random_model_equals_recomputation(case: Case) -> None:
    try:
        case.run()
    except Failed as failure:
        kind = failure.kind
        shrink(case, lambda smaller: smaller.failure_kind() == kind).run()
        raise


def test_a_case_is_shrunk_to_what_makes_it_fail():
    sql = (
        "select q.a as c0, count(*) as c1 from (select a, b from r where b > 0) q"
        " left join s on q.a <=> s.a where q.a in (select a from s) group by q.a"
    )
    schema = {name: {"a": "int", "b": "int"} for name in ("r", "s")}
    rows = [(1, 2), (3, 4)]
    history = History({"r": rows, "s": rows}, ({"r": Change(rows[:1], ((rows[1], -1),))},))

    def fails(case: Case) -> bool:
        left = any(row == (1, 2) for row in case.history.start["r"])
        return left and "<=>" in case.sql and is_valid(case.schema, case.sql)

    small = shrink(Case(schema, sql, history), fails)
    assert small.history == History({"r": [(1, 2)], "s": []}, ())
    assert "IN (" not in small.sql
    assert "GROUP BY" not in small.sql
    assert len(small.sql) < len(sql) / 2
