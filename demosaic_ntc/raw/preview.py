"""The camera's own picture inside a raw: how its maker thought the photo should look.

It may be small, turned, cut, framed in black, or of something else: only what agrees with the raw is a guide.
"""

import io
import warnings
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.isolation.decoder import decode_apart
from demosaic_ntc.io.jpeg_segments import check_scans
from demosaic_ntc.io.pixels import orient

Bytes = NDArray[np.uint8]
Plane = NDArray[np.floating]
Preview = bytes | Bytes  # a JPEG as it is stored, or pixels (height, width, 3)

# Enough pixels to tell how bright and vivid a picture is; JPEGs are decoded at a fraction of their size.
_SIDE = 512

# A guide to brightness and colours needs fewer.
_GUIDE_SIDE = 256

# Pictures with a side below this are icons; borders whose pixels are no brighter than this frame a picture.
_SMALLEST, _BLACK = 32, 16

# The means of parts, this many a side, are compared. Those of one scene are about in the same order of
# brightness: this is the least correlation of their ranks. Where parts vary by less, in stops, there is no
# order.
_PARTS, _LEAST_CORRELATION, _FLAT = 12, 0.5, 0.25


def decode_preview(preview: Preview | None, side: int = _SIDE, *, isolate: bool = False) -> Bytes | None:
    """A preview as pixels, (height, width, 3), sRGB and small; None if there is none, or it is damaged.

    JPEGs are decoded at the least size whose sides are not below `side`, or as large as they are; with
    `isolate` in a process apart.
    """
    if not isinstance(preview, bytes):
        return preview
    if not isolate:
        return _decode_jpeg(preview, side)
    with suppress(InputError):
        return decode_apart(_decode_jpeg, None, preview, side)
    return None


def decode_guide(preview: Preview | None, *, isolate: bool = False) -> Bytes | None:
    """A preview without a black frame; None where it is no picture that a look could be told from."""
    pixels = decode_preview(preview, _GUIDE_SIDE, isolate=isolate)
    if pixels is None or pixels.ndim != 3 or pixels.shape[-1] != 3 or pixels.dtype != np.uint8:
        return None
    lit = pixels.max(axis=-1) > _BLACK
    rows, columns = (np.flatnonzero(lit.any(axis=axis)) for axis in (1, 0))
    if min(rows.size, columns.size) == 0:
        return None
    inner = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return inner if min(inner.shape[:2]) >= _SMALLEST else None


def shows_scene(own: Plane, seen: Plane, orientation: int) -> bool:
    """Whether the luminances of a camera's picture are of the scene that is seen, as it lies or upright."""
    return way_round(own, seen, orientation) is not None


def way_round(own: Plane, seen: Plane, orientation: int) -> int | None:
    """The orientation that what is seen has in a camera's picture: 1 or this one; None for another scene.

    Both are luminances, (height, width).
    """
    parts, ours = part_means(own), part_means(seen)
    flat, ours_flat = (np.log2(np.maximum(each, 1e-4)).std() < _FLAT for each in (parts, ours))
    if flat or ours_flat:
        return 1 if flat and ours_flat else None
    found = {way: _rank_correlation(parts, orient(ours, way)) for way in (1, orientation)}
    best = max(found, key=lambda way: found[way])
    return best if found[best] >= _LEAST_CORRELATION else None


def part_means(plane: Plane) -> Plane:
    """The means of equal parts of a plane, along its first two axes; at most twelve a side."""
    for axis in (0, 1):
        edges = np.linspace(0, plane.shape[axis], min(_PARTS, plane.shape[axis]) + 1).astype(int)
        sums = np.add.reduceat(plane, edges[:-1], axis=axis, dtype=np.float64)
        plane = sums / np.expand_dims(
            np.diff(edges), tuple(other for other in range(sums.ndim) if other != axis)
        )
    return plane


def _rank_correlation(one: Plane, other: Plane) -> float:
    """Spearman's correlation; 0 for planes of different shapes."""
    if one.shape != other.shape:
        return 0.0
    ranks = [each.ravel().argsort().argsort() for each in (one, other)]
    return float(np.asarray(np.corrcoef(ranks))[0, 1])


def _decode_jpeg(data: bytes, side: int) -> Bytes | None:
    """A JPEG at about the side we need; None if it is damaged: a look is not worth a failure."""
    from PIL import Image  # noqa: PLC0415 (slow to load; few commands look at this picture)

    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        check_scans(data)
        with Image.open(io.BytesIO(data), formats=["JPEG"]) as picture:
            picture.draft("RGB", (side, side))
            return np.asarray(picture.convert("RGB"))
    return None
