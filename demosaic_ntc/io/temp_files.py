"""The files that results grow in: named after their writer, locked while it lives, cleared when it is gone.

Two runs may share a folder, so a temporary file is touched by others only when its writer is certainly gone:
its process has ended, if it ran on this machine, and nobody holds the lock that the system drops with it.
"""

import os
import platform
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from typing import BinaryIO

from demosaic_ntc.io.remote import Place
from demosaic_ntc.machine import is_alive

_NAME = re.compile(r"\.demosaic-ntc-(\w+-\d+)-[0-9a-f]+\.partial")

# How long a file of another machine, whose processes are not seen from here, must have been left alone.
_ABANDONED_SECONDS = 3600.0


def create_partial(place: Path) -> tuple[Path, BinaryIO]:
    """A new empty file beside `place`, readable by nobody who may not read what is there now."""
    partial = place.with_name(f".demosaic-ntc-{owner()}-{secrets.token_hex(6)}.partial")
    descriptor = os.open(
        partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), _mode(place)
    )
    return partial, os.fdopen(descriptor, "w+b")


def _mode(place: Path) -> int:
    """The permissions of the file that is replaced, or those any new file gets."""
    with suppress(OSError):
        return stat.S_IMODE(place.stat().st_mode) & 0o666 | stat.S_IRUSR | stat.S_IWUSR
    return 0o666


@contextmanager
def hold_lock(file: BinaryIO) -> Iterator[None]:
    """Hold the lock that tells others that the writer lives, even after `file` itself is closed."""
    holder = os.dup(file.fileno()) if sys.platform != "win32" else None
    try:
        if holder is not None:
            try_lock(holder)
        yield
    finally:
        if holder is not None:
            os.close(holder)


@contextmanager
def hold_folder() -> Iterator[Path]:
    """A new folder for copies of what lies beyond this machine, gone with the block."""
    folder = Path(gettempdir(), f".demosaic-ntc-{owner()}-{secrets.token_hex(6)}.partial")
    folder.mkdir(mode=0o700)
    with ExitStack() as held:
        held.callback(rmtree, folder, ignore_errors=True)
        if sys.platform != "win32":
            lock = os.open(folder, os.O_RDONLY)
            held.callback(os.close, lock)
            try_lock(lock)
        yield folder


def remove_stale(folder: Place) -> list[Path]:
    """Remove what dead runs have left half-written in a folder; return what was removed.

    What belongs into storage beyond this machine grows in a folder for temporary files.
    """
    stale: list[Path] = []
    with suppress(OSError):
        here = folder if isinstance(folder, Path) else Path(gettempdir())
        stale += (path for path in here.iterdir() if _is_stale(path))
    for path in stale:
        with suppress(OSError):  # another run may have been quicker, or the disk takes nothing away
            rmtree(path) if path.is_dir() else path.unlink()
    return stale


def owner() -> str:
    """This process, as files that belong to it are marked."""
    return f"{_host()}-{os.getpid()}"


def is_abandoned(path: Path, mark: str) -> bool:
    """Whether the process that marked a file is gone; on another machine, whether it has long been still."""
    host, _, pid = mark.rpartition("-")
    if host == _host() and pid.isdecimal():
        return not is_alive(int(pid))
    with suppress(OSError):
        return time.time() - path.stat().st_mtime > _ABANDONED_SECONDS
    return False


def _is_stale(path: Path) -> bool:
    """Whether a file is a temporary one whose writer is gone."""
    name = _NAME.fullmatch(path.name)
    return name is not None and is_abandoned(path, name[1]) and _lock_is_free(path)


def _host() -> str:
    """This machine's name, in letters that fit into a file's."""
    return re.sub(r"\W", "_", platform.node() or "localhost", flags=re.ASCII)[:64]


if sys.platform == "win32":

    def try_lock(descriptor: int) -> bool:
        """Windows has no such lock; its own rename refuses names that are taken."""
        return True

    def _lock_is_free(path: Path) -> bool:
        """Windows lets nobody delete an open file: no lock is needed."""
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Take the lock of an open file; where the file system has no locks, nobody holds one either."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def _lock_is_free(path: Path) -> bool:
        """Whether nobody holds the lock of a file; processes of another container are seen this way only."""
        try:
            descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        except OSError:
            return False
        try:
            return try_lock(descriptor)
        finally:
            os.close(descriptor)
