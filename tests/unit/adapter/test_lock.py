"""Who may use a local metastore, and for how long the others wait."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from dbt_ivm.adapter import lock


def test_a_short_wait_is_silent(tmp_path):
    held = lock.acquire(tmp_path, 0, print)
    said: list[str] = []
    threading.Timer(1.0, os.close, [held]).start()
    start = time.monotonic()
    os.close(lock.acquire(tmp_path, 4, said.append))
    assert time.monotonic() - start >= 0.9
    assert said == []


def test_waiting_is_told_once(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_PATIENCE_SECONDS", 0.1)
    held = lock.acquire(tmp_path, 0, print)
    said: list[str] = []
    with pytest.raises(lock.LockTimeout) as caught:
        lock.acquire(tmp_path, 1, said.append)
    os.close(held)
    assert said == [f"Waiting for process {os.getpid()}, which uses the local Spark of {tmp_path}"]
    assert "`lock_timeout`" in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_child_that_inherits_the_lock_keeps_it(tmp_path):
    held = lock.acquire(tmp_path, 0, print)
    wait = "import sys; sys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", wait], pass_fds=(held,), stdin=subprocess.PIPE)
    os.close(held)
    with pytest.raises(lock.LockTimeout):
        lock.acquire(tmp_path, 0, print)
    child.communicate()
    os.close(lock.acquire(tmp_path, 0, print))
