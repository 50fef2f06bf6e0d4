"""The local Spark with Delta that `method: session` starts when its process has none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError

from dbt_ivm.adapter import lock
from dbt_ivm.adapter.messages import message_of

if TYPE_CHECKING:
    from pyspark.conf import SparkConf
    from pyspark.sql import SparkSession

logger = AdapterLogger("Ivm")

OLDEST_JAVA = 17
DELTA = {
    "4.0": "io.delta:delta-spark_2.13:4.0.1",
    "4.1": "io.delta:delta-spark_4.1_2.13:4.4.0",
}
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
NO_PYSPARK = "`method: session` needs pyspark: pip install 'dbt-ivm[session]'."
_PACKAGES = "spark.jars.packages"


def start(folder: Path, parameters: Mapping[str, str], lock_timeout: float) -> SparkSession:
    """Start Spark on the tables kept in `folder`; what `parameters` say wins over our defaults."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    settings = merged(default_settings(folder), parameters)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = lock.acquire(folder, lock_timeout, logger.info)
    except lock.LockTimeout as error:
        raise FailedToConnectError(str(error)) from None
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    try:
        gateway = _launch(conf, folder / "spark.log", descriptor)
        try:
            return SparkSession(SparkContext(conf=conf, gateway=gateway))
        except Exception as error:
            _abandon(gateway)
            raise FailedToConnectError(f"Spark does not start: {message_of(error)}") from None
    except BaseException:
        os.close(descriptor)
        raise


def merged(defaults: Mapping[str, str], parameters: Mapping[str, str]) -> dict[str, str]:
    """Defaults overruled by parameters; an empty value leaves a setting to Spark.

    Java options are a list in one string, where the last word wins: ours come first.
    """
    settings = {**defaults, **parameters}
    if _JAVA_OPTIONS in parameters and _JAVA_OPTIONS in defaults:
        settings[_JAVA_OPTIONS] = f"{defaults[_JAVA_OPTIONS]} {parameters[_JAVA_OPTIONS]}".strip()
    return {key: value for key, value in settings.items() if value != ""}


def default_settings(folder: Path) -> dict[str, str]:
    """A quiet Spark for one machine, with Delta, that keeps everything in `folder`."""
    cores = str(os.cpu_count() or 2)
    log4j = Path(__file__).with_name("log4j2.properties")
    return {
        "spark.app.name": "dbt-ivm",
        "spark.master": "local[*]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{_driver_megabytes()}m",
        _JAVA_OPTIONS: (
            f'-Dderby.stream.error.file="{folder / "derby.log"}" '
            f'-Dlog4j2.configurationFile="{log4j.as_uri()}"'
        ),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        _PACKAGES: delta_package(),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true"
        ),
        # Hive retries a failing, unneeded alter after each replace of a Delta table: 38 s, not 2.
        "spark.hadoop.hive.hmshandler.retry.attempts": "1",
        "spark.sql.shuffle.partitions": cores,
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": cores,
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.databricks.delta.properties.defaults.enableChangeDataFeed": "true",
    }


def delta_package() -> str:
    """The Delta release made for the installed pyspark."""
    from pyspark.version import __version__ as version

    package = DELTA.get(".".join(version.split(".")[:2]))
    if package is None:
        raise FailedToConnectError(
            f"No Delta release is known for pyspark {version}: install pyspark "
            f"{' or '.join(DELTA)}, or start your own SparkSession before dbt."
        )
    return package


def _driver_megabytes() -> int:
    """A quarter of the memory, between 1 and 4 GB: room for the rest of a small machine."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return max(1024, min(4096, machine // 4))


def _launch(conf: SparkConf, log: Path, descriptor: int) -> Any:
    """Start the JVM with its chatter in `log` and the lock of the folder in its hands."""
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    with log.open("wb") as output:
        channels = {"stdout": output, "stderr": output, "pass_fds": (descriptor,)}
        try:
            return launch_gateway(conf, channels)
        except (PySparkRuntimeError, OSError):
            pass
    raise FailedToConnectError(_why_no_jvm(conf, log))


def _abandon(gateway: Any) -> None:
    from pyspark import SparkContext

    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None


def _why_no_jvm(conf: SparkConf, log: Path) -> str:
    """One sentence, most likely cause first, and the way out."""
    version = _java_version()
    if version is None:
        return (
            f"Spark needs Java {OLDEST_JAVA} or newer and there is no `java`: "
            "install one and put it on PATH, or set JAVA_HOME."
        )
    if version < OLDEST_JAVA:
        return (
            f"Spark needs Java {OLDEST_JAVA} or newer and `java` is version {version}: "
            "install a newer one and put it first on PATH, or set JAVA_HOME."
        )
    text = log.read_text(errors="replace")
    if "unresolved dependency" in text or "download failed" in text.lower():
        return (
            f"The jars of {conf.get(_PACKAGES)} cannot be downloaded: connect to the network once, "
            "or give their paths as `spark.jars` and an empty `spark.jars.packages` in "
            "`server_side_parameters`."
        )
    return f"The JVM of Spark does not start; {log} says why."


def _java_version() -> int | None:
    """Major version of the Java that Spark would use, None without one."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    if java is None:
        return None
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', shown.stderr)
    return int(found.group(1)) if found else None
