"""Decoding in a process apart: what a hostile file can do to its decoder costs that process and nothing else.

`decode_apart` calls a function on an open file in another process, which can open no file and no socket,
start no program and grow no further than the pixels that the file announces explain. It is kept for the next
file and replaced after a crash. Only Linux has what it takes; elsewhere, and where it is not wanted, the
function is called here.
"""

import atexit
import errno
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc import errors
from demosaic_ntc.errors import Crashed, InputError, TooLarge
from demosaic_ntc.io.header import FileHeader
from demosaic_ntc.io.isolation.answers import PICTURES, Nonsense, from_plain
from demosaic_ntc.io.isolation.process import NONSENSE, Allowance, DecodingChild, Modules, crashed
from demosaic_ntc.io.tiff_tags import number

Value = TypeVar("Value")

# What decoding may take: memory by the pixel, for the file's own bytes and at least; seconds likewise. The
# greediest decoder that is known, of floating-point TIFFs, takes half of the first.
_BYTES_PER_PIXEL, _COPIES, _LEAST_BYTES = 64, 6, 256 * 2**20
_SECONDS_PER_MEGAPIXEL, _LEAST_SECONDS = 2.0, 30.0

# No decoder makes more pixels of a byte, where a file does not say how many it has.
_PIXELS_PER_BYTE = 8

# Bytes of a block below which it is copied: a view of a few would hold a whole photo in memory.
_SMALL_BLOCK = 2**16

_WIDTH, _HEIGHT = 256, 257

# How files are called that may need decoders of pictures.
_LIKE_PICTURES = {".dng", ".iiq", ".png", ".tif", ".tiff"}


def decode_apart(
    decode: Callable[..., Value], source: FileHeader | None, *arguments: Any, loads: Modules = ()
) -> Value:
    """What a function makes of a file, or of nothing but its arguments; its type is the one that it states.

    The function must be one that its module's name leads to. What it `loads` is there for it alone.
    """
    allowed = _allowance(source)
    if not can_isolate(allowed.memory) or (source is not None and not source.limits.isolate):
        return decode(*(() if source is None else (source,)), *arguments)
    asked = None if source is None else (source.path, source.limits)
    with _shared_files(source, allowed.memory) as (memory, *files), _borrowed(loads) as child:
        is_whole = child.allow(allowed)
        answer = child.ask(memory, (decode, asked, arguments), files, allowed)
        value = _value(decode, answer, memory, is_whole=is_whole)
        complaints = child.complaints()
    if complaints and hasattr(value, "notices"):
        said = f"the decoder complains ({complaints[0]}); the file may be damaged"
        value = replace(value, notices=(*value.notices, said))
    return cast(Value, value)


def _allowance(source: FileHeader | None) -> Allowance:
    """What decoding a file may take."""
    pixels, length = (0, 0) if source is None else (announced_pixels(source), source.length)
    return Allowance(
        _LEAST_BYTES + _BYTES_PER_PIXEL * pixels + _COPIES * length,
        _LEAST_SECONDS + _SECONDS_PER_MEGAPIXEL * pixels / 1e6,
    )


def _value(decode: Callable[..., Any], answer: dict[str, Any], memory: int, *, is_whole: bool) -> Any:
    """The value that an answer stands for; raises what it says went wrong."""
    if "error" in answer:
        raise _error(answer) if is_whole or answer["error"] != "MemoryError" else MemoryError
    try:
        blocks = _map_blocks(memory, answer.get("blocks"))
        return from_plain(get_type_hints(decode)["return"], answer.get("value"), blocks)
    except (ValueError, TypeError, RecursionError) as error:
        raise error if isinstance(error, Crashed) else crashed(NONSENSE) from error


def can_isolate(size: int = 0) -> bool:
    """Whether this system can decode in a process apart and share so many bytes with it.

    That takes Linux with its files in /proc, an interpreter that can be started, and no limit on files
    (``ulimit -f``) below that size.
    """
    if sys.platform != "linux" or not sys.executable or not os.path.isdir("/proc/self/fd"):
        return False
    import resource  # noqa: PLC0415 (Windows has none)

    most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return most == resource.RLIM_INFINITY or size <= most


