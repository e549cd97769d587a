"""Single samples of the reference that no other frame confirms: cosmic rays, and hot pixels that flicker.

Other frames are compared with the reference, which is never wrong by that rule. So its samples are compared
with those of its colour around them, in its own frame and in the others, before anything is made of them: one
that lies far outside the range of all these is left out. A lens spreads all that it draws over some pixels,
so what was seen through it, such as a glint on water, is not alone and stays.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Places
from demosaic_ntc.demosaicing.burst.coarse_alignment import draw_grey, scale_affine
from demosaic_ntc.demosaicing.burst.motion import Motion, pool
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.demosaicing.interpolation.dead_samples import fill_dead_samples
from demosaic_ntc.engine.tiles import row_bands, span
from demosaic_ntc.run import Run

_FAR, _WIDE = 5.0, 0.5  # outside the range around it: deviations of noise, and widths of that range
_ALONE = 0.5  # of its distance from those of its colour: what pixels next to it may be from theirs
_LEAST_FRAMES = 3  # others that saw the place
_REACH = 2  # pixels around it that are looked at: frames are aligned within so many by then
_BLOCK, _FEWEST_BLOCKS = 4, 16  # cells of the array across a block; blocks that are compared
_LEAST_CORRELATION = 0.9  # between blocks of two frames of one scene

_WINDOW = np.array([(y, x) for y in range(-_REACH, _REACH + 1) for x in range(-_REACH, _REACH + 1)])
_HERE_AND_AROUND = np.array([(0, 0), (-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)])
_OF_ITS_COLOUR = 2 * _HERE_AND_AROUND[1:]
_HALO = 3  # pixels that both of these reach together


def leave_out_outliers(
    frames: Sequence[MeasuredMosaic], reference: int, motions: Sequence[Motion], run: Run
) -> MeasuredMosaic:
    """Return the reference without the samples that no other frame confirms: they count as missing.

    Samples that are exact are not doubted.
    """
    base = frames[reference]
    if base.noise is None:
        return base
    others = [
        (frame, motion)
        for frame, motion in zip(frames, motions, strict=True)
        if frame is not base and _show_one_scene(frame, base, motion)
    ]
    if len(others) < _LEAST_FRAMES:
        return base
    flags = np.zeros(base.samples.shape[1:], np.bool_)

    def find(rows: slice) -> None:
        y, x = find_lone(base, rows, others).T
        flags[y, x] = True

    run.do(find, row_bands(len(flags)))
    if not flags.any():
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


def find_lone(base: MeasuredMosaic, rows: slice, others: Sequence[tuple[MeasuredMosaic, Motion]]) -> Places:
    """Return where samples in some rows lie far outside the range of all of their colour around them."""
    _, seen, inner = span(rows.start, rows.stop, _HALO, 1, base.samples.shape[1])
    wide = np.pad(base.samples.window(seen, slice(None)), _HALO, mode="reflect")
    noises = [each.noise.max() for each in (base, *(frame for frame, _ in others)) if each.noise is not None]
    least = np.float32(_FAR * np.sqrt(max(noises)))
    samples, low, high = _find_ranges(wide)
    near = np.argwhere(_lie_outside(samples, low, high, least)[inner]) + np.array([inner.start, 0])
    near = near[_stand_alone(wide, near + _HALO)]
    sample, low, high = (each[near[:, 0], near[:, 1]] for each in (samples, low, high))
    places, count = near + np.array([seen.start, 0]), np.zeros(len(near), np.int64)
    for frame, motion in others:
        told = _read_around(frame, motion, places)
        low, high = np.fmin(low, np.fmin.reduce(told, 1)), np.fmax(high, np.fmax.reduce(told, 1))
        count += np.isfinite(told).any(axis=1)
    return np.asarray(places[_lie_outside(sample, low, high, least) & (count >= _LEAST_FRAMES)])


def _find_ranges(wide: Float32) -> tuple[Float32, Float32, Float32]:
    """Return samples, and the least and the greatest of their colour around them."""
    height, width = (length - 2 * _HALO for length in wide.shape)
    samples, *around = (
        wide[_HALO + y : _HALO + y + height, _HALO + x : _HALO + x + width]
        for y, x in ((0, 0), *_OF_ITS_COLOUR)
    )
    return samples, np.minimum.reduce(around), np.maximum.reduce(around)


def _lie_outside(samples: Float32, low: Float32, high: Float32, least: np.float32) -> Flags:
    """Whether samples lie outside a range by more than that, and by more than half its width."""
    return np.asarray(np.maximum(samples - high, low - samples) > np.maximum(least, _WIDE * (high - low)))


def _stand_alone(wide: Float32, places: Places) -> Flags:
    """Whether samples at some places are much farther from those of their colour than any next to them."""
    spots = places[:, None] + _HERE_AND_AROUND
    like = spots[:, :, None] + _OF_ITS_COLOUR
    far = np.abs(wide[spots[..., 0], spots[..., 1]] - np.median(wide[like[..., 0], like[..., 1]], axis=2))
    return np.asarray(far[:, 1:].max(axis=1) < _ALONE * far[:, 0])


def _read_around(frame: MeasuredMosaic, motion: Motion, places: Places) -> Float32:
    """Return the samples of a frame around places of the reference, of the colour measured there, or NaN."""
    _, height, width = frame.samples.shape
    found = np.full((len(places), len(_WINDOW)), np.nan, np.float32)
    at = np.rint((places - motion.affine[:, 0]) @ np.linalg.inv(motion.affine[:, 1:]).T).astype(np.int64)
    y, x = np.moveaxis(at[:, None] + _WINDOW, 2, 0)
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    if not inside.any():
        return found
    (down, across), pattern = frame.cfa.period, frame.cfa.pattern
    own = pattern[places[:, 0] % down, places[:, 1] % across][:, None]
    rows = slice(int(y[inside].min()), int(y[inside].max()) + 1)
    y, x = np.clip(y, rows.start, rows.stop - 1), np.clip(x, 0, width - 1)
    told = inside & (pattern[y % down, x % across] == own)
    if frame.missing is not None:
        told &= ~frame.missing[rows][y - rows.start, x]
    found[told] = frame.samples.window(rows, slice(None))[y - rows.start, x][told]
    return found
