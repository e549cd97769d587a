"""Smooth maps kept at every fourth row and column, and read in between."""

import numpy as np

from demosaic_ntc.arrays import Float32, Places

STEP = 4


class SubsampledMap:
    """A map of a picture, (height, width), of which every fourth row and column are kept."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._kept = np.zeros([-(-length // STEP) for length in shape], np.float32)

    def write(self, rows: slice, columns: slice, values: Float32) -> None:
        """Keep some of the values of a window, (rows, columns)."""
        first, left = -rows.start % STEP, -columns.start % STEP
        some = values[first::STEP, left::STEP]
        top, start = -(-rows.start // STEP), -(-columns.start // STEP)
        self._kept[top : top + some.shape[0], start : start + some.shape[1]] = some

    def read(self, rows: slice, columns: slice) -> Float32:
        """Return the values of a window, on straight lines between those that are kept."""
        tall = _interpolate_axis(self._kept, rows, 0)
        return _interpolate_axis(tall, columns, 1)

    def at(self, places: Places) -> Float32:
        """Return the values that are kept before some places, (count, 2)."""
        rows, columns = (places // STEP).T
        values: Float32 = self._kept[rows, columns]
        return values


def _interpolate_axis(values: Float32, places: slice, axis: int) -> Float32:
    """Return values at the places along an axis, the last one beyond all that are kept."""
    place = np.arange(places.start, places.stop)
    before = place // STEP
    after = np.minimum(before + 1, values.shape[axis] - 1)
    share = (place % STEP / np.float32(STEP)).astype(np.float32)
    share = share[:, None] if axis == 0 else share
    low = values.take(before, axis)
    result: Float32 = values.take(after, axis)
    result -= low
    result *= share
    result += low
    return result
