"""First estimates of what a picture does not show: smooth fills of its holes.

The biharmonic fill solves Δ²u = 0 in the holes (Damelin and Hoang 2018, doi:10.1155/2018/3950312). Solved
by conjugate gradients from a blurred fill and stopped early, it costs a fraction of a sparse factorisation
(scikit-image's ``inpaint_biharmonic``), equals it in small holes, and overshoots less in large ones: what
many steps would add there is long waves that nothing supports.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.ndimage import gaussian_filter

from demosaic_ntc.arrays import Flags, Planes, select
from demosaic_ntc.inpainting.classification import depths
from demosaic_ntc.run import Deadline

Number = TypeVar("Number", bound=np.generic)

# Δ², the 5-point Laplacian applied twice.
_STENCIL = {(0, 0): 20} | {
    (sign * dy, sign * dx): weight
    for dy, dx, weight in ((0, 1, -8), (1, 0, -8), (1, 1, 2), (1, -1, 2), (0, 2, 1), (2, 0, 1))
    for sign in (1, -1)
}
_REACH = 2  # of the stencil

_BLURS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # standard deviations, in pixels
_TRUNCATED = 3.0  # standard deviations at which a blur ends
_ENOUGH = 0.02  # share of a blur's weight that must be known
_TINY = np.float32(1e-30)
_BLOCKS = (8, 64, 1 << 30)  # pixels of a side of which a plain mean is taken
_STEPS_PER_DEPTH, _MOST_STEPS, _ACCURACY = 12, 100, 1e-3  # of the biharmonic fill
_NEVER = Deadline()


def plainly_filled(planes: Planes, known: Flags) -> Planes:
    """Return planes, (channels, height, width), with missing entries at means of the known ones close by.

    Close by is the same block of a few pixels, or of more where nothing is known there, or everywhere. Where
    nothing is known at all, they stay.
    """
    return np.stack([_fill_by_blocks(*each) for each in zip(planes, known, strict=True)])


def _fill_by_blocks(plane: NDArray[np.float32], shown: Flags) -> NDArray[np.float32]:
    """Return a plane filled with means of ever larger blocks."""
    filled, left = plane, ~shown
    for side in _BLOCKS:
        means, counted = _block_means(plane, shown, side)
        told = left if counted.all() else left & _spread(counted, side, plane.shape)
        filled = select(told, _spread(means, side, plane.shape), filled)
        if told is left:
            break
        left = left & ~told
    return filled


def _block_means(plane: NDArray[np.float32], shown: Flags, side: int) -> tuple[NDArray[np.float32], Flags]:
    """Return the means of what is shown in square blocks, and in which of them anything is."""
    sums, counts = _block_sums(np.multiply(plane, shown), side), _block_sums(shown, side)
    return np.asarray(sums / np.maximum(counts, 1), np.float32), counts > 0


def _block_sums(plane: NDArray[Any], side: int) -> NDArray[np.float32]:
    """Return the sums of square blocks; those at the lower and right border may be smaller."""
    height, width = plane.shape
    tall = min(side, height)
    whole = height - height % tall
    sums = np.add.reduce(plane[:whole].reshape(-1, tall, width), axis=1, dtype=np.float32)
    if whole < height:
        sums = np.vstack([sums, np.add.reduce(plane[whole:], axis=0, dtype=np.float32)])
    return np.add.reduceat(sums, np.arange(0, width, side), axis=1)


def _spread(blocks: NDArray[Number], side: int, shape: tuple[int, ...]) -> NDArray[Number]:
    """Return blocks in the size of the picture that they were cut from."""
    height, width = shape
    tall, wide = min(side, height), min(side, width)
    return blocks.repeat(wide, axis=1)[:, :width].repeat(tall, axis=0)[:height]


def fill_by_blur(planes: Planes, missing: Flags, deadline: Deadline = _NEVER) -> Planes:
    """Fill missing pixels with the mean of the known ones under the narrowest Gaussian that sees enough.

    This is normalised convolution (Knutsson and Westin 1993, doi:10.1109/CVPR.1993.341081). What is left at
    the deadline is filled plainly.
    """
    filled, left = planes.copy(), missing.copy()
    known = (~missing).astype(np.float32)
    for width in _BLURS:
        if not left.any():
            return filled
        if deadline.is_over():
            return plainly_filled(filled, np.broadcast_to(~left, filled.shape))
        weight = gaussian_filter(known, width, mode="constant", truncate=_TRUNCATED)
        here = left & (weight > _ENOUGH)
        for plane, source in zip(filled, planes, strict=True):
            total = gaussian_filter(source * known, width, mode="constant", truncate=_TRUNCATED)
            plane[here] = total[here] / weight[here]
        left &= ~here
    filled[:, left] = planes[:, ~missing].mean(axis=1, keepdims=True)
    return filled


class Biharmonic:
    """The equation Δ²u = 0 in the holes of a picture, mirrored at its border, for any values around them."""

    def __init__(self, missing: Flags) -> None:
        self._missing = missing
        rows, columns = np.nonzero(missing)
        self._places = rows + _REACH, columns + _REACH
        numbers = np.full(missing.shape, -1, np.int32)
        numbers[missing] = np.arange(rows.size)
        numbers = np.pad(numbers, _REACH, mode="symmetric")
        self._matrix = self._restrict(numbers, rows.size)

    def _restrict(self, numbers: NDArray[np.int32], count: int) -> sparse.csr_array:
        """Return Δ² from missing pixels to missing pixels; it is symmetric and positive definite."""
        rows, columns, entries = [], [], []
        for offset, weight in _STENCIL.items():
            fellow = self._shift(numbers, offset)
            inside = np.flatnonzero(fellow >= 0).astype(np.int32)
            rows.append(inside)
            columns.append(fellow[inside])
            entries.append(np.full(inside.size, weight, np.float32))
        place = np.concatenate(rows), np.concatenate(columns)
        return sparse.csr_array((np.concatenate(entries), place), shape=(count, count))

    def _shift(self, padded: NDArray[Number], offset: tuple[int, int]) -> NDArray[Number]:
        """Return what stands at an offset from each missing pixel."""
        return padded[self._places[0] + offset[0], self._places[1] + offset[1]]

    def fill(self, planes: Planes, steps: int, accuracy: float, deadline: Deadline = _NEVER) -> Planes:
        """Return the planes with their missing pixels moved towards the solution, from where they stand."""
        filled = planes.copy()
        for plane, source in zip(filled, planes, strict=True):
            values, shown = source[self._missing], source[~self._missing]
            descend(self._matrix, values, self._sources(source), steps, accuracy, deadline)
            plane[self._missing] = np.clip(values, shown.min(), shown.max())
        return filled

    def _sources(self, plane: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the right side: minus Δ² of the known pixels alone."""
        padded = np.pad(np.where(self._missing, np.float32(0), plane), _REACH, mode="symmetric")
        right = np.zeros(self._places[0].size, np.float32)
        for offset, weight in _STENCIL.items():
            right -= np.float32(weight) * self._shift(padded, offset)
        return right


