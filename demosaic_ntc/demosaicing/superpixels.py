"""A quick preview of a mosaic: every cell of its array that shows all colours becomes one pixel."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError

Floats = NDArray[np.float32]


def cell_side(cfa: Cfa) -> int:
    """The side of the smallest square cells that tile an array and show all three colours: 2 for Bayer."""
    down, across = cfa.period
    for side in range(2, max(down, across) + 1):
        if down % side == across % side == 0:
            cells = cfa.masks(cfa.period).reshape(down // side, side, across // side, side, 3)
            if cells.any(axis=(1, 3)).all():
                return side
    raise InputError(
        f"the array {cfa.name} has no square cells of all colours; do without a preview by cells"
    )


def cell_means(mosaic: Floats, cfa: Cfa, missing: NDArray[np.bool_] | None = None) -> Floats:
    """The mean of each colour in each cell, (height // side, width // side, 3), of (height, width) samples.

    Cells that the border cuts are left out. A colour of which a cell lacks all samples is taken from its
    neighbours, ever farther ones. Colours whose samples lie to one side in all cells are moved to the middle:
    they would be out of step with the others, seen as coloured edges.
    """
    side = cell_side(cfa)
    height, width = (length // side for length in mosaic.shape)
    if min(height, width) == 0:
        raise InputError(
            f"{mosaic.shape[1]}×{mosaic.shape[0]} samples hold no whole cell; give a larger mosaic"
        )
    known = None if missing is None else ~missing
    totals = np.zeros((height, width, 3), dtype=np.float32)
    counts = np.zeros((height, width, 3), dtype=np.float32)
    masks = cfa.masks(tuple(np.lcm(cfa.period, side)))
    for y, x in np.ndindex(masks.shape[:2]):  # one site of the period at a time, all cells at once
        samples = (slice(y, height * side, masks.shape[0]), slice(x, width * side, masks.shape[1]))
        cells = (
            slice(y // side, None, masks.shape[0] // side),
            slice(x // side, None, masks.shape[1] // side),
        )
        channel = int(masks[y, x].argmax())
        weight = np.float32(1) if known is None else known[samples].astype(np.float32)
        totals[cells][..., channel] += mosaic[samples] * weight
        counts[cells][..., channel] += weight
    return centre_means(_fill_means(totals, counts), cfa, side)


def _fill_means(totals: Floats, counts: Floats) -> Floats:
    """Means; where nothing was counted, of the neighbouring cells, ever farther ones."""
    if not counts.any(axis=(0, 1)).all():
        raise InputError("no sample of a colour is known; give a mosaic that shows all three")
    while not counts.all():
        empty = counts == 0
        around_totals, around_counts = (_sum_neighbours(values) for values in (totals, counts))
        totals, counts = np.where(empty, around_totals, totals), np.where(empty, around_counts, counts)
    return totals / counts


def centre_means(means: Floats, cfa: Cfa, side: int) -> Floats:
    """Means as they would be seen in the middle of each cell, by lines between neighbouring cells."""
    planes = [_shift_plane(means[..., channel], *_off_centre(cfa, side, channel)) for channel in range(3)]
    return np.stack(planes, axis=2)


def _off_centre(cfa: Cfa, side: int, channel: int) -> tuple[float, float]:
    """How far below and right of the middle a colour's samples lie, in cells; 0 where cells differ."""
    down, across = (int(length) for length in np.lcm(cfa.period, side))
    shown = cfa.masks((down, across))[..., channel]
    cells = shown.reshape(down // side, side, across // side, side).swapaxes(1, 2).reshape(-1, side, side)
    places = (np.arange(side) - (side - 1) / 2) / side
    counts = cells.sum(axis=(1, 2))
    if not counts.all():  # some cells do not show the colour
        return 0.0, 0.0
    offsets = np.stack([(cells.sum(axis=2) @ places) / counts, (cells.sum(axis=1) @ places) / counts])
    same = np.ptp(offsets, axis=1) < 1e-9
    return float(offsets[0, 0] * same[0]), float(offsets[1, 0] * same[1])


def _shift_plane(plane: Floats, *off: float) -> Floats:
    """A plane whose samples lie off their places, down and right, read at the places themselves."""
    for axis, by in enumerate(off):
        before, after = (np.take(plane, _clip_neighbours(plane.shape[axis], step), axis) for step in (-1, 1))
        neighbour, share = (before, by) if by > 0 else (after, -by)
        plane = plane + np.float32(share) * (neighbour - plane)
    return plane


def _clip_neighbours(length: int, step: int) -> NDArray[np.intp]:
    """The neighbours of all places of a line; at its ends the places themselves."""
    return np.clip(np.arange(length) + step, 0, length - 1)


def _sum_neighbours(values: Floats) -> Floats:
    """The sums over each cell and its eight neighbours."""
    padded = np.pad(values, ((1, 1), (1, 1), (0, 0)))
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    return np.asarray(rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:])
