"""Samples that stick out of all around them: how far, and how little of it their neighbours explain."""

import math

import numpy as np
from numba import float32, float64, int64, types, uint8
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import kernel, precompile

REACH = 3  # pixels that are looked at in each direction

_HULL = 2  # within so many pixels, samples of one colour bound what a whole one may be
_MOST_AROUND = (2 * REACH + 1) ** 2
_SWING = 2.0  # deviations by which noise makes the largest of a few neighbours exceed their mean
_COUNTED, _JUDGED = (
    4.0,
    5.0,
)  # deviations beyond the neighbours: what sticks out, and what does so beyond doubt

PATTERN = types.Array(types.uint8, 2, "C", readonly=True)  # colours, not to be written to


@precompile(
    float32[:, ::1], PATTERN, float64[:, ::1], float64, float32[:, ::1], float32[:, ::1], float32[:, ::1]
)
@kernel
def judge_samples(
    light: NDArray[np.float32],
    colours: NDArray[np.uint8],
    noise: NDArray[np.float64],
    white: float,
    excess: NDArray[np.float32],
    varied: NDArray[np.float32],
    followed: NDArray[np.float32],
) -> None:
    """Write by how much samples exceed their neighbours, and which share of it these explain.

    `light` is (height, width), `colours` a period of the array; `noise` has rows of slope and floor, variance
    = slope·x + floor, and of the balance that makes greys equal, for R, G and B. Samples from `white` on are
    saturated. `excess` is what a sample lies above the largest, or below the least, sample of its colour
    around it, if that is more than noise makes of it, else zero. `varied` is how much that colour varies
    around it, and `followed` how far other colours next to it go along, both as shares of the excess;
    `varied` is infinite where the excess is not beyond doubt.
    """
    around = np.empty(_MOST_AROUND, np.float32)
    steps, counts = _same_colour(colours)
    for row in range(light.shape[0]):
        y, x = row % colours.shape[0], -1
        for column in range(light.shape[1]):
            x = x + 1 if x + 1 < colours.shape[1] else 0
            excess[row, column] = 0.0
            if _is_like_first(light, noise, row, column, steps[y, x, 0, 0], steps[y, x, 0, 1], colours[y, x]):
                continue
            beyond, end = _beyond_hull(light, row, column, steps, counts, y, x)
            own = colours[y, x]
            if beyond == 0.0 or abs(beyond) <= _COUNTED * _deviation(noise, own, end):
                continue
            excess[row, column], varied[row, column] = abs(beyond), np.inf
            followed[row, column] = _measure_following(
                light, colours, noise, white, row, column, beyond, around
            )
            if abs(beyond) > _JUDGED * _deviation(noise, own, light[row, column]):
                varied[row, column] = _variation(light, colours, noise, row, column) / abs(beyond)


@precompile(int64[:, ::1], uint8[::1], float32[::1], int64[::1], int64, int64[:, ::1])
@kernel
def count_flocks(
    places: NDArray[np.int64],
    colours: NDArray[np.uint8],
    excess: NDArray[np.float32],
    which: NDArray[np.int64],
    reach: int,
    found: NDArray[np.int64],
) -> None:
    """Write how many other samples of the same colour near by exceed a quarter, and a half, of an excess.

    `places` has rows and columns in the order of the rows; `found` is (len(which), 2).
    """
    for k in range(len(which)):
        one = which[k]
        found[k, 0] = found[k, 1] = 0
        for step in (-1, 1):
            other = one + step
            while 0 <= other < len(places) and abs(places[other, 0] - places[one, 0]) <= reach:
                is_near = abs(places[other, 1] - places[one, 1]) <= reach
                if is_near and colours[other] == colours[one] and 4 * excess[other] >= excess[one]:
                    found[k, 0] += 1
                    if 2 * excess[other] >= excess[one]:
                        found[k, 1] += 1
                other += step


@kernel
def _deviation(noise: NDArray[np.float64], channel: int, value: float) -> float:
    """Return the deviation of the noise of a value."""
    return math.sqrt(noise[0, channel] * max(value, 0.0) + noise[1, channel])


