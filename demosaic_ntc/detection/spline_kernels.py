"""Compiled splines: a plane between its samples, at sites that are moved by offsets, linear or cubic."""

import math

import numpy as np
from numba import float32, float64
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import kernel, precompile, step

SITES = 8  # of a colour, from one node of the offsets to the next

_TAPS = 4
_ZERO, _ONE, _THREE, _FOUR, _SIXTH = (np.float32(each) for each in (0, 1, 3, 4, 1 / 6))
_POLE = math.sqrt(3) - 2  # of the filter whose inverse samples a cubic spline (M. Unser, 1999)
_GAIN = 6.0
_FADED = 24  # samples after which its powers are nothing in single precision

Plane = NDArray[np.float32]


@step
def _weigh(share: np.float32, is_cubic: bool) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """Return the weights of the four coefficients around a place that lies a share after the second."""
    rest = _ONE - share
    if not is_cubic:
        return _ZERO, rest, share, _ZERO
    outer, inner = share * share * share * _SIXTH, rest * rest * rest * _SIXTH
    before = (_FOUR - _THREE * share * share * (_ONE + rest)) * _SIXTH
    after = (_FOUR - _THREE * rest * rest * (_ONE + share)) * _SIXTH
    return inner, before, after, outer


@step
def _mirror(place: int, length: int) -> int:
    """A row or column within a plane, for any."""
    period = max(2 * length - 2, 1)
    place = abs(place) % period
    return place if place < length else period - place


@step
def _read(coefficients: Plane, y: float, x: float, is_cubic: bool) -> np.float32:
    """A plane at a row and column; beyond the border its last samples go on."""
    height, width = coefficients.shape
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    a, b, c, d = _weigh(np.float32(x - left), is_cubic)
    down, total = _weigh(np.float32(y - top), is_cubic), _ZERO
    if 1 <= top < height - 2 and 1 <= left < width - 2:
        for p in range(_TAPS):
            row = coefficients[top - 1 + p, left - 1 :]
            total += down[p] * (a * row[0] + b * row[1] + c * row[2] + d * row[3])
        return total
    columns = _mirror(left - 1, width), left, _mirror(left + 1, width), _mirror(left + 2, width)
    for p in range(_TAPS):
        row = coefficients[_mirror(top - 1 + p, height)]
        along = a * row[columns[0]] + b * row[columns[1]] + c * row[columns[2]] + d * row[columns[3]]
        total += down[p] * along
    return total


@step
def _go_between(nodes: NDArray[np.float64], site: int, line: NDArray[np.float64]) -> None:
    """Write the nodes of a row of sites, down and across, linear between those above and below."""
    top, share = site // SITES, (site % SITES) / SITES
    for axis in range(2):
        for k in range(line.shape[1]):
            above = nodes[axis, top, k]
            line[axis, k] = above + share * (nodes[axis, top + 1, k] - above)


@step
def _offset(line: NDArray[np.float64], axis: int, site: int) -> float:
    """The offset of a site in a row, linear between nodes."""
    left, share = site // SITES, (site % SITES) / SITES
    before = line[axis, left]
    return float(before + share * (line[axis, left + 1] - before))


@precompile(float32[:, ::1], is_rare=True)
@kernel
def filter_splines(plane: Plane) -> None:
    """Replace a plane by the coefficients of its cubic splines, mirrored at the centres of border samples."""
    height, width = plane.shape
    pole, gain, end = np.float32(_POLE), np.float32(_GAIN), np.float32(_POLE / (_POLE * _POLE - 1))
    if height > 1:
        first = np.zeros(width, np.float32)
        power = gain
        for k in range(_FADED):
            row = plane[_mirror(k, height)]
            for j in range(width):
                first[j] += power * row[j]
            power *= pole
        before, here = plane[0], plane[0]
        for j in range(width):
            here[j] = first[j]
        for i in range(1, height):
            before, here = plane[i - 1], plane[i]
            for j in range(width):
                here[j] = gain * here[j] + pole * before[j]
        for j in range(width):
            here[j] = end * (here[j] + pole * before[j])
        for i in range(height - 2, -1, -1):
            after, here = plane[i + 1], plane[i]
            for j in range(width):
                here[j] = pole * (after[j] - here[j])
    if width > 1:
        for i in range(height):
            _filter_line(plane[i], pole, gain, end)


@step
def _filter_line(line: Plane, pole: np.float32, gain: np.float32, end: np.float32) -> None:
    """Replace a line by the coefficients of its cubic splines."""
    last, value, power = line.size - 1, np.float32(0.0), gain
    for k in range(_FADED):
        value += power * line[_mirror(k, line.size)]
        power *= pole
    line[0] = value
    for j in range(1, last + 1):
        value = gain * line[j] + pole * value
        line[j] = value
    value = end * (value + pole * line[last - 1])
    line[last] = value
    for j in range(last - 1, -1, -1):
        value = pole * (value - line[j])
        line[j] = value


@precompile(
    float32[:, ::1], float32[:, ::1], float64[:, :, ::1], float64[::1], float64, float32[:, ::1], is_rare=True
)
@kernel
def subtract_between(
    coefficients: Plane,
    samples: Plane,
    nodes: NDArray[np.float64],
    first: NDArray[np.float64],
    is_cubic: float,
    result: Plane,
) -> None:
    """Write samples of a colour less another plane where they belong in it.

    Sites lie at every second row and column of the plane from the `first` on, and belong at what they are
    less their offsets. `nodes` are these, down and across, (2, rows, columns) of every eighth site.
    """
    line = np.empty((2, nodes.shape[2]), np.float64)
    for i in range(samples.shape[0]):
        _go_between(nodes, i, line)
        for j in range(samples.shape[1]):
            y, x = first[0] + 2 * i - _offset(line, 0, j), first[1] + 2 * j - _offset(line, 1, j)
            result[i, j] = samples[i, j] - _read(coefficients, y, x, is_cubic != 0)


@precompile(
    float32[:, ::1],
    float32[:, ::1],
    float32[:, ::1],
    float64[:, :, ::1],
    float64,
    float32,
    float32[:, ::1],
    is_rare=True,
)
@kernel
def add_between(
    coefficients: Plane,
    green: Plane,
    samples: Plane,
    nodes: NDArray[np.float64],
    is_cubic: float,
    level: np.float32,
    result: Plane,
) -> None:
    """Write green at the sites of a colour and what it differs by, where its colour shows it.

    That is at what sites are plus their offsets, in pixels: see `subtract_between`. Where the nearest sample
    there reaches a level, so does it; no other exceeds that.
    """
    height, width = samples.shape
    line = np.empty((2, nodes.shape[2]), np.float64)
    for i in range(height):
        _go_between(nodes, i, line)
        for j in range(width):
            y, x = i + _offset(line, 0, j) / 2, j + _offset(line, 1, j) / 2
            moved = green[i, j] + _read(coefficients, y, x, is_cubic != 0)
            row, column = min(max(np.rint(y), 0.0), height - 1.0), min(max(np.rint(x), 0.0), width - 1.0)
            nearest = samples[int(row), int(column)]
            result[i, j] = level if nearest >= level else min(moved, level)
