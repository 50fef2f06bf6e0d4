"""The profile of `type: ivm`: dbt-spark's, plus where and how the local Spark keeps its tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.spark.connections import SparkConnectionMethod, SparkCredentials
from dbt_common.exceptions import DbtRuntimeError

LOCAL_DIR = ".ivm"


@dataclass
class IvmCredentials(SparkCredentials):
    """What `profiles.yml` may say; `method: session` needs nothing but a schema."""

    local_dir: str | None = None
    """Folder of the local warehouse and metastore; relative to the dbt project."""

    lock_timeout: int = 600
    """Seconds to wait for another process that uses the same folder."""

    @property
    def type(self) -> str:
        return "ivm"

    def _connection_keys(self) -> tuple[str, ...]:
        local = ("method", "local_dir") if self.is_session else ()
        return (*super()._connection_keys(), *local)

    @property
    def is_session(self) -> bool:
        return bool(self.method == SparkConnectionMethod.SESSION)

    def __post_init__(self) -> None:
        if self.is_session:
            self._check_session()
        else:
            super().__post_init__()

    def _check_session(self) -> None:
        # dbt-spark asks for a host and imports pyspark here; parsing a project needs neither.
        self.host = self.host or "localhost"
        if self.schema is None:
            raise DbtRuntimeError("Must specify `schema` in profile")
        if self.database not in (None, self.schema):
            raise DbtRuntimeError("On Spark, `database` must be omitted or equal `schema`")
        self.database = None
        parameters = {str(key): str(value) for key, value in self.server_side_parameters.items()}
        self.server_side_parameters = {**parameters, "spark.sql.ansi.enabled": "false"}

    def place(self, project_root: Path) -> None:
        """Make `local_dir` absolute; until then nobody knows which project it belongs to."""
        if self.is_session:
            self.local_dir = str((project_root / (self.local_dir or LOCAL_DIR)).resolve())
