"""How much room the results of a batch will take, about: enough to warn of a disk that is far too small."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits, open_header
from demosaic_ntc.io.remote import Place
from demosaic_ntc.machine import free_bytes

# Headers are read of this many files, evenly spread; the others are judged by their length.
_GLANCES = 64

# Where no header tells the size: camera raws are compressed to about a byte and a half per sample.
_BYTES_PER_SAMPLE = 1.5


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """What the inputs of a batch hold, and what its results will take, about."""

    sizes: dict[str, int]  # bytes of the inputs that are there, by path
    largest_pixels: int  # of one input
    needed: int  # bytes
    free: int | None  # bytes where the results go; None where there is no end of room


def room_for(sources: Sequence[Place], output: Place, bytes_per_pixel: float | None) -> DiskSpace:
    """The room that results take which have so many bytes per pixel, or as many bytes as the inputs.

    The inputs are known by their lengths and the headers of some.
    """
    sizes = {}
    for source in sources:
        with suppress(OSError, InputError):
            sizes[source] = source.stat().st_size
    glanced = list(sizes)[:: max(len(sizes) // _GLANCES, 1)]
    seen = sum(_likely_pixels(source, sizes[source]) for source in glanced)
    per_byte = seen / max(sum(sizes[source] for source in glanced), 1)
    total = sum(sizes.values())
    return DiskSpace(
        {str(source): size for source, size in sizes.items()},
        largest_pixels=round(max(sizes.values(), default=0) * per_byte),
        needed=total if bytes_per_pixel is None else round(total * per_byte * bytes_per_pixel),
        free=free_bytes(output) if isinstance(output, Path) else None,
    )


def _likely_pixels(path: Place, length: int) -> int:
    """The pixels that the header of a file tells, or that so many bytes usually hold."""
    if isinstance(path, Path):
        with suppress(InputError, OSError), open_header(path, InputLimits()) as header:
            if header.size is not None:
                return header.size[0] * header.size[1]
    return round(length / _BYTES_PER_SAMPLE)
