"""ICC profiles of RGB spaces: a matrix and a curve (ICC.1:2010, version 4.3, section 8.3)."""

import struct

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.io.colour import D50, D65, ColourSpace, Curve, adaptation

_HEADER = 128


def icc_profile(space: ColourSpace) -> bytes:
    """The profile of a colour space."""
    red, green, blue = (adaptation(space.white, D50) @ space.to_xyz).T
    curve = _curve(space.curve)
    linear = " (linear)" if space.curve.gamma == 1 else ""
    return _assemble(
        {
            b"desc": _text(space.name + linear),
            b"cprt": _text("No copyright, use freely"),
            b"wtpt": _numbers(b"XYZ ", D50),
            b"chad": _numbers(b"sf32", adaptation(D65, D50).ravel()),
            b"rXYZ": _numbers(b"XYZ ", red),
            b"gXYZ": _numbers(b"XYZ ", green),
            b"bXYZ": _numbers(b"XYZ ", blue),
            b"rTRC": curve,
            b"gTRC": curve,
            b"bTRC": curve,
        }
    )


def _assemble(tags: dict[bytes, bytes]) -> bytes:
    """Header, tag table and data; equal data is stored once, and the date is fixed: runs give equal files."""
    start = _HEADER + 4 + 12 * len(tags)
    data, places = bytearray(), dict[bytes, int]()
    table = struct.pack(">L", len(tags))
    for name, content in tags.items():
        if content not in places:
            places[content] = start + len(data)
            data += content + bytes(-len(content) % 4)
        table += struct.pack(">4sLL", name, places[content], len(content))
    header = struct.pack(">L4sL4s4s4s", start + len(data), bytes(4), 0x04300000, b"mntr", b"RGB ", b"XYZ ")
    header += struct.pack(">6H4s", 2024, 1, 1, 0, 0, 0, b"acsp") + bytes(28) + _encode_fixed(D50)
    return header.ljust(_HEADER, b"\0") + table + bytes(data)


def _text(text: str) -> bytes:
    """A text in English."""
    encoded = text.encode("utf-16-be")
    return struct.pack(">4sLLL2s2sLL", b"mluc", 0, 1, 12, b"en", b"US", len(encoded), 28) + encoded


def _numbers(kind: bytes, values: NDArray[np.float64]) -> bytes:
    """Numbers of the type `kind`."""
    return kind + bytes(4) + _encode_fixed(values)


def _curve(curve: Curve) -> bytes:
    """The curve from code values to light: identity, a pure power, or a power above a straight toe."""
    if curve.gamma == 1:
        return struct.pack(">4sLL", b"curv", 0, 0)
    if curve.slope == 0:
        return struct.pack(">4sLHH", b"para", 0, 0, 0) + _encode_fixed(np.array([curve.gamma]))
    scale = 1 + curve.offset
    knee = curve.slope * curve.toe
    values = np.array([curve.gamma, 1 / scale, curve.offset / scale, 1 / curve.slope, knee])
    return struct.pack(">4sLHH", b"para", 0, 3, 0) + _encode_fixed(values)


def _encode_fixed(values: NDArray[np.float64]) -> bytes:
    """Numbers with 16 bits after the point."""
    return np.round(values * 65536).astype(">i4").tobytes()
