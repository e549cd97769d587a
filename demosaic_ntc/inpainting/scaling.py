"""Between the values of a damaged picture and those of the engine: what is known, and in which scale."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Planes, select, zero_where
from demosaic_ntc.engine.checks import full_scale, result_type
from demosaic_ntc.engine.tiles import row_bands
from demosaic_ntc.run import Run

# Known values within this share of full scale are stretched: float32 would lose them, and tolerances too.
LEAST_CONTRAST = 1 / 64


@dataclass(frozen=True, slots=True)
class Scale:
    """The straight line between the values of a picture and those of the engine, about 0 to 1."""

    black: float
    width: float
    white: float  # nothing restored lies above

    @classmethod
    def of(cls, extremes: NDArray[Any]) -> "Scale":
        """Return the scale of the known values: full scale is 1, unless they crowd in a small part of it."""
        white, low, high = full_scale(extremes), float(extremes.min()), float(extremes.max())
        if 0 < high - low < white * LEAST_CONTRAST:
            return cls(low, high - low, white)
        return cls(0.0, white, white)

    def planes(self, channels: NDArray[Any], holes: Flags, run: Run) -> Planes:
        """Return the engine's values, (channels, height, width); zero where they are missing."""
        planes = np.empty(channels.shape, np.float32)

        def scale(rows: slice) -> None:
            self.fill(planes[:, rows], channels[:, rows], holes[:, rows])

        run.do(scale, row_bands(len(planes[0])))
        return planes

    def fill(self, planes: Planes, channels: NDArray[Any], holes: Flags) -> None:
        """Write the engine's values; zero where they are missing."""
        with np.errstate(over="ignore", invalid="ignore"):  # of whatever stands at missing places
            if result_type(self.width) is np.float64 or result_type(self.white) is np.float64:
                planes[...] = (channels - self.black) / self.width
            else:
                planes[...] = channels if self.black == 0 else channels - self.black
                if self.width != 1:
                    planes /= np.float32(self.width)
        zero_where(holes, planes)

    def values(self, planes: Planes, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return values of the picture's type, integers rounded, none out of range."""
        values = planes.astype(np.float64)
        values *= self.width
        values += self.black
        largest = float(np.finfo(dtype).max) if dtype.kind == "f" else _largest_float(dtype)
        np.clip(values, 0.0, min(self.white, largest), out=values)
        return (values if dtype.kind == "f" else np.rint(values, out=values)).astype(dtype)

    def write(self, channels: NDArray[Any], planes: Planes, holes: Flags) -> None:
        """Write what was restored into the holes of a picture."""
        for channel, plane, hole in zip(channels, planes, holes, strict=True):
            if hole.any():
                channel[...] = select(hole, self.values(plane, channel.dtype), channel)


def planes_of(image: NDArray[Any]) -> NDArray[Any]:
    """Return the channels of an image as a stack of planes, a view."""
    return np.moveaxis(np.atleast_3d(image), 2, 0)


def extremes_of(channels: NDArray[Any], holes: Flags, run: Run) -> NDArray[Any]:
    """Return the least and the largest known value of every channel that has any, (channels, 2).

    NaN among the known values is both.
    """
    found = []
    for channel, hole in zip(channels, holes, strict=True):
        if not hole.all():
            first = channel[np.unravel_index(int(hole.argmin()), hole.shape)]
            ends = run.map(_ends_of(channel, hole, first), row_bands(len(channel)))
            least, largest = zip(*ends, strict=True)
            found.append((np.min(least), np.max(largest)))
    return np.array(found)


def _ends_of(
    channel: NDArray[Any], hole: Flags, known: Any
) -> Callable[[slice], tuple[np.generic, np.generic]]:
    """Return what finds the least and the largest of a known value and all in some rows."""

    def ends(rows: slice) -> tuple[np.generic, np.generic]:
        values = channel[rows]
        if hole[rows].any():
            values = select(hole[rows], np.asarray(known, channel.dtype), values)
        return values.min(), values.max()

    return ends


def _largest_float(dtype: np.dtype[Any]) -> float:
    """Return the largest float64 that an integer type holds; rounding up would wrap around."""
    largest = np.iinfo(dtype).max
    return float(np.nextafter(float(largest), 0.0)) if float(largest) > largest else float(largest)
