"""Where a frame shows something else than the reference: what has moved must leave no ghost."""

import numpy as np

from demosaic_ntc.arrays import Bits, Planes
from demosaic_ntc.demosaicing.burst.information_kernels import LANCZOS, add_agreement
from demosaic_ntc.demosaicing.burst.motion import Motion, read_frame
from demosaic_ntc.demosaicing.burst.motion_kernels import CELL, ReferenceView
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.engine.tiles import row_bands, span
from demosaic_ntc.run import Run

_WINDOW = 1.5  # cells: the deviation of the window that is looked at together
_GROWN = 2  # cells by which rejected places are grown
_BAND = 128  # rows of cells that are looked at together
_HALO = 8  # rows of cells that a window and its growth reach: four deviations, and these
# How far squared rests may exceed what is expected, and squared means of rests, all colours together, what
# chance makes of them. Looser and stricter: by choice.
_LIMITS = {"normal": (1.6, 14.0), "strict": (1.35, 9.0)}
_LEAST_SEEN = 1.0  # samples of a cell, in the mean around it: with fewer a frame ends there, or is clipped
_DOUBT = 0.1  # of the variance of the picture's own errors, which neighbours have in common, in a mean


def find_ghosts(frame: MeasuredMosaic, view: ReferenceView, motion: Motion, ghosts: str, run: Run) -> Bits:
    """Return the cells of the picture in which a frame disagrees or tells nothing, in bands of rows."""
    rejected = np.empty(view.detail.shape[1:], np.uint8)
    height = len(rejected)

    def find(rows: slice) -> None:
        core, seen, inner = span(rows.start, rows.stop, _HALO, 1, height)
        rejected[core] = judge_cells(_measure_agreement(frame, view, motion, seen), ghosts)[inner]

    run.do(find, row_bands(height, _BAND))
    return rejected


def _measure_agreement(frame: MeasuredMosaic, view: ReferenceView, motion: Motion, rows: slice) -> Planes:
    """Return how far a frame agrees with the picture in some rows of cells: see `add_agreement`."""
    _, height, width = frame.samples.shape
    sums = np.zeros((2 + 4 * len(view.planes), rows.stop - rows.start, view.detail.shape[2]), np.float32)
    source = motion.source_rows(slice(CELL * rows.start, CELL * rows.stop), (height, width))
    if source.start < source.stop:
        add_agreement(read_frame(frame, motion, source), view, LANCZOS, rows.start, sums)
    return sums


def judge_cells(sums: Planes, ghosts: str) -> Bits:
    """Return the cells in which a frame disagrees or tells nothing, from the sums of `add_agreement`."""
    from scipy.ndimage import binary_dilation, gaussian_filter  # noqa: PLC0415 (slow to load)

    count, squares = (gaussian_filter(each, _WINDOW) for each in sums[:2])
    seen = count > _LEAST_SEEN
    if ghosts == "off":
        return np.asarray(~seen, np.uint8)
    most, farthest = _LIMITS[ghosts]
    wild = squares > most * count
    # Of a Gaussian window, Σ g² = Σ g / (4 π σ²): so much is left of the variance of one sample in a mean.
    share = 1 / (4 * np.pi * _WINDOW**2)
    distance = np.zeros(count.shape)
    for first in range(2, len(sums), 4):
        own, rest, noise, doubt = (gaussian_filter(each, _WINDOW) for each in sums[first : first + 4])
        own = np.maximum(own, 1e-6)
        variance = noise / own * share / own + _DOUBT * doubt / own
        distance += np.square(rest / own) / np.maximum(variance, 1e-12)
    wild |= distance > farthest
    return np.asarray(binary_dilation(wild & seen, iterations=_GROWN) | ~seen, np.uint8)
