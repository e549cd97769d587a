"""What C libraries print on stderr, kept from it and handed over.

LibRaw and its libjpeg print their warnings by C's own stream `stderr`. That stream is replaced while they
work, not the file descriptor behind it: Python's stderr, traces of crashes, and programs started meanwhile
write to the descriptor and are not affected, and it does not matter whether it is open. One block runs at a
time, so that what is printed belongs to one file. Where the stream cannot be replaced, C prints as ever.
"""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

# The variable that holds the stream: in glibc, in Apple's library. Elsewhere it is constant.
_GNU, _APPLE = "stderr", "__stderrp"


class _CStream:
    """A stream of C's that writes to memory, for as long as the process runs: others may still hold it."""

    def __init__(self, libc: ctypes.CDLL, variable: ctypes.c_void_p) -> None:
        self._libc, self._variable = libc, variable
        self._text, self._length = ctypes.c_void_p(), ctypes.c_size_t()
        libc.open_memstream.restype = ctypes.c_void_p
        stream = libc.open_memstream(ctypes.byref(self._text), ctypes.byref(self._length))
        self._own, self._usual = ctypes.c_void_p(stream), variable.value

    def replace(self) -> None:
        """Take the place of stderr, empty."""
        if self._own.value:
            self._libc.rewind(self._own)
            self._variable.value = self._own.value

    def give_back(self) -> None:
        """Let stderr be what it was."""
        self._variable.value = self._usual

    def restore(self) -> str:
        """Give its place back to stderr; return what was written."""
        self.give_back()
        if not self._own.value:
            return ""
        self._libc.fflush(self._own)
        written = ctypes.string_at(self._text.value or 0, self._length.value) if self._length.value else b""
        return written.decode("ascii", "replace")


@cache
def _stream() -> _CStream | None:
    """The stream of this process; None where stderr cannot be replaced."""
    if sys.platform == "win32":
        return None
    libc = ctypes.CDLL(None)
    name = _APPLE if sys.platform == "darwin" else _GNU if hasattr(libc, "gnu_get_libc_version") else None
    return _CStream(libc, ctypes.c_void_p.in_dll(libc, name)) if name else None


_alone = Lock()


def _free() -> None:
    """In a process that was forked meanwhile, no other thread will ever restore stderr."""
    global _alone
    _alone = Lock()
    if _stream.cache_info().currsize and (stream := _stream()):
        stream.give_back()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)


@contextmanager
def capture_c_stderr(lines: list[str]) -> Iterator[None]:
    """Keep what C prints on stderr meanwhile from it, and add it to some lines."""
    with _alone:
        stream = _stream()
        if stream is not None:
            stream.replace()
        try:
            yield
        finally:
            if stream is not None:
                lines += stream.restore().splitlines()
