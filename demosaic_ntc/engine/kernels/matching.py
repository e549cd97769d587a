"""Search for similar patches: the least mean squared differences in a window around each reference.

The difference of two patches is Σ c c′ (x − x′)² / Σ c c′ over their pixels, with x the values of all
channels and c the confidence in a pixel: what is hardly known counts little. Where everything is known alike
there is no map of confidences, and the difference is Σ (x − x′)².
"""

import numpy as np
from numba import float32, int8, int64
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32, Offsets, Places, Planes
from demosaic_ntc.jit.compiled import fast_kernel, fast_step, precompile

_FAR = np.float32(1e30)  # beyond all differences, and finite when multiplied by the mass of a patch
_FAR_KEY = int(_FAR.view(np.int32))
_MOST_KEY = 2**31 - 1
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_STEP = 32  # keys that a compiled loop takes at once

Keys = NDArray[np.int32]


@fast_step
def _add_squares(planes: Planes, row: int, column: int, dy: int, dx: int, total: Float32) -> None:
    """Add Σ (x − x′)² over the channels for a stretch of pixels and those at an offset from them."""
    count, channels = total.shape[0], planes.shape[0]
    if channels == 3:  # colour pictures in one loop: half of the time goes into reading and writing the total
        red, other_red = planes[0, row, column:], planes[0, row + dy, column + dx :]
        green, other_green = planes[1, row, column:], planes[1, row + dy, column + dx :]
        blue, other_blue = planes[2, row, column:], planes[2, row + dy, column + dx :]
        for x in range(count):
            r, g, b = red[x] - other_red[x], green[x] - other_green[x], blue[x] - other_blue[x]
            total[x] += r * r + g * g + b * b
        return
    for channel in range(channels):
        values = planes[channel, row, column : column + count]
        others = planes[channel, row + dy, column + dx : column + dx + count]
        for x in range(count):
            difference = values[x] - others[x]
            total[x] += difference * difference


@fast_step
def _add_weighted(
    planes: Planes,
    confidence: Float32,
    row: int,
    column: int,
    dy: int,
    dx: int,
    scratch: Float32,
    total: Float32,
    mass: Float32,
) -> None:
    """Add c c′ Σ (x − x′)² and c c′ for a stretch of pixels and those at an offset from them."""
    count = total.shape[0]
    for x in range(count):
        scratch[x] = _ZERO
    _add_squares(planes, row, column, dy, dx, scratch)
    here = confidence[row, column : column + count]
    there = confidence[row + dy, column + dx : column + dx + count]
    for x in range(count):
        both = here[x] * there[x]
        mass[x] += both
        total[x] += both * scratch[x]


@fast_step
def _sum_neighbours(values: Float32, size: int, sums: Float32) -> None:
    """Write the sum of each value and its followers, ``size`` in all; of the first four in one loop."""
    if size >= 4:
        second, third, fourth = values[1:], values[2:], values[3:]
        for x in range(sums.shape[0]):
            sums[x] = (values[x] + second[x]) + (third[x] + fourth[x])
    else:
        for x in range(sums.shape[0]):
            sums[x] = values[x]
    for step in range(4 if size >= 4 else 1, size):
        followers = values[step:]
        for x in range(sums.shape[0]):
            sums[x] += followers[x]


@fast_step
def _compare_row(
    planes: Planes,
    confidence: Float32,
    references: Places,
    size: int,
    offsets: Places,
    room: Float32,
    differences: Float32,
) -> None:
    """Write the difference between references of one row and their candidates, (references, candidates).

    Candidates beyond the border are far away. ``room`` is (3, pixels from the first reference to the last).
    """
    _, height, width = planes.shape
    weighted, row, left = confidence.size > 0, references[0, 0], references[0, 1]
    right = references[references.shape[0] - 1, 1] + size
    for candidate in range(offsets.shape[0]):
        dy, dx = offsets[candidate, 0], offsets[candidate, 1]
        first = max(left, -dx)
        length = min(right, width - dx) - first
        squares = length - size + 1
        if squares < 1 or row + dy < 0 or row + dy + size > height:
            for reference in range(references.shape[0]):
                differences[reference, candidate] = _FAR
            continue
        total, mass, sums = room[0, :length], room[1, :length], room[2, :squares]
        for x in range(length):
            total[x] = mass[x] = _ZERO
        for i in range(row, row + size):
            if weighted:
                _add_weighted(planes, confidence, i, first, dy, dx, room[2, :length], total, mass)
            else:
                _add_squares(planes, i, first, dy, dx, total)
        _sum_neighbours(total, size, sums)
        if weighted:
            _sum_neighbours(mass, size, total[:squares])
            for x in range(squares):
                sums[x] /= total[x]
        for reference in range(references.shape[0]):
            x = references[reference, 1] - first
            differences[reference, candidate] = sums[x] if 0 <= x < squares else _FAR


