"""Standard streams that cost nothing: closed, full, broken or absent ones are made good before commands run.

Words on stderr are for whoever listens: where nobody can, they are dropped. What goes to stdout may be what a
command is for, so that a failure there is told, after all that was to be done has been done.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self, TextIO

_STDOUT, _STDERR = 1, 2


class StdoutFailed(OSError):
    """Standard output does not take what is written to it."""


@contextmanager
def sound_streams() -> Iterator[None]:
    """Let stdout and stderr be streams of ours that are always there; those of tests are left alone."""
    _fill_descriptors()
    before = sys.stdout, sys.stderr
    if _is_own(sys.stdout, _STDOUT):
        sys.stdout = _NamedStream.of(_STDOUT)
    if _is_own(sys.stderr, _STDERR):
        sys.stderr = _ForgivingStream.of(_STDERR)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        sys.stdout, sys.stderr = before


def hang_up() -> None:
    """Write to nothing from now on: the interpreter tries once more when it ends, and would complain."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def _fill_descriptors() -> None:
    """Open nothing at 0, 1 and 2 where they are closed, lest a picture be opened there and written into."""
    with suppress(OSError):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
            os.set_inheritable(descriptor, True)
        os.close(descriptor)


def _is_own(stream: TextIO | None, descriptor: int) -> bool:
    """Whether a stream is that of this process, or absent, and not that of a test."""
    if stream is None:
        return True
    try:
        return stream.fileno() == descriptor
    except (OSError, ValueError):
        return False


class _TextStream(io.TextIOWrapper):
    """A stream of text, line by line, on a descriptor that stays open: the interpreter's own has it, too.

    Bytes are written by Python's own classes alone: a signal between a write of ours and its return would let
    them write the same again.
    """

    @classmethod
    def of(cls, descriptor: int) -> Self:
        """The stream of a descriptor; letters that its encoding lacks are escaped."""
        encoding = getattr(sys.__stdout__ or sys.__stderr__, "encoding", None) or "utf-8"
        raw = io.FileIO(descriptor, "w", closefd=False)
        return cls(io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=True)

    def close(self) -> None:
        """Let go of it, whatever could not be written."""
        with suppress(OSError, ValueError):
            super().close()


class _ForgivingStream(_TextStream):
    """One whose failures harm nobody."""

    def write(self, words: str) -> int:
        """Write, or drop what cannot be written."""
        with suppress(OSError):
            return super().write(words)
        return len(words)

    def flush(self) -> None:
        """Write what is left, or drop it."""
        with suppress(OSError):
            super().flush()


class _NamedStream(_TextStream):
    """One whose failures have a name."""

    def write(self, words: str) -> int:
        """Write, or say that it was stdout that failed."""
        with _rename_failure():
            return super().write(words)

    def flush(self) -> None:
        """Write what is left, or say that it was stdout that failed."""
        with _rename_failure():
            super().flush()


@contextmanager
def _rename_failure() -> Iterator[None]:
    """Give a failure of standard output its name."""
    try:
        yield
    except OSError as error:
        raise StdoutFailed(error.errno, error.strerror) from error
