"""A fixed budget of random models; `make fuzz` searches on, elsewhere every time."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.fuzz.case import Case, cases


@settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(case=cases())
def test_a_random_model_equals_recomputation(case: Case) -> None:
    case.run()
