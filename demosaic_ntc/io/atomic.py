"""Files appear whole or not at all: written beside the target, flushed to disk, then moved into place.

An interrupted run, a full disk or a crash leaves the old file as it was; at worst one file ending in
``.partial`` stays behind in the target's folder, until a later run removes it (see `partial`).
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from demosaic_ntc.errors import DiskFull, Exists, NotWritable, OutputError
from demosaic_ntc.io.error_boundary import OF_THE_MACHINE
from demosaic_ntc.io.temp_files import create_partial, hold_lock

# What an operating system answers when no more bytes fit: the device, the quota, the largest file allowed.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

Ask = Callable[[Path, Path], None]  # the target as it is named on the disk, and the finished file

_ASK: ContextVar[Ask | None] = ContextVar("ask", default=None)


@contextmanager
def ask_before_publishing(ask: Ask) -> Iterator[None]:
    """Let `ask` see every file that is finished inside before it gets its name, and prevent it by raising."""
    token = _ASK.set(ask)
    try:
        yield
    finally:
        _ASK.reset(token)


@contextmanager
def whole_file(target: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file to write in, which becomes `target` when the block ends without an error."""
    place = Path(os.path.realpath(target))
    with refusals_explained(target):
        partial, file = create_partial(place)
    try:
        with refusals_explained(target), hold_lock(file):
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if (ask := _ASK.get()) is not None:
                ask(place, partial)
            _publish(partial, place, overwrite=overwrite)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()


def check_regular(target: Path) -> None:
    """Refuse a target that is there and no file: devices and pipes may be read, and written, for ever."""
    with refusals_explained(target):
        place = Path(os.path.realpath(target))
        if os.path.lexists(place) and not stat.S_ISREG(place.stat().st_mode):
            raise NotWritable(f"{target}: is not a regular file; choose another name")


def check_target(target: Path) -> None:
    """Refuse, before any work is done, a target that could not be written."""
    check_regular(target)
    with refusals_explained(target):
        place = Path(os.path.realpath(target))
        if not place.parent.is_dir():
            raise NotWritable(f"{target}: there is no folder {place.parent}; create it first")
        with suppress(FileNotFoundError):  # a name that is too long is refused here
            os.lstat(place)
        partial, file = create_partial(place)
        file.close()
        partial.unlink()


def _publish(partial: Path, place: Path, *, overwrite: bool) -> None:
    """Give the finished file its name, and make the name itself survive a power cut."""
    if not overwrite:
        _claim(partial, place)
    if partial.exists():
        with suppress(OSError):  # whoever was kept from reading the old file is kept from reading the new one
            partial.chmod(stat.S_IMODE(place.stat().st_mode))
        os.replace(partial, place)
    _sync_folder(place.parent)


def _claim(partial: Path, place: Path) -> None:
    """Take a name that nobody has yet; two writers can not both succeed."""
    try:
        os.link(partial, place)
        partial.unlink()
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: claim the name by an empty file instead
        os.close(os.open(place, os.O_CREAT | os.O_EXCL))


def _sync_folder(folder: Path) -> None:
    """Flush the folder's list of names, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def refusals_explained(target: Path) -> Iterator[None]:
    """Turn the system's refusals into errors that say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise
        raise _output_error(target, error) from error


def _output_error(target: Path, error: OSError) -> OutputError:
    """The error of this package for an error of the system."""
    if isinstance(error, FileExistsError):
        return Exists(f"{target}: exists already; use `overwrite` to replace it")
    if error.errno in _FULL:
        return DiskFull(f"{target}: no space left; free some or write elsewhere")
    reason = error.strerror or str(error)
    return NotWritable(f"{target}: cannot be written ({reason}); choose another folder")