@fast_step
def _count_below(keys: Keys, limit: int) -> np.float32:
    """Return how many keys are below a limit; a float, as these are counted several at a time."""
    trial, below = np.int32(limit), _ZERO
    for candidate in range(keys.shape[0]):
        below += _ONE if keys[candidate] < trial else _ZERO
    return below


@fast_step
def _bound(keys: Keys, count: int) -> int:
    """Return a number that the ``count`` least keys do not exceed, and others only if they equal the last.

    It is sought between limits below which there are fewer and more, in turn where it should be if keys were
    spread evenly, and in the middle.
    """
    least, most = keys[0], keys[0]
    for candidate in range(keys.shape[0]):
        least, most = min(least, keys[candidate]), max(most, keys[candidate])
    low, high, wanted = int(least), int(most) + 1, np.float32(count)
    fewer, more, evenly = _ZERO, np.float32(keys.shape[0]), True
    if wanted == more:
        return high - 1
    while high - low > 1:
        step = int(np.float32(high - low) * (wanted - fewer) / (more - fewer))
        trial = low + (min(max(step, 1), high - low - 1) if evenly else (high - low) // 2)
        below, evenly = _count_below(keys, trial), not evenly
        if below == wanted:
            return trial - 1
        if below < wanted:
            low, fewer = trial, below
        else:
            high, more = trial, below
    return low


@fast_step
def _list_nearest(keys: Keys, wanted: int, chosen: Keys) -> int:
    """Write the candidates of the least keys, so many, in their own order, equals of the last behind them.

    Returns how many there are: those beyond the border are left out.
    """
    bound = min(_bound(keys, min(wanted, keys.shape[0])), _FAR_KEY - 1)
    all_fit = _count_below(keys, bound + 1) <= np.float32(wanted)
    limit = np.int32(bound if all_fit else bound - 1)
    taken, one, none = np.uint64(0), np.uint64(1), np.uint64(0)
    for candidate in range(keys.shape[0]):  # written in any case, and kept where it counts: no jumps to guess
        chosen[taken] = candidate
        taken += one if keys[candidate] <= limit else none
    count = int(np.int64(taken))
    if not all_fit:
        for candidate in range(keys.shape[0]):
            if keys[candidate] == bound and count < wanted:
                chosen[count] = candidate
                count += 1
    return count


@fast_step
def _take_nearest(keys: Keys, offsets: Places, room: Keys, found: Offsets) -> None:
    """Write the offset zero and those of the least differences, in their order; of equals, the first ones.

    Floats that are not negative are ordered like the integers of the same bits, which ``keys`` are. The place
    of each is the number of lesser ones, and of equals before it. ``room`` is (3, candidates and more).
    """
    best, chosen, equals = room[0], room[1], room[2]
    count = _list_nearest(keys, found.shape[0] - 1, chosen)
    compared = -(-count // _STEP) * _STEP
    for each in range(found.shape[0]):
        found[each, 0] = found[each, 1] = 0
    for each in range(compared):
        best[each] = keys[chosen[each]] if each < count else _MOST_KEY
        equals[each] = 0
    for each in range(count):
        key, lesser, candidate = best[each], _ZERO, chosen[each]
        for other in range(compared):
            lesser += _ONE if best[other] < key else _ZERO
        rank = np.uint64(lesser)
        place = rank + np.uint64(equals[rank]) + np.uint64(1)
        equals[rank] += 1
        found[place, 0], found[place, 1] = offsets[candidate, 0], offsets[candidate, 1]


@precompile(float32[:, :, ::1], float32[:, ::1], int64[:, ::1], int64, int64[:, ::1], int8[:, :, ::1])
@fast_kernel
def match_patches(
    planes: Planes, confidence: Float32, references: Places, size: int, offsets: Places, found: Offsets
) -> None:
    """Write the offsets of the patches most like each reference patch, itself first, into ``found``.

    ``confidence`` is (height, width), or empty where everything is known alike. ``references`` are
    (count, 2), sorted by rows and columns; they should lie close together, since the differences at one
    offset are computed for a row of them at once. ``offsets`` are (candidates, 2) without zero, those to be
    preferred among equals first; ``found`` is (count, patches, 2). Where a picture holds fewer candidates
    than patches are wanted, the reference itself is repeated.
    """
    count, left, right = references.shape[0], references[0, 1], references[0, 1]
    for reference in range(count):
        left, right = min(left, references[reference, 1]), max(right, references[reference, 1])
    width = right - left + size
    room = np.empty((3, width), np.float32)
    taken = np.empty((3, max(offsets.shape[0], found.shape[1]) + _STEP), np.int32)
    start = 0
    while start < count:
        stop = start + 1
        while stop < count and references[stop, 0] == references[start, 0]:
            stop += 1
        differences = np.empty((stop - start, offsets.shape[0]), np.float32)
        _compare_row(planes, confidence, references[start:stop], size, offsets, room, differences)
        for reference in range(start, stop):
            keys = differences[reference - start].view(np.int32)
            _take_nearest(keys, offsets, taken, found[reference])
        start = stop
