"""Opcodes that state which samples are bad and which part of an image is of use."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags


@dataclass(frozen=True, slots=True)
class FixBadPixelsConstant:
    """Samples of one stored value are bad."""

    name: ClassVar[str] = "FixBadPixelsConstant"
    constant: int

    def find(self, stored: NDArray[np.uint16]) -> Flags:
        """Flag the bad ones among samples, (height, width)."""
        return np.asarray(stored == self.constant)


@dataclass(frozen=True, slots=True, eq=False)
class FixBadPixelsList:
    """Bad samples by their places, and rectangles of them."""

    name: ClassVar[str] = "FixBadPixelsList"
    points: NDArray[np.uint32]  # (count, 2): row, column
    rectangles: NDArray[np.uint32]  # (count, 4): top, left, bottom, right

    def find(self, stored: NDArray[np.uint16]) -> Flags:
        """Flag the bad ones among samples, (height, width); places outside are passed over."""
        inside = (self.points < np.array(stored.shape)).all(axis=1)
        bad = self._cover(stored.shape)
        bad[tuple(self.points[inside].T.astype(np.intp))] = True
        return bad

    def shift(self, top: int, left: int) -> "FixBadPixelsList":
        """The same places counted from another row and column; what lies before them is left out."""
        points = self.points.astype(np.int64) - (top, left)
        corners = self.rectangles.astype(np.int64) - (top, left, top, left)
        points, corners = points[(points >= 0).all(axis=1)], np.maximum(corners, 0)
        return FixBadPixelsList(points.astype(np.uint32), corners.astype(np.uint32))

    def _cover(self, shape: tuple[int, ...]) -> Flags:
        """Flag what rectangles cover, by sums over the corners where they begin and end."""
        if not len(self.rectangles):
            return np.zeros(shape, np.bool_)
        corners = np.zeros((shape[0] + 1, shape[1] + 1), np.int32)
        top, left, bottom, right = np.minimum(self.rectangles, np.tile(shape, 2)).astype(np.intp).T
        some = (top < bottom) & (left < right)
        for y, x, sign in ((top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)):
            np.add.at(corners, (y[some], x[some]), sign)
        return np.asarray(corners.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0)


@dataclass(frozen=True, slots=True)
class TrimBounds:
    """The part of an image that is of use."""

    name: ClassVar[str] = "TrimBounds"
    top: int
    left: int
    bottom: int
    right: int


BadPixelOpcode = FixBadPixelsConstant | FixBadPixelsList
