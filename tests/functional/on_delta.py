"""What dbt's suites need to be told to keep every table in Delta."""

from __future__ import annotations

import pytest

DELTA = {"+file_format": "delta"}


class OnDelta:
    """Mixed in before a suite: its models, seeds and snapshots become Delta tables."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": DELTA, "seeds": DELTA, "snapshots": DELTA}


class OnDeltaByMerge:
    """Incremental models that merge."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        merge = {**DELTA, "+incremental_strategy": "merge"}
        return {"models": merge, "seeds": DELTA, "snapshots": DELTA}
