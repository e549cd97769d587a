"""The borders of decoders and encoders: whatever they raise becomes an error of ours, in one line.

Damaged bytes make decoders raise almost anything. Two things pass: errors of this package, which say more,
and what tells of this machine instead of the file: no memory, no more open files.
"""

import errno
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from demosaic_ntc.errors import DemosaicNtcError, InputError, OutputError, Truncated

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
