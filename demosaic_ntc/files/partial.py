"""The files that results grow in: named after their writer, locked while it lives, cleared when it is gone.

Two runs may share a folder, so a temporary file is touched by others only when its writer is certainly gone:
its process has ended, if it ran on this machine, and nobody holds the lock that the system drops with it.
"""

import os
import platform
import re
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import psutil

_NAME = re.compile(r"\.demosaic-ntc-(?P<host>\w+)-(?P<pid>\d+)-[0-9a-f]+\.partial")

# How long a file of another machine, whose locks may not be visible here, must have been left alone.
_ABANDONED_SECONDS = 3600.0


def create_partial(place: Path) -> tuple[Path, BinaryIO]:
    """A new empty file in the folder of `place`, with the permissions any new file gets."""
    partial = place.with_name(f".demosaic-ntc-{_host()}-{os.getpid()}-{secrets.token_hex(6)}.partial")
    descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    return partial, os.fdopen(descriptor, "w+b")


@contextmanager
def locked(file: BinaryIO) -> Iterator[None]:
    """Hold the lock that tells others that the writer lives, even after `file` itself is closed."""
    holder = os.dup(file.fileno()) if sys.platform != "win32" else None
    try:
        if holder is not None:
            _try_lock(holder)
        yield
    finally:
        if holder is not None:
            os.close(holder)


def remove_stale(folder: Path) -> list[Path]:
    """Remove what dead runs have left half-written in a folder; return what was removed."""
    stale: list[Path] = []
    with suppress(OSError), os.scandir(folder) as entries:
        stale += (Path(entry.path) for entry in entries if _is_stale(entry))
    for path in stale:
        path.unlink(missing_ok=True)
    return stale


def _is_stale(entry: "os.DirEntry[str]") -> bool:
    """Whether a file is a temporary one whose writer is gone."""
    name = _NAME.fullmatch(entry.name)
    if name is None:
        return False
    if name["host"] != _host():
        age = time.time() - entry.stat().st_mtime
        return age > _ABANDONED_SECONDS and _lock_is_free(entry.path)
    return not psutil.pid_exists(int(name["pid"])) and _lock_is_free(entry.path)


def _host() -> str:
    """This machine's name, in letters that fit into a file's."""
    return re.sub(r"\W", "_", platform.node() or "localhost", flags=re.ASCII)[:64]


if sys.platform == "win32":

    def _lock_is_free(path: str) -> bool:
        """Windows lets nobody delete an open file: no lock is needed."""
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        """Take the lock of an open file; where the file system has no locks, nobody holds one either."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def _lock_is_free(path: str) -> bool:
        """Whether nobody holds the lock of a file; processes of another container are seen this way only."""
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            return False
        try:
            return _try_lock(descriptor)
        finally:
            os.close(descriptor)
