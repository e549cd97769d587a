"""Colour spaces, transfer curves and profiles of finished pictures, and the curve the engine works under.

Primaries and curves as published: sRGB in IEC 61966-2-1, Adobe RGB (1998), ProPhoto in ISO 22028-2
(as the pure gamma that software uses), Rec. 2020 in ITU-R BT.2020, Display P3 in SMPTE EG 432-1 with the
sRGB curve. White points are adapted by the Bradford transform, as ICC profiles expect; those are a matrix and
a curve (ICC.1:2010, version 4.3, section 8.3).
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64

Matrix = NDArray[np.float64]

D65 = np.array([0.95047, 1.0, 1.08883])
D50 = np.array([0.9642, 1.0, 0.8249])  # as ICC profiles write it

_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])


@dataclass(frozen=True, slots=True)
class Curve:
    """Encodes light x as (1 + offset) x^(1/gamma) − offset, and as slope·x up to the toe.

    The straight toe goes on through negative light, so that noise around black keeps its mean.
    """

    gamma: float
    offset: float = 0.0
    slope: float = 0.0
    toe: float = 0.0

    def encode(self, light: Float64) -> Float64:
        """Code values of linear light."""
        above = (1 + self.offset) * np.maximum(light, self.toe) ** (1 / self.gamma) - self.offset
        return np.where(light <= self.toe, self.slope * light, above)

    def decode(self, code: Float64) -> Float64:
        """Linear light of code values."""
        if self.slope == 0:
            return np.maximum(code, 0) ** self.gamma
        knee = self.slope * self.toe
        above = ((np.maximum(code, knee) + self.offset) / (1 + self.offset)) ** self.gamma
        return np.where(code <= knee, code / self.slope, above)

    def steepness(self, light: NDArray[np.float32]) -> NDArray[np.float32]:
        """The derivative of the code values with respect to linear light, finite and above zero everywhere.

        Pure gammas rise without bound towards black: below the toe of sRGB they count as steep as at it.
        """
        toe = self.toe if self.slope > 0 else SRGB_CURVE.toe
        power = np.maximum(light, np.float32(toe)) ** np.float32(1 / self.gamma - 1)
        above = np.float32((1 + self.offset) / self.gamma) * power
        return above if self.slope == 0 else np.where(light <= toe, np.float32(self.slope), above)


SRGB_CURVE = Curve(2.4, 0.055, 12.92, 0.0031308)
BT2020_CURVE = Curve(1 / 0.45, 0.09929682680944, 4.5, 0.018053968510807)
LINEAR_CURVE = Curve(1.0, 0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class ColourSpace:
    """A set of primaries, as their matrix to XYZ under its own white, and a transfer curve."""

    name: str
    to_xyz: Matrix
    white: NDArray[np.float64]
    curve: Curve


def space_matrix(primaries: tuple[tuple[float, float], ...], white: NDArray[np.float64]) -> Matrix:
    """The matrix to XYZ of primaries given by their chromaticities x, y."""
    columns = np.array([[x / y, 1.0, (1 - x - y) / y] for x, y in primaries]).T
    return columns * np.linalg.solve(columns, white)


def adaptation(source: NDArray[np.float64], target: NDArray[np.float64]) -> Matrix:
    """The Bradford transform from one white to another."""
    gains = (_BRADFORD @ target) / (_BRADFORD @ source)
    return np.asarray(np.linalg.solve(_BRADFORD, gains[:, None] * _BRADFORD))


XYZ_FROM_SRGB = space_matrix(((0.64, 0.33), (0.30, 0.60), (0.15, 0.06)), D65)

_ADOBE = space_matrix(((0.64, 0.33), (0.21, 0.71), (0.15, 0.06)), D65)
_PROPHOTO = space_matrix(((0.7347, 0.2653), (0.1596, 0.8404), (0.0366, 0.0001)), D50)
_REC2020 = space_matrix(((0.708, 0.292), (0.170, 0.797), (0.131, 0.046)), D65)
_P3 = space_matrix(((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)), D65)

SPACES = {
    "srgb": ColourSpace("sRGB", XYZ_FROM_SRGB, D65, SRGB_CURVE),
    "adobe": ColourSpace("Adobe RGB (1998) compatible", _ADOBE, D65, Curve(563 / 256)),
    "prophoto": ColourSpace("ProPhoto RGB compatible", _PROPHOTO, D50, Curve(1.8)),
    "rec2020": ColourSpace("Rec. 2020", _REC2020, D65, BT2020_CURVE),
    "p3": ColourSpace("Display P3", _P3, D65, SRGB_CURVE),
}
CAMERA_SPACE = "camera"


def output_space(name: str, camera_to_srgb: Matrix) -> ColourSpace:
    """The space of that name; the camera's own is described by its matrix, so that viewers show it right."""
    if name == CAMERA_SPACE:
        return ColourSpace("camera RGB", XYZ_FROM_SRGB @ camera_to_srgb, D65, SRGB_CURVE)
    return SPACES[name]


