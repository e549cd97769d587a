"""Files appear whole or not at all: written beside the target, flushed to disk, then moved into place.

What a run writes must be neither what it reads nor another of its results. An interrupted run, a full disk or
a crash leaves the old file as it was; at worst one file ending in ``.partial`` stays behind in the target's
folder, until a later run removes it. Two runs may share a folder: such a file is named after its writer and
touched by others only when that is certainly gone. Its process has ended, if it ran on this machine, and
nobody holds the lock that the system drops with it.
"""

import errno
import os
import platform
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from typing import Any, BinaryIO

from demosaic_ntc.errors import NO_SPACE, OF_THE_MACHINE, Clash, DiskFull, Exists, NotWritable, OutputError
from demosaic_ntc.io.remote import Place, RemotePath
from demosaic_ntc.machine import is_alive

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
    with suppress(OSError):  # some systems cannot flush a folder's list of names
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


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


_NAME = re.compile(r"\.demosaic-ntc-(\w+-\d+)-[0-9a-f]+\.partial")

# How long a file of another machine, whose processes are not seen from here, must have been left alone.
_ABANDONED_SECONDS = 3600.0


def create_partial(place: Path) -> tuple[Path, BinaryIO]:
    """A new empty file beside `place`, readable by nobody who may not read what is there now."""
    partial = place.with_name(f".demosaic-ntc-{owner()}-{secrets.token_hex(6)}.partial")
    mode = 0o666  # that any new file gets, or that of the file that is replaced
    with suppress(OSError):
        mode = stat.S_IMODE(place.stat().st_mode) & 0o666 | stat.S_IRUSR | stat.S_IWUSR
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return partial, os.fdopen(os.open(partial, flags, mode), "w+b")


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


def file_key(path: Place) -> tuple[int, int] | str:
    """What tells a file from others whatever it is called: device and number, or the place it will have."""
    if isinstance(path, RemotePath):
        return str(path)
    try:
        status = os.stat(path)
    except OSError:
        return os.path.normcase(os.path.realpath(path))
    return status.st_dev, status.st_ino


def find_paths(settings: Any) -> Iterator[Path]:
    """All paths that settings hold, at any depth: files that a run reads besides its input."""
    match settings:
        case Path():
            yield settings
        case tuple() | list():
            for each in settings:
                yield from find_paths(each)
        case _ if is_dataclass(settings):
            for field in fields(settings):
                yield from find_paths(getattr(settings, field.name))


def check_distinct(reads: Iterable[Any], writes: Iterable[Path | None]) -> None:
    """Refuse to write over a file that the same run reads or writes, under whatever name.

    What is read are all paths in `reads`, those of settings too; see `find_paths`.
    """
    read = {file_key(path) for path in find_paths(tuple(reads))}
    written: set[tuple[int, int] | str] = set()
    for path in writes:
        if path is None:
            continue
        key = file_key(path)
        if key in read:
            raise Clash(f"{path}: input and output are the same file; choose another name")
        if key in written:
            raise Clash(f"{path}: is another result of this run; choose another name")
        written.add(key)