def announced_pixels(header: FileHeader) -> int:
    """How many pixels a file says it has, or may have; no more than are allowed."""
    with suppress(InputError):  # what is wrong with its header is told by its decoder
        if header.size is not None:
            return min(max(header.size[0] * header.size[1], 0), header.limits.pixels)
    first = header.tags.first()
    most = max(number(first, _WIDTH) * number(first, _HEIGHT), _PIXELS_PER_BYTE * header.length)
    return min(most, header.limits.pixels)


def _map_blocks(memory: int, told: Any) -> list[NDArray[np.uint8]]:
    """Blocks of bytes in shared memory; large ones are seen without copying them.

    Nobody can write there from now on; whoever still could is not to be trusted.
    """
    import fcntl  # noqa: PLC0415 (Windows has none)

    places = [(int(place), int(length)) for place, length in told or ()]
    end = max((place + length for place, length in places), default=0)
    if any(min(place) < 0 for place in places) or end > os.fstat(memory).st_size:
        raise Nonsense("a block beyond all memory")
    try:
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    except OSError as error:
        raise Nonsense("the memory is still held") from error
    mapped = mmap.mmap(memory, end, mmap.MAP_PRIVATE) if end else b""
    blocks = [np.ndarray(length, np.uint8, mapped, place) for place, length in places]
    return [block.copy() if block.size < _SMALL_BLOCK else block for block in blocks]


@contextmanager
def _shared_files(source: FileHeader | None, size: int) -> Iterator[list[int]]:
    """Memory that can be shared, none of which is used until something is written, and the file, if any.

    It is opened once more: two processes must not share a place in it.
    """
    import fcntl  # noqa: PLC0415 (Windows has none)

    with ExitStack() as held:
        shared = [os.memfd_create("decoded", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)]
        held.callback(os.close, shared[0])
        os.ftruncate(shared[0], size)
        fcntl.fcntl(shared[0], fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        if source is not None:
            shared.append(os.open(f"/proc/self/fd/{source.file.fileno()}", os.O_RDONLY))
            held.callback(os.close, shared[1])
        yield shared


def _error(answer: dict[str, Any]) -> Exception:
    """What a decoder raised, one of ours or a surprise."""
    name, said = str(answer["error"]), str(answer.get("said"))
    if name == "MemoryError":
        return TooLarge(
            "takes far more memory to decode than its size explains; the file is damaged, or made to do harm"
        )
    if name == "OSError":
        code = answer.get("errno")
        return OSError(code if isinstance(code, int) else errno.EIO, said)
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, InputError):
        return kind(said)
    error = RuntimeError(f"in the decoding process: {said}")
    error.add_note(str(answer.get("trace")))
    return error


class _Children:
    """Processes that wait for a file; there are as many as were ever busy at a time."""

    def __init__(self) -> None:
        self._idle: list[DecodingChild] = []
        self._lock = Lock()

    def take(self, loads: Modules = ()) -> DecodingChild:
        """One that waits and has loaded what is needed, or a new one."""
        while True:
            with self._lock:
                child = next((each for each in self._idle if {*each.loads} >= {*loads}), None)
                if child is None:
                    return DecodingChild(loads)
                self._idle.remove(child)
            if child.is_alive:
                return child
            child.end()

    def give(self, child: DecodingChild) -> None:
        """Keep one for the next file."""
        with self._lock:
            self._idle.append(child)

    def end(self) -> None:
        """End all that wait."""
        while self._idle:
            self._idle.pop().kill()

    def forget(self) -> None:
        """Let go of all, in a process that was forked."""
        for child in self._idle:
            child.forget()
        self.__init__()  # type: ignore[misc]


_children = _Children()
atexit.register(lambda: _children.end())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _children.forget())


@contextmanager
def _borrowed(loads: Modules) -> Iterator[DecodingChild]:
    """A process to decode with, kept afterwards unless anything went wrong with it."""
    child = _children.take(loads)
    try:
        yield child
    except BaseException as error:
        if isinstance(error, InputError) and not isinstance(error, Crashed):
            _children.give(child)
        else:
            child.kill()
        raise
    _children.give(child)


def end_decoders() -> None:
    """End all processes that wait for a file; the next is decoded by a new one."""
    _children.end()


def start_decoder(path: Path | None = None, *, isolate: bool) -> None:
    """Start a process before there is anything to decode, so that nobody waits for it.

    What it loads is guessed from the name of a file, which nobody has opened yet.
    """
    if isolate and can_isolate():
        is_raw = path is not None and path.suffix.lower() not in _LIKE_PICTURES
        _children.give(_children.take(() if is_raw else PICTURES))
