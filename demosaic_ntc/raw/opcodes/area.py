"""Where an opcode acts: some rows, columns and planes of an image; and which part of it is at hand."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """A part of an image that is at hand, and the size of the whole.

    With a step of s, a pixel at hand stands for s × s of the image, as in a picture of half its size.
    """

    rows: slice  # from a start to a stop, in pixels at hand
    columns: slice
    size: tuple[int, int]  # height and width of the image
    step: int = 1

    @classmethod
    def whole(cls, size: tuple[int, int]) -> "Window":
        """All of an image."""
        return cls(slice(0, size[0]), slice(0, size[1]), size)

    def centres(self) -> tuple[Float64, Float64]:
        """The middles of its rows and columns in the image, whose first pixel reaches from 0 to 1."""
        down, across = (
            np.arange(each.start, each.stop, dtype=np.float64) for each in (self.rows, self.columns)
        )
        return (down + 0.5) * self.step, (across + 0.5) * self.step


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rows, columns and planes of a window that an opcode acts on."""

    rows: Numbers  # in the window
    columns: Numbers
    planes: slice
    row_numbers: Numbers  # in the opcode's own count, from its first row on
    column_numbers: Numbers

    @property
    def place(self) -> tuple[NDArray[np.int64], NDArray[np.int64], slice]:
        """Where they lie in an array (rows, columns, planes)."""
        return self.rows[:, None], self.columns[None, :], self.planes


@dataclass(frozen=True, slots=True)
class Area:
    """Rows and columns of an image, one in so many of each, and planes."""

    top: int
    left: int
    bottom: int
    right: int
    plane: int
    planes: int
    row_pitch: int
    column_pitch: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""
        height, width = self.bottom - self.top, self.right - self.left
        return -(-height // self.row_pitch), -(-width // self.column_pitch)

    def choose(self, window: Window, planes: int) -> Chosen:
        """Choose what lies in a window of so many planes."""
        down, row_numbers = _steps(window.rows, self.top, self.bottom, self.row_pitch, window.step)
        across, column_numbers = _steps(window.columns, self.left, self.right, self.column_pitch, window.step)
        own = slice(min(self.plane, planes), min(self.plane + self.planes, planes))
        return Chosen(down, across, own, row_numbers, column_numbers)

    def covers(self, size: tuple[int, int], period: tuple[int, int]) -> bool:
        """Whether it holds the same sites of every period of an image from one border to the other."""
        ends = ((self.top, self.bottom, self.row_pitch), (self.left, self.right, self.column_pitch))
        return all(
            low < pitch and high > length - pitch and cell % pitch == 0
            for (low, high, pitch), length, cell in zip(ends, size, period, strict=True)
        )

    def holds_plane(self, plane: int) -> bool:
        """Whether it holds a plane."""
        return self.plane <= plane < self.plane + self.planes

    def holds_site(self, site: tuple[int, int]) -> bool:
        """Whether a site of a period belongs to it, if it covers the image."""
        return (site[0] - self.top) % self.row_pitch == 0 and (site[1] - self.left) % self.column_pitch == 0


def _steps(window: slice, low: int, high: int, pitch: int, step: int) -> tuple[Numbers, Numbers]:
    """Places in a window of the steps from `low` to `high`, and their numbers.

    Pixels that stand for several belong to all steps: they are not told from each other there.
    """
    place = np.arange(window.start, window.stop) * step
    inside = (place >= low) & (place < high)
    if step == 1:
        inside &= (place - low) % pitch == 0
    found = np.flatnonzero(inside)
    return found, (place[found] - low) // pitch
