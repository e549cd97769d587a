"""Small shapes that stand out of a picture, dark or light.

A plane is looked at with a window that shapes of a few pixels fit into. The plane less its morphological
opening, known as its white top-hat, is what no window holds that is as bright all over. A pixel stands out
where that is several times its mean around, and at least half of the most near by, so that shapes that touch
weaker ones are told apart. Larger shapes are found the same way on planes of half, a quarter and an eighth of
the size.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from demosaic_ntc.arrays import Flags, Float32

Box = tuple[slice, slice]

_WINDOW = 9  # pixels across that a shape fits into
_AROUND = 41  # pixels across that tell how much stands out everywhere
_FAINTEST = 0.012  # of white: less is not looked at
_OUT, _CLEARLY_OUT = 2.2, 3.5  # times the mean around: a shape's pixels, and at least one of them
_HALF = 0.45  # of the most near by
_FEWEST = 4  # pixels of a shape
_BAND = 512  # rows at a time
_HALO = 2 * (_WINDOW // 2) + max(
    _WINDOW, _AROUND // 2
)  # rows around a band that what is found there depends on
_EIGHT = np.ones((3, 3), np.bool_)  # neighbours also by their corners


@dataclass(frozen=True, slots=True)
class Shape:
    """Connected pixels of a plane that stand out."""

    box: Box
    pixels: Flags  # (height, width) of the box
    area: int

    @property
    def longer(self) -> int:
        """The longer side of its box."""
        return int(max(self.pixels.shape))

    @property
    def shorter(self) -> int:
        """The shorter side of its box."""
        return int(min(self.pixels.shape))

    @property
    def width(self) -> float:
        """How wide it is at its widest."""
        return float(2 * ndimage.distance_transform_edt(np.pad(self.pixels, 1)).max() - 1)


def shapes(plane: Float32) -> Iterator[Shape]:
    """The shapes that are brighter than what surrounds them, in a plane (height, width) of white 1.

    At least one pixel of each stands out clearly.
    """
    out, clearly = _brighter(plane)
    numbers, count = ndimage.label(out, _EIGHT)
    areas = np.bincount(numbers[out], minlength=count + 1)
    is_clear = np.zeros(count + 1, np.bool_)
    is_clear[numbers[out & clearly]] = True
    for number, box in enumerate(ndimage.find_objects(numbers), start=1):
        if is_clear[number] and areas[number] >= _FEWEST:
            yield Shape(box, numbers[box] == number, int(areas[number]))


def _brighter(plane: Float32) -> tuple[Flags, Flags]:
    """Where a plane is brighter than around, and where clearly so, band by band."""
    out, clearly = np.empty(plane.shape, np.bool_), np.empty(plane.shape, np.bool_)
    for top in range(0, len(plane), _BAND):
        bottom, first = min(top + _BAND, len(plane)), max(top - _HALO, 0)
        found = _find_in_band(plane[first : bottom + _HALO])
        for whole, part in zip((out, clearly), found, strict=True):
            whole[top:bottom] = part[top - first : bottom - first]
    return out, clearly


def _find_in_band(plane: Float32) -> tuple[Flags, Flags]:
    """Where a plane is brighter than around, and where clearly so."""
    excess = plane - ndimage.grey_opening(plane, (_WINDOW, _WINDOW), mode="nearest")
    mean = ndimage.uniform_filter(excess, _AROUND, mode="nearest")
    most = ndimage.maximum_filter(excess, 2 * _WINDOW + 1, mode="nearest")
    return (
        excess > np.maximum(_OUT * mean + _FAINTEST, _HALF * most),
        excess > _CLEARLY_OUT * mean + _FAINTEST,
    )


def halve_plane(plane: Float32) -> Float32:
    """The plane at half the size, each pixel the mean of four; odd ends are repeated."""
    even = np.pad(plane, [(0, size % 2) for size in plane.shape], mode="edge")
    return np.asarray((even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2]) / 4)


def grow_box(box: Box, by: int, size: tuple[int, ...]) -> Box:
    """A box with a margin, inside a plane of this size."""
    rows, columns = (
        slice(max(each.start - by, 0), min(each.stop + by, end)) for each, end in zip(box, size, strict=True)
    )
    return rows, columns


def within(inner: Box, outer: Box) -> Box:
    """A box as it lies in another."""
    rows, columns = (
        slice(each.start - all_.start, each.stop - all_.start)
        for each, all_ in zip(inner, outer, strict=True)
    )
    return rows, columns
