"""Parts of a picture worth a look: those with the most detail, whichever method is best there."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError

Floats = NDArray[np.float32]

# Windows start at multiples of this: the best of them is as good as the best of all.
_STEP = 16
# Edges of more than this share of full scale count no more: one hard edge is no detail.
_ENOUGH = 0.1


#: Left, top, width and height.
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class CropBox:
    """A rectangle of pixels."""

    left: int
    top: int
    width: int
    height: int

    @property
    def place(self) -> tuple[slice, slice]:
        """Rows and columns of the rectangle."""
        return slice(self.top, self.top + self.height), slice(self.left, self.left + self.width)

    def check(self, shape: tuple[int, ...]) -> "CropBox":
        """The rectangle, if it lies inside a picture of that height and width."""
        inside = self.left + self.width <= shape[1] and self.top + self.height <= shape[0]
        if not inside or min(self.width, self.height) < 1 or min(self.left, self.top) < 0:
            raise InputError(
                f"the crop {self.left},{self.top},{self.width},{self.height} leaves the picture of "
                f"{shape[1]}×{shape[0]}; give left,top,width,height inside it"
            )
        return self

    def share(self, shape: tuple[int, ...]) -> tuple[float, float, float, float]:
        """The rectangle in parts of a picture's width and height."""
        height, width = shape[:2]
        return self.left / width, self.top / height, self.width / width, self.height / height


def part_of(picture: NDArray[np.uint8], box: Box | None) -> NDArray[np.uint8]:
    """The part of a picture in a box, or all of it."""
    if box is None:
        return picture
    return np.ascontiguousarray(picture[CropBox(*box).check(picture.shape).place])


def most_detailed(picture: NDArray[np.generic], side: int, count: int = 1) -> list[CropBox]:
    """Squares with the most detail that do not overlap, the most detailed first; fewer where no more fit."""
    height, width = picture.shape[:2]
    box_height, box_width = min(side, height), min(side, width)
    sums = _window_sums(detail(picture), box_height, box_width)
    found: list[CropBox] = []
    while len(found) < count and np.isfinite(sums).any():
        row, column = np.unravel_index(int(np.argmax(sums)), sums.shape)
        found.append(CropBox(int(column) * _STEP, int(row) * _STEP, box_width, box_height))
        reach_down, reach_right = -(-box_height // _STEP), -(-box_width // _STEP)
        sums[
            max(0, row - reach_down + 1) : row + reach_down,
            max(0, column - reach_right + 1) : column + reach_right,
        ] = -np.inf
    return found


def detail(picture: NDArray[np.generic]) -> Floats:
    """How much neighbouring pixels differ, each difference counted up to a limit.

    Blocks of 2×2 pixels are averaged first: what is left of noise then is half of it, of detail nearly all.
    """
    grey = np.asarray(picture, dtype=np.float32)
    grey = grey.mean(axis=2) if grey.ndim == 3 else grey
    grey /= max(float(grey.max()), 1e-6)
    soft = (grey[:-1, :-1] + grey[1:, :-1] + grey[:-1, 1:] + grey[1:, 1:]) / 4
    found = np.zeros_like(grey)
    found[1:-1, 1:-1] = np.minimum(np.abs(np.diff(soft, axis=0))[:, :-1], _ENOUGH)
    found[1:-1, 1:-1] += np.minimum(np.abs(np.diff(soft, axis=1))[:-1], _ENOUGH)
    return found


def _window_sums(values: Floats, height: int, width: int) -> NDArray[np.float64]:
    """Sums over windows whose corners are multiples of the step, by the summed-area table."""
    table = np.zeros((values.shape[0] + 1, values.shape[1] + 1))
    table[1:, 1:] = values.cumsum(axis=0, dtype=np.float64).cumsum(axis=1)
    whole = (
        table[height:, width:] - table[:-height, width:] - table[height:, :-width] + table[:-height, :-width]
    )
    return whole[::_STEP, ::_STEP].copy()