@kernel
def _same_colour(colours: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each site of a period, the steps to samples of its colour near by, and their number.

    Opposite ones follow each other: a sample mostly lies between them, and no others need be looked at.
    """
    down, across = colours.shape
    steps, counts = np.zeros((down, across, _MOST_AROUND, 2), np.int64), np.zeros((down, across), np.int64)
    for row in range(down):
        for column in range(across):
            for dy in range(_HULL + 1):
                for dx in range(-_HULL, _HULL + 1):
                    for side in (1, -1):
                        is_new = dy > 0 or dx > 0  # the other half are the opposites of these
                        v, u = (row + side * dy) % down, (column + side * dx) % across
                        if is_new and colours[v, u] == colours[row, column]:
                            place = counts[row, column]
                            steps[row, column, place, 0] = side * dy
                            steps[row, column, place, 1] = side * dx
                            counts[row, column] += 1
    return steps, counts


@kernel
def _is_like_first(
    light: NDArray[np.float32],
    noise: NDArray[np.float64],
    row: int,
    column: int,
    dy: int,
    dx: int,
    channel: int,
) -> bool:
    """Return whether a sample differs from one of its colour by too little to stick out of all of them.

    It sticks out of them by no more, and their noise is no less than that of the darker of these two.
    """
    i, j = row + dy, column + dx
    if not (0 <= i < light.shape[0] and 0 <= j < light.shape[1]):
        return False
    value, other = float(light[row, column]), float(light[i, j])
    darker = max(min(value, other), 0.0)
    return bool((value - other) ** 2 <= _COUNTED**2 * (noise[0, channel] * darker + noise[1, channel]))


@kernel
def _beyond_hull(
    light: NDArray[np.float32],
    row: int,
    column: int,
    steps: NDArray[np.int64],
    counts: NDArray[np.int64],
    y: int,
    x: int,
) -> tuple[float, float]:
    """Return how far a sample of a site lies outside of its colour's range near by, and that range's end."""
    height, width = light.shape
    value = light[row, column]
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for k in range(counts[y, x]):
        i, j = row + steps[y, x, k, 0], column + steps[y, x, k, 1]
        if 0 <= i < height and 0 <= j < width:
            other = light[i, j]
            low, high = min(low, other), max(high, other)
            if low <= value <= high:
                return 0.0, 0.0
    if high < low:
        return 0.0, 0.0
    end = high if value > high else low
    return float(value - end), float(end)


@kernel
def _measure_following(
    light: NDArray[np.float32],
    colours: NDArray[np.uint8],
    noise: NDArray[np.float64],
    white: float,
    row: int,
    column: int,
    beyond: float,
    around: NDArray[np.float32],
) -> float:
    """Return how far the samples of other colours next to one go along with it, as a share of its excess.

    The one that goes farthest counts once, their mean twice. Where all of them are saturated, none can tell.
    """
    own = colours[row % colours.shape[0], column % colours.shape[1]]
    farthest, average, is_blind = 0.0, 0.0, True
    for channel in range(3):
        if channel == own:
            continue
        middle, most, mean = _compare_with_other(light, colours, row, column, channel, beyond, around)
        if middle < white:
            is_blind = False
        spare = _SWING * _deviation(noise, channel, middle)
        scale = noise[2, channel] / noise[2, own] / abs(beyond)
        farthest = max(farthest, (most - spare) * scale)
        average = max(average, (mean - 0.5 * spare) * scale)
    if is_blind and abs(beyond) < 0.5 * white:
        return np.inf
    return farthest + 2.0 * average


@kernel
def _variation(
    light: NDArray[np.float32],
    colours: NDArray[np.uint8],
    noise: NDArray[np.float64],
    row: int,
    column: int,
) -> float:
    """Return the standard deviation of the samples of one colour around one of them, without the noise's."""
    down, across = colours.shape
    own = colours[row % down, column % across]
    count, total, squares = 0, 0.0, 0.0
    for i in range(max(row - REACH, 0), min(row + REACH + 1, light.shape[0])):
        for j in range(max(column - REACH, 0), min(column + REACH + 1, light.shape[1])):
            if (i != row or j != column) and colours[i % down, j % across] == own:
                value = float(light[i, j])
                count, total, squares = count + 1, total + value, squares + value * value
    mean = total / count
    deviation = _deviation(noise, own, mean)
    return math.sqrt(max(squares / count - mean * mean - deviation * deviation, 0.0))


@kernel
def _compare_with_other(
    light: NDArray[np.float32],
    colours: NDArray[np.uint8],
    row: int,
    column: int,
    channel: int,
    beyond: float,
    around: NDArray[np.float32],
) -> tuple[float, float, float]:
    """Return the median of another colour around, and how far the samples next to the middle lie beyond it.

    That is told of the farthest of them and of their mean, towards the side of the sample in the middle.
    """
    down, across = colours.shape
    side, count, next_to = np.float32(1.0 if beyond > 0 else -1.0), 0, 0
    most, total = np.float32(-np.inf), np.float32(0.0)
    first = max(column - REACH, 0)
    for i in range(max(row - REACH, 0), min(row + REACH + 1, light.shape[0])):
        y, x = i % down, first % across
        for j in range(first, min(column + REACH + 1, light.shape[1])):
            if colours[y, x] == channel:
                if abs(i - row) <= 1 and abs(j - column) <= 1:
                    most, total = max(most, side * light[i, j]), total + side * light[i, j]
                    next_to += 1
                else:
                    around[count] = light[i, j]
                    count += 1
            x = x + 1 if x + 1 < across else 0
    middle = _median(around, count)
    if next_to == 0:
        return middle, 0.0, 0.0
    return middle, float(most - side * middle), float(total / next_to - side * middle)


@kernel
def _median(values: NDArray[np.float32], count: int) -> float:
    """Return the middle of the first values, which are sorted in place."""
    for i in range(1, count):
        value, j = values[i], i - 1
        while j >= 0 and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value
    return float(values[count // 2]) if count else 0.0
