"""One process at a time per local metastore: Derby lets in a single JVM."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

_POLL_SECONDS = 0.2
_PATIENCE_SECONDS = 2.0  # a JVM that is just going down is not worth a message


class LockTimeout(Exception):
    """Another process kept the folder for too long."""


def acquire(folder: Path, timeout: float, say: Callable[[str], None]) -> int:
    """Lock `folder` and return the descriptor that holds the lock until it is closed.

    A child that inherits the descriptor holds the lock too, so a JVM that outlives us keeps it.
    """
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _wait(descriptor, folder, timeout, say)
    except BaseException:
        os.close(descriptor)
        raise
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def _wait(descriptor: int, folder: Path, timeout: float, say: Callable[[str], None]) -> None:
    start, told = time.monotonic(), False
    while not _is_ours(descriptor):
        waited = time.monotonic() - start
        if waited >= timeout:
            raise LockTimeout(
                f"The local Spark of {folder} is still in use by {_holder(descriptor)} after "
                f"{timeout:.0f} seconds: let it finish or end it, raise `lock_timeout` in the "
                "profile, or give this target a `local_dir` of its own."
            )
        if not told and waited >= min(_PATIENCE_SECONDS, timeout / 2):
            say(f"Waiting for {_holder(descriptor)}, which uses the local Spark of {folder}")
            told = True
        time.sleep(_POLL_SECONDS)


def _is_ours(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(descriptor: int) -> str:
    pid = os.pread(descriptor, 20, 0).decode(errors="replace")
    return f"process {pid}" if pid.isdigit() else "another process"
