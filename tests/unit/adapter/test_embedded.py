"""The settings of the local Spark, and one sentence for each reason why it does not start."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pyspark.version
import pytest
from dbt.adapters.exceptions import FailedToConnectError

from dbt_ivm.adapter import embedded, session
from dbt_ivm.adapter.credentials import IvmCredentials
from dbt_ivm.adapter.embedded import default_settings, merged


def test_everything_is_kept_in_the_folder(tmp_path):
    settings = default_settings(tmp_path / "my project")
    assert settings["spark.sql.warehouse.dir"] == f"{tmp_path}/my project/warehouse"
    url = settings["spark.hadoop.javax.jdo.option.ConnectionURL"]
    assert f"databaseName={tmp_path}/my project/metastore_db;" in url
    java = settings["spark.driver.extraJavaOptions"]
    assert f'-Dderby.stream.error.file="{tmp_path}/my project/derby.log"' in java


def test_parameters_win():
    ours = {"spark.master": "local[*]", "spark.ui.enabled": "false"}
    assert merged(ours, {"spark.master": "local[1]", "a.b": "c"}) == {
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "a.b": "c",
    }


def test_java_options_are_added_and_an_empty_value_switches_off():
    options = "spark.driver.extraJavaOptions"
    ours = {options: "-Da=1", "spark.jars.packages": "delta"}
    theirs = {options: "-Da=2", "spark.jars.packages": ""}
    assert merged(ours, theirs) == {options: "-Da=1 -Da=2"}


@pytest.mark.parametrize(
    ("version", "package"),
    [
        ("4.0.5", "io.delta:delta-spark_2.13:4.0.1"),
        ("4.1.4", "io.delta:delta-spark_4.1_2.13:4.4.0"),
    ],
)
def test_delta_follows_pyspark(monkeypatch, version, package):
    monkeypatch.setattr(pyspark.version, "__version__", version)
    assert embedded.delta_package() == package


def test_unknown_pyspark(monkeypatch):
    monkeypatch.setattr(pyspark.version, "__version__", "9.9.0")
    assert sentence(embedded.delta_package).startswith(
        "No Delta release is known for pyspark 9.9.0"
    )


def test_missing_pyspark(monkeypatch):
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    assert "pip install 'dbt-ivm[session]'" in sentence(lambda: session.connect(credentials()))


def test_spark_connect_is_refused(monkeypatch):
    monkeypatch.setenv("SPARK_REMOTE", "sc://somewhere")
    assert "unset it" in sentence(lambda: session.connect(credentials()))


def test_missing_java(monkeypatch, tmp_path):
    with_java(monkeypatch, tmp_path, None)
    told = sentence(lambda: embedded.start(tmp_path / "data", {}, 0))
    assert told.startswith("Spark needs Java 17 or newer and there is no `java`")


@pytest.mark.parametrize(("version", "major"), [("1.8.0_392", 8), ("11.0.2", 11)])
def test_old_java(monkeypatch, tmp_path, version, major):
    with_java(monkeypatch, tmp_path, f"echo 'openjdk version \"{version}\"' >&2; exit 1")
    told = sentence(lambda: embedded.start(tmp_path / "data", {}, 0))
    assert f"`java` is version {major}" in told
    assert "JAVA_HOME" in told


def test_any_other_failure_names_the_log(monkeypatch, tmp_path):
    with_java(monkeypatch, tmp_path, "echo 'openjdk version \"21\"' >&2; exit 3")
    told = sentence(lambda: embedded.start(tmp_path / "data", {}, 0))
    assert told == f"The JVM of Spark does not start; {tmp_path}/data/spark.log says why."


def test_a_failed_start_gives_the_folder_back(monkeypatch, tmp_path):
    with_java(monkeypatch, tmp_path, None)
    for _ in range(2):
        assert "`java`" in sentence(lambda: embedded.start(tmp_path / "data", {}, 0))


def sentence(start) -> str:
    with pytest.raises(FailedToConnectError) as caught:
        start()
    assert "\n" not in caught.value.msg
    return caught.value.msg


def credentials() -> IvmCredentials:
    return IvmCredentials(method="session", schema="shop", database=None)


def with_java(monkeypatch, folder: Path, script: str | None) -> None:
    """A PATH with the tools of spark-submit, and this `java` or none."""
    tools = folder / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "env", "python3", "ls", "sed", "grep", "tr"):
        found = next(
            (path for path in map(Path, ("/bin", "/usr/bin")) if (path / name).exists()), None
        )
        if found:
            (tools / name).symlink_to(found / name)
    if script is not None:
        java = tools / "java"
        java.write_text(f"#!/bin/sh\n{script}\n")
        java.chmod(java.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tools))
    for name in ("JAVA_HOME", "PYSPARK_GATEWAY_PORT", "SPARK_HOME"):
        if name in os.environ:
            monkeypatch.delenv(name)
