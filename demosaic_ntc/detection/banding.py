"""Row and column noise of a mosaic: offsets that whole lines share, told from what a lens draws.

Each line is cut into blocks, and the mean of every colour within a block is compared with the same block of
the lines next to it. An offset of readout is the same at both ends of a line, whatever is seen there, and
shows all over a picture. So distant parts of lines are compared: the correlation of what they show is taken
in many segments of a picture, of which the middle one counts. Horizons, blinds and edges fill some segments,
or tilt by a fraction of a degree, or grow with the light.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import SIGMA_OF_MAD, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.detection.line_offsets import (
    FARTHEST,
    FARTHEST_STRIPE,
    LEAST,
    estimate_offsets,
    find_medians,
    read_lines,
)
from demosaic_ntc.run import imap_threads

_BLOCKS = 64  # of a line
_SEGMENTS = 16  # of a picture
_PAIRS = ((0, 2), (1, 3), (0, 3))  # of quarters of lines that do not touch
_LEAST_LINES = 8  # of one kind within a segment

# The least correlation. Without banding its deviation is about 1.25 / √(3 · lines): mosaics of Kodak and
# McMaster, with little noise and with much, reach 0.18, both ways. Below the limit content outweighs offsets,
# and little of them would be removed.
_CORRELATION = 0.5
_WILD = 2.5  # deviations from which on a line counts no more
_CHANCE = 0.1
_GROWING = 0.5  # of the contrast of light, in logarithms: stripes that grow so with light are drawn by it


@dataclass(frozen=True, slots=True)
class LineNoise:
    """Offsets of lines, rows or columns, by colour; and how sure they are."""

    offsets: Float64  # (lines, 3)
    deviation: float  # of the offsets, as distant parts of lines have it in common
    correlation: float  # of distant parts of lines

    @property
    def is_found(self) -> bool:
        """Whether lines have offsets beyond doubt."""
        return self.correlation >= _CORRELATION and self.deviation >= LEAST


def clean_lines(
    mosaic: NDArray[np.uint16], cfa: Cfa, saturated: float, threads: int = 1
) -> tuple[tuple[LineNoise, LineNoise], NDArray[np.uint16]]:
    """Return the offsets of rows, those of columns without them, and the mosaic without what is beyond doubt.

    The mosaic itself is returned where there is nothing to remove; it is never changed.
    """
    rows, columns = imap_threads(lambda axis: find_line_noise(mosaic, cfa, saturated, axis), (0, 1), threads)
    cleaned = mosaic.copy() if rows.is_found or columns.is_found else mosaic
    if rows.is_found:
        remove_line_noise(cleaned, cfa, rows, saturated, 0)
        columns = find_line_noise(cleaned, cfa, saturated, 1)
    if columns.is_found:
        remove_line_noise(cleaned, cfa, columns, saturated, 1)
    return (rows, columns), cleaned


def find_line_noise(mosaic: NDArray[np.uint16], cfa: Cfa, saturated: float, axis: int) -> LineNoise:
    """Return the offsets of the rows (`axis` 0) or columns (1) of a mosaic, in its own steps.

    Samples from `saturated` on say nothing. First what all colours of a line share is looked for, then what
    single colours have by themselves, as do the stripes of phase-detection pixels.
    """
    pattern = cfa.pattern if axis == 0 else cfa.pattern.T
    means = _block_means(mosaic, cfa.pattern, saturated, axis)
    step = _find_step(pattern)
    shared = _judge(means, step)
    offsets = np.zeros((len(means), 3))
    if shared.is_found:
        values = read_lines(mosaic, cfa, saturated, axis, means, ...)
        offsets += estimate_offsets(values, means, offsets[:, 0], step, shared.deviation, FARTHEST)[:, None]
    found = [shared]
    for colour in range(3) if not cfa.is_mono else ():
        rest = means[:, colour : colour + 1] - offsets[:, colour, None, None]
        own = _judge(rest, step)
        if own.is_found:
            values = read_lines(mosaic, cfa, saturated, axis, means, colour)
            offsets[:, colour] += estimate_offsets(
                values, rest, offsets[:, colour], step, own.deviation, FARTHEST_STRIPE
            )
            found.append(own)
    surest = max(found, key=lambda each: each.correlation)
    power = sum(each.deviation**2 for each in found if each.is_found) or shared.deviation**2
    return LineNoise(offsets, float(np.sqrt(power)), surest.correlation)


def remove_line_noise(
    mosaic: NDArray[np.uint16], cfa: Cfa, found: LineNoise, saturated: float, axis: int
) -> None:
    """Subtract offsets of lines from a mosaic, in place; saturated samples stay, and steps are whole."""
    down, across = cfa.period
    for y, x in np.ndindex(down, across):
        site = mosaic[y::down, x::across]
        first, period = ((y, down), (x, across))[axis]
        offset = found.offsets[first::period, cfa.pattern[y, x]]
        lines = offset[:, None] if axis == 0 else offset[None, :]
        for row, line in zip(site, np.broadcast_to(lines, site.shape), strict=True):
            kept = row >= saturated
            row[...] = np.where(kept, row, np.clip(np.rint(row - line), 0, 65535))


def _block_means(
    mosaic: NDArray[np.uint16], pattern: NDArray[np.uint8], saturated: float, axis: int
) -> Float64:
    """Means of blocks of lines, (lines, 3, blocks); NaN where a line lacks a colour or a block is clipped."""
    down, across = pattern.shape
    cells = mosaic.shape[1 - axis] // pattern.shape[1 - axis]
    blocks = min(_BLOCKS, max(cells // 2, 4))
    length = cells // blocks
    if not length:
        return np.full((mosaic.shape[axis], 3, blocks), np.nan)
    sums = np.zeros((mosaic.shape[axis], 3, blocks))
    counts = np.zeros((pattern.shape[axis], 3))
    for y, x in np.ndindex(down, across):
        site, colour = mosaic[y::down, x::across], int(pattern[y, x])
        site = site if axis == 0 else site.T
        parts = site[:, : blocks * length].reshape(len(site), blocks, length)
        mean = parts.mean(axis=2, dtype=np.float32).astype(np.float64)
        mean[parts.max(axis=2) >= saturated] = np.nan
        line = (y, x)[axis]
        sums[line :: pattern.shape[axis], colour] += mean
        counts[line, colour] += 1
    repeats = -(-len(sums) // len(counts))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / np.tile(counts, (repeats, 1))[: len(sums), :, None])


def _find_step(pattern: NDArray[np.uint8]) -> int:
    """The distance of lines of one kind: those that measure every colour equally often."""
    kinds = [sorted(line) for line in pattern.tolist()]
    period = len(kinds)
    steps = (step for step in range(1, period + 1) if period % step == 0)
    return next(step for step in steps if all(kinds[y] == kinds[(y + step) % period] for y in range(period)))


def _judge(means: Float64, step: int) -> LineNoise:
    """How far distant parts of lines agree on what sets a line off from its neighbours of one kind."""
    none = LineNoise(np.zeros((len(means), 3)), 0.0, 0.0)
    if len(means) < _SEGMENTS * _LEAST_LINES + 2 * step:
        return none
    sharp = means[step:-step] - (means[: -2 * step] + means[2 * step :]) / 2
    quarters = _medians_of_quarters(sharp)
    seen = np.isfinite(quarters).all(axis=1)
    if np.count_nonzero(seen) < _SEGMENTS * _LEAST_LINES:
        return none
    quarters = quarters[seen]
    results = [_correlate(part) for part in np.array_split(quarters, _SEGMENTS)]
    correlation = float(np.median([each[0] for each in results]))
    power = max(float(np.median([each[1] for each in results])), 0.0) / 1.5  # of the difference
    if correlation >= _CORRELATION and _grows_with_light(means[step:-step], sharp):
        return none
    return LineNoise(none.offsets, float(np.sqrt(power)), correlation)


def _medians_of_quarters(sharp: Float64) -> Float64:
    """The middle of what the blocks of each quarter of a line show, (lines, 4)."""
    lines, _, blocks = sharp.shape
    edges = np.arange(5) * blocks // 4
    parts = (sharp[:, :, low:high].reshape(lines, -1) for low, high in pairwise(edges))
    return np.stack([find_medians(part) for part in parts], axis=1)


def _correlate(quarters: Float64) -> tuple[float, float]:
    """The correlation of distant quarters over some lines, and their covariance; wild lines count less."""
    scale = SIGMA_OF_MAD * np.median(np.abs(quarters), axis=0)
    if (scale <= 0).any():
        return 0.0, 0.0
    clipped = np.clip(quarters, -_WILD * scale, _WILD * scale)
    covariance = clipped.T @ clipped / len(clipped)
    own = np.sqrt(np.diag(covariance))
    pairs = [covariance[pair] for pair in _PAIRS]
    shares = [covariance[a, b] / (own[a] * own[b]) for a, b in _PAIRS]
    return float(np.mean(shares)), float(np.mean(pairs))


def _grows_with_light(means: Float64, sharp: Float64) -> bool:
    """Whether stripes are stronger where there is more light, as what a lens draws is.

    In each segment the blocks of a line below its middle light are compared with those above, in logarithms.
    """
    parts = zip(np.array_split(means, _SEGMENTS), np.array_split(sharp, _SEGMENTS), strict=True)
    return float(np.median([_growth(*part) for part in parts])) > 0


def _growth(means: Float64, sharp: Float64) -> float:
    """How far the growth of stripes with light exceeds what chance makes of stripes that are even."""
    lines = len(means)
    light, stripes = means.reshape(lines, -1), sharp.reshape(lines, -1)
    known = np.isfinite(light) & np.isfinite(stripes)
    middle = find_medians(np.where(known, light, np.nan))[:, None]
    shared = np.nan_to_num(find_medians(stripes))
    dark, bright = known & (light <= middle), known & (light > middle)
    amounts = [
        np.nan_to_num(find_medians(np.where(part, stripes, np.nan))) @ shared for part in (dark, bright)
    ]
    if not dark.any() or not bright.any() or min(amounts) <= 0:
        return 1.0
    levels = max(float(light[bright].mean() / max(light[dark].mean(), 1.0)), 1.0)
    return float(np.log(amounts[1] / amounts[0]) - _GROWING * np.log(levels)) - _CHANCE
