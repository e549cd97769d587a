"""Files appear whole or not at all: written beside the target, flushed to disk, then moved into place.

An interrupted run, a full disk or a crash leaves the old file as it was; at worst one file ending in
``.partial`` stays behind in the target's folder, until a later run removes it (see `temp_files`).
"""

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from demosaic_ntc.errors import DiskFull, Exists, NotWritable, OutputError
from demosaic_ntc.io.error_boundary import NO_SPACE, OF_THE_MACHINE
from demosaic_ntc.io.remote import Place, RemotePath
from demosaic_ntc.io.temp_files import create_partial, hold_lock, try_lock

# Of renameat2(2), and of renamex_np(2) on macOS.
_AT_FDCWD, _RENAME_NOREPLACE, _RENAME_EXCL = -100, 1, 4

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
    """Refuse a target that exists and is not a regular file: a device or a pipe may block for ever."""
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


def check_new(target: Path, *, overwrite: bool) -> None:
    """Refuse, before any work is done, to replace a file unasked."""
    if not overwrite and not is_absent(target):
        raise Exists(f"{target}: exists already; use `overwrite` to replace it")


def is_absent(target: Place) -> bool:
    """Whether nothing lies at a place that could be lost: no file, or one without a byte."""
    try:
        status = target.stat()
    except OSError:  # nothing is there, or a link that leads nowhere, and nobody knows what that stands for
        return isinstance(target, RemotePath) or not os.path.lexists(target)
    return stat.S_ISREG(status.st_mode) and status.st_size == 0


def _publish(partial: Path, place: Path, *, overwrite: bool) -> None:
    """Give the finished file its name, and make the name itself survive a power cut."""
    if overwrite:
        with suppress(OSError):  # whoever was kept from reading the old file is kept from reading the new one
            partial.chmod(stat.S_IMODE(place.stat().st_mode))
        os.replace(partial, place)
    elif not _rename_to_new(partial, place):
        with _claim(place):
            os.replace(partial, place)
    _sync_folder(place.parent)


def _rename_to_new(partial: Path, place: Path) -> bool:
    """Take a new name in one step; False where the file system cannot, or where the name is taken."""
    for move in (_rename_without_replacing, _link_and_unlink):
        try:
            move(partial, place)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno in NO_SPACE:
                raise
        else:
            return True
    return False


def _link_and_unlink(partial: Path, place: Path) -> None:
    """Move a file by a second name, which must be new."""
    os.link(partial, place)
    partial.unlink()


def _rename_without_replacing(partial: Path, place: Path) -> None:
    """Move a file in one step to a name that must be new; OSError where the system has no such step."""
    if sys.platform == "win32":
        os.rename(partial, place)  # there it refuses names that are taken
        return
    import ctypes  # noqa: PLC0415 (needed here only)

    system = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(partial), os.fsencode(place)
    try:
        if sys.platform == "darwin":
            failed = system.renamex_np(*names, _RENAME_EXCL)
        else:
            failed = system.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_NOREPLACE)
    except AttributeError as error:  # an old C library
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
    if failed:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(place))


@contextmanager
def _claim(place: Path) -> Iterator[None]:
    """Hold a name by an empty file: one's own, or one that a dead writer left; no two writers can.

    Whatever goes wrong, no empty file stays behind.
    """
    if not is_absent(place):
        raise _taken()
    with open(os.open(place, os.O_RDWR | os.O_CREAT, 0o666), "rb") as file:
        is_held = try_lock(file.fileno()) and os.path.samestat(os.fstat(file.fileno()), os.stat(place))
        if not is_held or not is_absent(place):
            raise _taken()
        try:
            yield
        except BaseException:
            with suppress(OSError):
                place.unlink()
            raise


def _taken() -> FileExistsError:
    """What the system says of a name that is taken."""
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


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
    if error.errno in NO_SPACE:
        return DiskFull(f"{target}: no space left; free some or write elsewhere")
    reason = error.strerror or str(error)
    return NotWritable(f"{target}: cannot be written ({reason}); choose another folder")
