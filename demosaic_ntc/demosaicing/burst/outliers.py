"""Single samples of the reference that no other frame confirms: cosmic rays, and hot pixels that flicker.

Other frames are compared with the reference, which is never wrong by that rule. So its samples are compared
with those of the others that lie nearest, before anything is made of them. A lens spreads all that it draws
over some pixels: what sticks out alone, of its own frame as of the others, was not seen through it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Planes
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.burst.coarse_alignment import draw_grey, scale_affine
from demosaic_ntc.demosaicing.burst.information_kernels import LANCZOS, add_information
from demosaic_ntc.demosaicing.burst.motion import Motion, list_variances, pool, read_frame
from demosaic_ntc.demosaicing.burst.motion_kernels import CELL, ReferenceView
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.demosaicing.interpolation.dead_samples import fill_dead_samples
from demosaic_ntc.engine.tiles import row_bands, span
from demosaic_ntc.run import Run

_FAR = 8.0  # deviations of noise from what others saw
_ALONE = 0.5  # of that difference: what those next to it may differ by
_STICKS_OUT = 0.3  # of that difference, from samples of its colour in its own frame
_LEAST_KNOWN = 4  # of the eight around it, that others saw, too
_BLOCK, _FEWEST_BLOCKS = 4, 16  # cells of the array across a block; blocks that are compared
_LEAST_CORRELATION = 0.9  # between blocks of two frames of one scene
_MOST = 0.005  # the share of samples at most: more is another scene
_APART = 2  # rows and columns between samples of a colour
_NOTHING = np.float32(1e-9)  # a weight that is none


def leave_out_outliers(
    frames: Sequence[MeasuredMosaic], reference: int, motions: Sequence[Motion], run: Run
) -> MeasuredMosaic:
    """Return the reference without the samples that no other frame confirms: they count as missing."""
    base = frames[reference]
    others = [
        (frame, motion)
        for frame, motion in zip(frames, motions, strict=True)
        if frame is not base and _show_one_scene(frame, base, motion)
    ]
    height, width = base.samples.shape[1:]
    flags = np.zeros((height, width), np.bool_)
    cells = (3, -(-height // CELL), -(-width // CELL))
    dark = ReferenceView(np.zeros((3, height, width), np.float32), *np.zeros((2, *cells), np.float32))

    def find(rows: slice) -> None:
        core, seen, inner = span(rows.start, rows.stop, _APART, base.cfa.period[0], height)
        flags[core] = find_lone(base, seen, _average_others(others, dark, base.cfa, seen))[inner]

    run.do(find, row_bands(height))
    if not 0 < np.count_nonzero(flags) <= _MOST * flags.size:
        return base
    flags = flags if base.missing is None else flags | base.missing
    return replace(base, samples=fill_dead_samples(base.samples, flags, base.cfa), missing=flags)


def _show_one_scene(frame: MeasuredMosaic, base: MeasuredMosaic, motion: Motion) -> bool:
    """Whether a frame is of the reference's scene, by the means of blocks: another has no say."""
    from scipy.ndimage import affine_transform  # noqa: PLC0415 (slow to load)

    lies = scale_affine(motion.affine, max(base.cfa.period))
    there = affine_transform(draw_grey(base), lies[:, 1:], lies[:, 0], order=1, cval=np.nan)
    own, moved = pool(draw_grey(frame), _BLOCK), pool(there, _BLOCK)
    both = np.isfinite(moved)
    if np.count_nonzero(both) < _FEWEST_BLOCKS:
        return False
    deviations = np.std(own[both]), np.std(moved[both])
    return bool(min(deviations) > 0 and np.corrcoef(own[both], moved[both])[0, 1] > _LEAST_CORRELATION)


def _average_others(
    others: Sequence[tuple[MeasuredMosaic, Motion]], dark: ReferenceView, cfa: Cfa, rows: slice
) -> Planes:
    """Return what other frames saw of the colours that some rows measure: means, and their weights or zero.

    The first two planes, (4, rows, width), are of samples that lie nearest to a pixel, the others also of
    those nearest to the pixels around it.
    """
    _, height, width = dark.planes.shape
    told = np.zeros((6, rows.stop - rows.start, width), np.float32)
    nothing = np.zeros(dark.detail.shape[1:], np.uint8)
    for frame, motion in others:
        source = motion.source_rows(rows, (height, width))
        if source.start < source.stop:
            add_information(read_frame(frame, motion, source), dark, LANCZOS, nothing, rows.start, told)
    channels = cfa.window(rows, slice(0, width)).astype(np.intp)[None]
    parts = (told[:3], told[3:], *np.split(_add_around(told), 2))
    total, weight, wide, wide_weight = (np.take_along_axis(part, channels, 0)[0] for part in parts)
    near, around = total / np.maximum(weight, _NOTHING), wide / np.maximum(wide_weight, _NOTHING)
    return np.stack([near, weight, around, wide_weight])


def _add_around(planes: Planes) -> Planes:
    """Return sums over the pixels around each, with it."""
    _, height, width = planes.shape
    wide = np.pad(planes, ((0, 0), (1, 1), (1, 1)))
    return np.asarray(sum(wide[:, y : y + height, x : x + width] for y in range(3) for x in range(3)))


def find_lone(base: MeasuredMosaic, rows: slice, others: Planes) -> Flags:
    """Return the samples of some rows that differ from those of others, alone, and stick out of their own.

    ``others`` are those of `_average_others`; where no sample of others lies nearest, those around do.
    """
    samples, known = base.samples.window(rows, slice(None)), others[1] > 0
    mean, weight = np.where(known, others[:2], others[2:])
    away = samples - mean
    far, noise = np.abs(away), np.float32(list_variances(base).max()) + 1 / np.maximum(weight, _NOTHING)
    seen = weight > 0
    nearby = np.max(_look_around(np.where(seen, far, np.float32(0)), 1), axis=0)
    count = np.sum(_look_around(seen.astype(np.int8), 1), axis=0)
    own = np.median(_look_around(samples, _APART), axis=0)
    sticks = np.where(away > 0, samples - own, own - samples) > _STICKS_OUT * far
    lone = (np.square(far) > _FAR**2 * noise) & (nearby < _ALONE * far) & (count >= _LEAST_KNOWN)
    return np.asarray(seen & lone & sticks)


def _look_around(plane: NDArray[Any], step: int) -> list[NDArray[Any]]:
    """Return what lies a step away from each pixel, in eight directions, from the top left by rows."""
    height, width = plane.shape
    wide = np.pad(plane, step, mode="reflect")
    places = [(y * step, x * step) for y in range(3) for x in range(3) if (y, x) != (1, 1)]
    return [wide[y : y + height, x : x + width] for y, x in places]
