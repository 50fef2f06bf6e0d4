"""The Spark that all sides share, and what it says about the work it did."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from dbt.adapters.spark.connections import SparkConnectionMethod
from pyspark.sql import SparkSession

from dbt_ivm.adapter import embedded
from dbt_ivm.adapter.credentials import IvmCredentials

# What the status store keeps must last for one dbt run over the whole project.
_RETAINED = {"spark.ui.retainedJobs": "5000", "spark.ui.retainedStages": "20000"}


def start(folder: Path, parameters: dict[str, str] | None = None) -> SparkSession:
    """The Spark a profile without settings gets, on tables kept in `folder`."""
    session = SparkConnectionMethod.SESSION
    credentials = IvmCredentials(method=session, schema="any", database=None)
    settings = {**credentials.server_side_parameters, **_RETAINED, **(parameters or {})}
    return embedded.start(folder, settings, lock_timeout=0)


@dataclass
class Work:
    """What Spark did in a span of time; rows and bytes are those of tables and files."""

    jobs: int = 0
    tasks: int = 0
    rows_read: int = 0
    bytes_read: int = 0
    rows_written: int = 0
    bytes_written: int = 0
    bytes_shuffled: int = 0
    task_seconds: float = 0.0

    def add(self, other: Work) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class Meter:
    """Jobs of a Spark from its status store, which is there without the web interface."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        jvm = context._jvm
        self._store = context._jsc.sc().statusStore()
        self._bus = context._jsc.sc().listenerBus()
        self._mapper = jvm.org.apache.spark.status.api.v1.JacksonMessageWriter().mapper()
        self._new_list = jvm.java.util.ArrayList
        self._last_job = -1
        self.skip()
        self.jobs: list[tuple[datetime, Work]] = []

    def read(self) -> None:
        """Take over the jobs since the last call; called when nothing runs."""
        self.jobs = [(_time(job["submissionTime"]), self._work(job)) for job in self._new_jobs()]

    def skip(self) -> None:
        """Forget the jobs since the last call."""
        self._new_jobs()

    def between(self, start: datetime, end: datetime) -> Work:
        """The work of the jobs that were submitted in a span of time."""
        total = Work()
        for submitted, work in self.jobs:
            if start <= submitted <= end:
                total.add(work)
        return total

    def total(self) -> Work:
        total = Work()
        for _, work in self.jobs:
            total.add(work)
        return total

    def _new_jobs(self) -> list[dict[str, Any]]:
        self._bus.waitUntilEmpty()
        jobs = self._json(self._store.jobsList(None))
        new = [job for job in jobs if job["jobId"] > self._last_job]
        self._last_job = max((job["jobId"] for job in new), default=self._last_job)
        return new

    def _work(self, job: dict[str, Any]) -> Work:
        stages = self._new_list()
        for stage in job["stageIds"]:
            stages.add(self._store.lastStageAttempt(stage))
        work = Work(jobs=1)
        for stage in self._json(stages):
            work.add(_stage_work(stage))
        return work

    def _json(self, value: Any) -> Any:
        return json.loads(self._mapper.writeValueAsString(value))


def _stage_work(stage: dict[str, Any]) -> Work:
    return Work(
        tasks=stage["numCompleteTasks"],
        rows_read=stage["inputRecords"],
        bytes_read=stage["inputBytes"],
        rows_written=stage["outputRecords"],
        bytes_written=stage["outputBytes"],
        bytes_shuffled=stage["shuffleWriteBytes"],
        task_seconds=stage["executorRunTime"] / 1000,
    )


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fGMT").replace(tzinfo=timezone.utc)
