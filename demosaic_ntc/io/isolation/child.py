"""The process that decodes: it loads decoders, gives up its rights, and takes one file after the other.

Its standard input is a socket, over which open files come and short notes go. A request lies in a block of
shared memory, as a pickle: whoever asks is trusted. The answer is laid into the same memory.
"""

import faulthandler
import io
import json
import mmap
import os
import pickle
import signal
import socket
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from demosaic_ntc.errors import DemosaicNtcError
from demosaic_ntc.io.header import read_header
from demosaic_ntc.io.isolation.answers import NOTE, PICTURES, Block, to_plain
from demosaic_ntc.io.isolation.sandbox import fence_in

# Decoders of raws by name, because they stand above this layer, and what they load late: no file can be
# opened later. The camera's own picture is a JPEG, before which Pillow loads others.
_FOR_RAWS = (
    "demosaic_ntc.raw.reading",
    "encodings.latin_1",
    "encodings.utf_16_be",
    "encodings.utf_16_le",
    "numpy.polynomial",
    *(f"PIL.{name}ImagePlugin" for name in ("Bmp", "Gif", "Jpeg", "Png", "Ppm", "Tiff")),
)

# The same of pictures, masks, and raws that are like pictures.
_FOR_PICTURES = (
    "demosaic_ntc.images.mask",
    "concurrent.futures.thread",
    "tifffile",
    "PIL.WebPImagePlugin",
)

# Codecs that imagecodecs loads when they are first asked for: those of all compressions that are read.
_CODECS = (
    "png jpeg jpeg8 ljpeg jpegxl lzw packbits zlib deflate zstd ccittrle ccittfax3 ccittfax4 "
    "delta floatpred bitorder packints"
)

_ALIGNMENT = 64


def main() -> None:
    """Decode what comes until whoever asks hangs up."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    channel = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    _load(sys.argv[2:])
    channel.send(json.dumps(fence_in()).encode())
    while _serve(channel):
        pass


def _load(more: Sequence[str] = PICTURES) -> None:
    """Load decoders, more modules, and the time zone, in which LibRaw tells when a photo was taken."""
    os.environ.setdefault("TZ", ":/etc/localtime")  # as by default, but said: it is not looked up again
    time.tzset()
    for name in _FOR_RAWS:
        import_module(name)
    for name in more:
        if name in PICTURES:
            _load_pictures()
            continue
        with suppress(ImportError):  # whoever needs it says so
            import_module(name)


def _load_pictures() -> None:
    """Load all decoders of pictures."""
    for name in _FOR_PICTURES:
        import_module(name)
    codecs = import_module("imagecodecs")
    for name in _CODECS.split():
        with suppress(AttributeError, ImportError):  # not every build has all
            getattr(codecs, f"{name}_decode")


def _serve(channel: socket.socket) -> bool:
    """Answer one request; return whether there was one."""
    note, descriptors, *_ = socket.recv_fds(channel, NOTE.size, 2)
    if not note:
        return False
    memory = descriptors[0]
    try:
        _, length = NOTE.unpack(note)
        channel.send(_lay_down(memory, *_answer(os.pread(memory, length, 0), descriptors[1:])))
    finally:
        for each in descriptors:
            os.close(each)
    return True


def _answer(request: bytes, files: list[int]) -> tuple[dict[str, Any], list[Block]]:
    """What comes of a request: a value or an error, and its blocks."""
    blocks: list[Block] = []
    try:
        decode, source, arguments = pickle.loads(request)
        if source is None:
            return {"value": to_plain(decode(*arguments), blocks)}, blocks
        path, limits = source
        with _named(files[0], path) as file:
            return {"value": to_plain(decode(read_header(file, path, limits), *arguments), blocks)}, blocks
    except Exception as error:
        return _describe(error), []


def _describe(error: Exception) -> dict[str, Any]:
    """What went wrong, for whoever asked to raise it."""
    match error:
        case MemoryError() | DemosaicNtcError():
            return {"error": type(error).__name__, "said": str(error)}
        case OSError():
            return {"error": "OSError", "said": str(error.strerror or error), "errno": error.errno}
        case _:
            trace = "".join(traceback.format_exception(error))
            return {"error": "bug", "said": f"{type(error).__name__}: {error}", "trace": trace}


def _named(descriptor: int, path: Path) -> BinaryIO:
    """An open file that has a name, for decoders that ask for it; nothing could be opened by it."""
    file = io.FileIO(descriptor, closefd=False)
    file.name = os.fspath(path)
    return io.BufferedReader(file)


def _lay_down(memory: int, answer: dict[str, Any], blocks: list[Block]) -> bytes:
    """Put an answer into the shared memory, its blocks first; return the note of where it is."""
    places, end = [], 0
    for block in blocks:
        places.append((end, len(block)))
        end += -(-len(block) // _ALIGNMENT) * _ALIGNMENT
    text = json.dumps({**answer, "blocks": places}).encode()
    if end + len(text) > os.fstat(memory).st_size:
        return _lay_down(memory, _describe(MemoryError()), [])
    with mmap.mmap(memory, end + len(text)) as mapped:
        mapped[end : end + len(text)] = text
        for (place, length), block in zip(places, blocks, strict=True):
            np.frombuffer(mapped, np.uint8, length, place)[:] = np.frombuffer(block, np.uint8)
    return NOTE.pack(end, len(text))
