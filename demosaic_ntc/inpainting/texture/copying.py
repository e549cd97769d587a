"""What is found becomes a copy: every pixel from one place, with seams where they show least."""

import numpy as np

from demosaic_ntc.arrays import Float32
from demosaic_ntc.inpainting.texture.kernels import Places
from demosaic_ntc.inpainting.texture.label_kernels import best_labels, relabel
from demosaic_ntc.inpainting.texture.level import Level
from demosaic_ntc.inpainting.texture.synthesis import Filled, blocks_of
from demosaic_ntc.run import Run

_SWEEPS = 12
_DATA = 0.5  # what a distance from the estimate counts, beside seams


def choose_labels(filled: Filled, values: Float32, run: Run) -> Places:
    """Return for every pixel the way to the one it is copied from, (height, width, 2); zero outside the hole.

    ``values`` are the channels of the level that are compared.
    """
    level = filled.level
    labels = np.zeros((*level.hole.shape, 2), np.int32)
    first = np.zeros((len(level.pixels), 2), np.int32)
    best_labels(filled.field, filled.cost, level.pixels, first)
    labels[tuple(level.pixels.T)] = first
    estimate = np.ascontiguousarray(filled.values[..., : values.shape[2]])
    dark = level.pixels.sum(axis=1) % 2
    halves = [np.ascontiguousarray(level.pixels[dark == parity]) for parity in (0, 1)]
    for sweep in range(2 * _SWEEPS):
        labels = _sweep(values, estimate, level, labels, halves[sweep % 2], run)
    return labels


def _sweep(
    values: Float32, estimate: Float32, level: Level, labels: Places, pixels: Places, run: Run
) -> Places:
    """Return labels that are better at every second pixel, like one colour of a chessboard."""
    chosen = np.empty((len(pixels), 2), np.int32)

    def choose(part: slice) -> None:
        flags = (level.hole, level.shown, level.source)
        relabel(values, estimate, *flags, labels, _DATA, pixels[part], chosen[part])

    run.do(choose, blocks_of(len(pixels), 2048))
    moved = labels.copy()
    moved[tuple(pixels.T)] = chosen
    return moved