def descend(
    matrix: sparse.csr_array,
    solution: NDArray[np.float32],
    right: NDArray[np.float32],
    steps: int,
    accuracy: float,
    deadline: Deadline = _NEVER,
) -> None:
    """Take steps of conjugate gradients (Hestenes and Stiefel 1952) towards a solution, in place."""
    residual = right - matrix @ solution
    direction, error = residual.copy(), _inner(residual, residual)
    goal = np.float32(accuracy**2) * _inner(right, right)
    for _ in range(steps):
        if error <= goal or deadline.is_over():
            return
        image = matrix @ direction
        length = error / max(_inner(direction, image), _TINY)
        solution += length * direction
        residual -= length * image
        before, error = error, _inner(residual, residual)
        direction *= error / max(before, _TINY)
        direction += residual


def _inner(one: NDArray[np.float32], other: NDArray[np.float32]) -> np.float32:
    """Return the inner product; unlike ``@`` it does not depend on how many threads a library may use."""
    return np.float32(np.einsum("i,i->", one, other))


def fill_smoothly(planes: Planes, known: Flags, deadline: Deadline = _NEVER) -> Planes:
    """Return planes, (channels, height, width), whose unknown entries are filled smoothly.

    Holes are blurred shut, then moved towards the biharmonic solution, further where they are deep. A channel
    without known entries becomes the mean of the others, or stays when there are none.
    """
    whole, unseen = planes.copy(), []
    for channels in _alike(known):
        missing = ~known[channels[0]]
        if missing.all():
            unseen += channels
        elif missing.any():
            start = fill_by_blur(planes[channels], missing, deadline)
            whole[channels] = start if deadline.is_over() else _smooth(start, missing, deadline)
    if unseen and len(unseen) < len(planes):
        whole[unseen] = np.delete(whole, unseen, axis=0).mean(axis=0)
    return whole


def _smooth(start: Planes, missing: Flags, deadline: Deadline) -> Planes:
    """Return planes whose missing pixels are moved towards the biharmonic solution."""
    steps = min(_STEPS_PER_DEPTH * int(depths(missing).max()), _MOST_STEPS)
    return Biharmonic(missing).fill(start, steps, _ACCURACY, deadline)


def _alike(known: Flags) -> list[list[int]]:
    """Return the channels in sets that show the same pixels."""
    sets: list[list[int]] = []
    for channel, shown in enumerate(known):
        same = next((one for one in sets if (known[one[0]] == shown).all()), None)
        if same is None:
            sets.append([channel])
        else:
            same.append(channel)
    return sets
