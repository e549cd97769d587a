"""What a result is known by once it is published, so that a later run can tell whether it is still ours.

A file that somebody has changed is theirs from then on. One that a crash or a full disk has emptied or cut is
nobody's work: its bytes are the first ones of what was published, and the end of the picture is missing.
"""

import os
import zlib
from enum import Enum, auto
from hashlib import sha256
from pathlib import Path

from demosaic_ntc.batch.job import Identity, Result
from demosaic_ntc.batch.records.identity import is_unchanged
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.remote import Place, RemotePath

_BLOCK = 2**20

# The last bytes of a whole file, by its first ones; of other kinds, the reader finds out.
_ENDS = {b"\x89PNG": b"IEND\xaeB`\x82", b"\xff\xd8\xff": b"\xff\xd9"}


class ResultState(Enum):
    """What became of a published result."""

    GONE = auto()
    UNCHANGED = auto()
    CUT = auto()  # emptied or cut: done again
    CHANGED = auto()  # somebody's work: kept


def measure(path: Path) -> Result:
    """What a whole file is known by; raises OSError where it cannot be read."""
    heads: list[str] = []
    digest, checksum, length, goal = sha256(), 0, 0, 1
    with open(path, "rb") as file:
        changed = os.fstat(file.fileno()).st_mtime_ns
        while part := file.read(min(goal - length, _BLOCK)):
            digest.update(part)
            checksum, length = zlib.crc32(part, checksum), length + len(part)
            if length == goal:
                heads.append(f"{checksum:08x}")
                goal *= 2
    return Result(Identity(length, changed, digest.hexdigest()), "".join(heads))


def state_of(path: Place, known: Result, *, proven: bool = False) -> ResultState:
    """What became of a result that was published as this; `proven` before anything is replaced."""
    try:
        length = path.stat().st_size
        if is_unchanged(path, known.identity, proven=proven):
            return ResultState.UNCHANGED
        if isinstance(path, RemotePath):
            return ResultState.CHANGED if length else ResultState.CUT
        is_shorter = length < known.identity.bytes and known.heads.startswith(measure(path).heads)
        is_cut = length == 0 or (is_shorter and not _has_its_end(path))
    except OSError:
        is_there = isinstance(path, Path) and os.path.lexists(path)
        return ResultState.CHANGED if is_there else ResultState.GONE
    return ResultState.CUT if is_cut else ResultState.CHANGED


def _has_its_end(path: Path) -> bool:
    """Whether a file is a whole picture."""
    from demosaic_ntc.images.reading import read_picture  # noqa: PLC0415 (workers start sooner)

    content = path.read_bytes()
    for start, end in _ENDS.items():
        if content.startswith(start):
            return content.endswith(end)
    try:
        read_picture(path, InputLimits())
    except InputError:
        return False
    return True