def make_space_matrix(camera_to_srgb: Matrix, space: ColourSpace) -> Matrix:
    """The matrix from balanced camera colours to linear colours of a space."""
    adapted = adaptation(D65, space.white) @ XYZ_FROM_SRGB @ camera_to_srgb
    return np.asarray(np.linalg.solve(space.to_xyz, adapted))


def linearise(codes: NDArray[np.uint8], space: ColourSpace) -> NDArray[np.float32]:
    """Linear light of a space, as pixels (count, 3), of 8-bit sRGB pixels of any arrangement."""
    light = SRGB_CURVE.decode(np.arange(256) / 255)[codes.reshape(-1, 3)]
    return np.asarray(light @ make_space_matrix(np.eye(3), space).T, dtype=np.float32)


_EVERY = 16

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def tabulate(function: Function, count: int, exact: int = 0) -> NDArray[np.float64]:
    """Return a function at 0, 1, … `count` − 1: of its values from `exact` on, one in 16 is computed.

    The others lie on straight lines between these. A function with a pole of its slope at 0 is to be
    computed exactly there.
    """
    first = np.arange(min(exact, count), dtype=np.float64)
    cells = -(-max(count - exact, 0) // _EVERY)
    nodes = np.asarray(function(exact + _EVERY * np.arange(cells + 1, dtype=np.float64)))
    between = np.linspace(0, 1, _EVERY, endpoint=False)
    rest = nodes[:-1, None] + np.diff(nodes)[:, None] * between
    return np.concatenate([function(first), rest.ravel()])[:count]


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
            b"wtpt": _fixed(D50, b"XYZ " + bytes(4)),
            b"chad": _fixed(adaptation(D65, D50).ravel(), b"sf32" + bytes(4)),
            b"rXYZ": _fixed(red, b"XYZ " + bytes(4)),
            b"gXYZ": _fixed(green, b"XYZ " + bytes(4)),
            b"bXYZ": _fixed(blue, b"XYZ " + bytes(4)),
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
    header += struct.pack(">6H4s", 2024, 1, 1, 0, 0, 0, b"acsp") + bytes(28) + _fixed(D50)
    return header.ljust(_HEADER, b"\0") + table + bytes(data)


def _text(text: str) -> bytes:
    """A text in English."""
    encoded = text.encode("utf-16-be")
    return struct.pack(">4sLLL2s2sLL", b"mluc", 0, 1, 12, b"en", b"US", len(encoded), 28) + encoded


def _curve(curve: Curve) -> bytes:
    """The curve from code values to light: identity, a pure power, or a power above a straight toe."""
    if curve.gamma == 1:
        return struct.pack(">4sLL", b"curv", 0, 0)
    if curve.slope == 0:
        return _fixed(np.array([curve.gamma]), struct.pack(">4sLHH", b"para", 0, 0, 0))
    scale = 1 + curve.offset
    knee = curve.slope * curve.toe
    values = np.array([curve.gamma, 1 / scale, curve.offset / scale, 1 / curve.slope, knee])
    return _fixed(values, struct.pack(">4sLHH", b"para", 0, 3, 0))


def _fixed(values: NDArray[np.float64], head: bytes = b"") -> bytes:
    """Numbers with 16 bits after the point, behind the head of their type."""
    return head + np.round(values * 65536).astype(">i4").tobytes()
