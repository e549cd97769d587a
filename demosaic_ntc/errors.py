"""Everything this package raises on purpose, and the borders at which errors of others become ours.

Damaged bytes make decoders raise almost anything. At a border it becomes an error of ours, in one line. Two
things pass: errors of this package, which say more, and what tells of this machine instead of the file: no
memory, no more open files.
"""

import errno
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import nan
from numbers import Real


class DemosaicNtcError(Exception):
    """The base of all errors of this package."""


class InputError(DemosaicNtcError, ValueError):
    """What was given cannot be used."""


class NotAnImage(InputError):
    """The bytes are no image or raw file that we read."""


class Truncated(InputError):
    """The file ends early or is damaged."""


class TooLarge(InputError):
    """It would not fit in the limits that were set."""


class Unsupported(InputError):
    """A valid input of a kind we do not process."""


class Crashed(InputError):
    """Its decoder ended without an answer, took too long, or answered with nonsense."""


class BadMask(InputError):
    """The mask does not fit its image."""


class Clash(InputError):
    """Two results of a batch, or a result and an input, would share a place."""


class OutputError(DemosaicNtcError):
    """The result cannot be written."""


class Exists(OutputError):
    """The target is there and may not be overwritten."""


class Changed(Exists):
    """The target was made by this program and has been changed since."""


class NotWritable(OutputError):
    """The target folder does not take files."""


class DiskFull(OutputError):
    """The device is full."""


class SolverError(DemosaicNtcError):
    """An optimiser cannot do what was asked."""


class LicenceMissing(SolverError):
    """No usable licence, or the package is not installed."""


class ModelTooLarge(SolverError):
    """The model is larger than a solver, or its licence, takes."""


class ClusterError(DemosaicNtcError):
    """The machines that should do the work cannot be reached or used."""


_RENAMED = {"predict-only": "gaussian"}


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Raise unless the value is one of the known ones; of an old name, say the new one."""
    if isinstance(value, str) and value in _RENAMED and value not in known:
        raise InputError(f"{what} {value} is now called {_RENAMED[value]}; use that name")
    if not isinstance(value, str) or value not in known:
        raise InputError(f"unknown {what} {value!r}; use one of {', '.join(known)}")


def as_number(given: object) -> float:
    """Return a real number as a float; for anything else, or beyond floats, NaN, which fails every check."""
    try:
        return float(given) if isinstance(given, Real) else nan
    except OverflowError:
        return nan


# What the system answers when the machine is at its end, not the file.
OF_THE_MACHINE = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}

# What it answers when no more bytes fit: the device, the quota, the largest file allowed.
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

Explain = Callable[[Exception], DemosaicNtcError]


@contextmanager
def border(explain: Explain) -> Iterator[None]:
    """Turn whatever a library raises inside into what `explain` makes of it."""
    try:
        yield
    except (DemosaicNtcError, MemoryError):
        raise
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError from error
        if error.errno in OF_THE_MACHINE:
            raise
        raise explain(error) from error
    except Exception as error:
        raise explain(error) from error


def damage_explained(kind: str) -> AbstractContextManager[None]:
    """The border of a decoder of files of this kind."""
    return border(lambda error: _damage(kind, error))


@contextmanager
def reading_failures_explained() -> Iterator[None]:
    """The border of the system's ways to read: what it refuses becomes an error of ours, all else passes."""
    try:
        yield
    except OSError:
        with border(_unreadable):
            raise


@contextmanager
def explain_encoding(kind: str) -> Iterator[None]:
    """The border of an encoder of files of this kind; what the disk says passes: the writer explains it."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise
        raise _explain_encoder_error(kind, error) from error
    except Exception:
        with border(lambda error: _explain_encoder_error(kind, error)):
            raise


def _explain_encoder_error(kind: str, error: Exception) -> OutputError:
    """What an encoder's error means."""
    return OutputError(f"cannot be written as {kind} ({words(error)}); choose another format")


def _damage(kind: str, error: Exception) -> InputError:
    """What a decoder's error means."""
    if isinstance(error, OSError) and error.errno is not None:
        return _unreadable(error)
    return Truncated(f"truncated or damaged {kind} ({words(error)}); copy it again from its source")


def _unreadable(error: Exception) -> InputError:
    """What a failure to read means."""
    return InputError(f"cannot be read ({words(error)}); copy it again from its source")


def words(error: BaseException) -> str:
    """What an error says, in one line and not at length; its kind if it says nothing."""
    reason = getattr(error, "strerror", None) or str(error)
    return " ".join(reason.split())[:200] or type(error).__name__
