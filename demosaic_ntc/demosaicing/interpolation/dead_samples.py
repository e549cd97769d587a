"""Samples that are missing from a mosaic, predicted from their neighbours of all colours.

The best linear prediction of a sample t from its known neighbours x is E t + c C⁻¹ (x − E x), with C the
covariance of the neighbours and c theirs with t. As in edge-directed interpolation (Li and Orchard 2001,
doi:10.1109/83.951537) the covariances are those of the sites nearby, here the ones of the same phase of the
colour array: each shows a complete example of the same arrangement of colours. Examples weigh 1 / (d + s),
d their mean squared distance from x, and a little of the covariance over the whole picture is added, which
tells what the examples leave open.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.bilinear import convolve_normalised, tent
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.engine.tiles import Tile, around_flagged, span
from demosaic_ntc.run import imap_threads

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Sites = NDArray[np.int64]  # row and column in the last dimension

RADIUS = 2  # of the neighbours
WINDOW = (2 * RADIUS + 1, 2 * RADIUS + 1)
CENTRE = WINDOW[0] * WINDOW[1] // 2
PERIODS = 8  # how far examples are looked for, in periods of the colour array
SIMILAR = np.float32(1e-3)  # s
COMMON = np.float32(0.03)  # the share of the whole picture's covariance
NOISE = np.float32(1e-4)  # of the neighbours, as a variance of full scale 1

LEAST_KNOWN = 8  # with fewer known neighbours nothing is predicted
MOST_MISSING = 0.05  # nor where a larger share is missing: those are no dead pixels but holes
TENT_PERIODS = 2
TOGETHER = 128  # sites predicted together; their examples take some 5 MB
BAND = 512  # rows of a large mosaic that are mended together
EXAMPLES_OF_ALL = 10_000  # sites of a phase that stand for the whole picture


def fill_dead_samples(samples: MosaicSamples, missing: Flags, cfa: Cfa, threads: int = 1) -> MosaicSamples:
    """Return samples with those that are missing predicted, in bands of rows that see some more."""
    height, period = len(missing), cfa.period[0]

    def fill(top: int) -> tuple[Sites, Floats]:
        band, seen, inner = span(top, min(top + BAND, height), (PERIODS + 2) * period, period, height)
        if not missing[band].any() or missing[seen].all():
            return np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
        filled = replace_missing_samples(samples.window(seen, slice(None)), missing[seen], cfa)
        return np.argwhere(missing[band]) + np.array([top, 0]), filled[inner][missing[band]]

    places, values = zip(*imap_threads(fill, range(0, height, BAND), threads), strict=True)
    return replace(samples, mended=(np.concatenate(places), np.concatenate(values)))


def replace_missing_samples(mosaic: Floats, missing: Flags, cfa: Cfa) -> Floats:
    """Return the mosaic with missing samples replaced by what their neighbours suggest."""
    filled = _fill_by_own_colour(mosaic, missing, cfa)
    if missing.mean() > MOST_MISSING:
        return filled
    surroundings = _Surroundings(filled, missing, cfa)  # has a copy
    for sites in surroundings.predictable():
        filled[tuple(sites.T)] = surroundings.predict(sites)
    filled[missing] = np.clip(filled[missing], *_find_range(mosaic, missing))
    return filled


def _find_range(mosaic: Floats, missing: Flags) -> tuple[np.float32, np.float32]:
    """Return the least and the largest sample that is known."""
    known = mosaic.copy()
    known[missing] = known.flat[np.argmin(missing)]
    return known.min(), known.max()


def _fill_by_own_colour(mosaic: Floats, missing: Flags, cfa: Cfa) -> Floats:
    """Return the mosaic with missing samples replaced by the mean of those of their colour around them."""
    filled, radius = mosaic.copy(), TENT_PERIODS * max(cfa.period)
    whole = slice(0, mosaic.shape[0]), slice(0, mosaic.shape[1])
    for part in around_flagged(missing, Tile(whole, whole, whole), cfa.period, radius):
        wanted, guess = missing[part.core], _average_colours(mosaic[part.seen], missing[part.seen], cfa)
        filled[part.core][wanted] = guess[part.inner][wanted]
    lone = ~np.isfinite(filled) & missing
    if lone.any():
        filled[lone] = _mean_colours(mosaic, missing, cfa)[cfa.channel_map(mosaic.shape)[lone]]
    return filled


def _average_colours(mosaic: Floats, missing: Flags, cfa: Cfa) -> Floats:
    """Return the mean of the known samples of its own colour around every sample; NaN without any."""
    average, channels = mosaic.copy(), cfa.channel_map(mosaic.shape)
    taps = tent(TENT_PERIODS * max(cfa.period))
    for channel in range(3):
        own, known = channels == channel, (channels == channel) & ~missing
        with np.errstate(invalid="ignore"):
            guess = convolve_normalised(np.where(known, mosaic, 0), known, taps)
        average[own] = guess[own]
    return average


def _mean_colours(mosaic: Floats, missing: Flags, cfa: Cfa) -> Floats:
    """Return the mean of all known samples of each colour, zero without any."""
    channels = np.where(missing, 3, cfa.channel_map(mosaic.shape))
    known = [mosaic[channels == channel] for channel in range(3)]
    return np.array([own.mean() if own.size else 0.0 for own in known], np.float32)


class _Surroundings:
    """A mosaic with a guess at its missing samples, seen through the square windows around its sites.

    What lies in a window is one dimension, row by row; a missing sample is the unknown centre of its own.
    """

    def __init__(self, mosaic: Floats, missing: Flags, cfa: Cfa) -> None:
        self._missing = missing
        self._windows = sliding_window_view(np.pad(mosaic, RADIUS, mode="reflect"), WINDOW)
        self._known = sliding_window_view(~np.pad(missing, RADIUS, constant_values=True), WINDOW)
        self._period = np.array(cfa.period)
        span = np.arange(-PERIODS, PERIODS + 1)
        self._steps = np.stack(np.meshgrid(span, span, indexing="ij"), axis=-1).reshape(-1, 2) * self._period
        phases = set(map(tuple, (np.argwhere(missing) % self._period).tolist()))
        self._common = {phase: self._covariance_of_all(phase) for phase in phases}

    def predictable(self) -> Iterator[Sites]:
        """The missing samples with enough known neighbours, some at a time."""
        sites = np.argwhere(self._missing)
        for start in range(0, len(sites), TOGETHER):
            some = sites[start : start + TOGETHER]
            yield some[_gather_windows(self._known, some).sum(axis=-1) >= LEAST_KNOWN]

    def predict(self, sites: Sites) -> Floats:
        """Return the best linear prediction at each of the sites."""
        here, known = _gather_windows(self._windows, sites), _gather_windows(self._known, sites)
        examples, weights = self._examples(sites, here, known)
        mean = np.einsum("se,sew->sw", weights, examples)
        centred = examples - mean[:, None]
        covariance = np.matmul((centred * weights[..., None]).transpose(0, 2, 1), centred)
        covariance += COMMON * np.array([self._common[tuple(phase)] for phase in sites % self._period])
        slopes = _slopes(covariance, known)
        return np.asarray(mean[:, CENTRE] + (slopes * (here - mean)).sum(axis=1), np.float32)

    def _examples(self, sites: Sites, here: Floats, known: Flags) -> tuple[Floats, Floats]:
        """Return the windows of the same phase nearby, and how much each counts; together that is one."""
        around = sites[:, None] + self._steps
        last = np.array(self._missing.shape) - 1
        inside = ((around >= 0) & (around <= last)).all(axis=-1)
        around = np.clip(around, 0, last)
        examples = _gather_windows(self._windows, around)
        miss = np.square(examples - here[:, None])
        distance = np.einsum("sew,sw->se", miss, known) / known.sum(axis=-1, keepdims=True)
        usable = inside & ~self._missing[around[..., 0], around[..., 1]]
        weights = usable / (distance + SIMILAR)
        return examples, np.asarray(weights / (weights.sum(axis=1, keepdims=True) + 1e-9), np.float32)

    def _covariance_of_all(self, phase: tuple[int, ...]) -> Floats:
        """Return the covariance within the windows of a phase over the whole picture."""
        rows, columns = (
            np.arange(start, length, step)
            for start, length, step in zip(phase, self._missing.shape, self._period, strict=True)
        )
        every = int(np.ceil(np.sqrt(len(rows) * len(columns) / EXAMPLES_OF_ALL)))
        sites = np.stack(np.meshgrid(rows[::every], columns[::every], indexing="ij"), axis=-1).reshape(-1, 2)
        windows = _gather_windows(self._windows, sites)[~self._missing[sites[:, 0], sites[:, 1]]]
        centred = windows - windows.sum(axis=0) / max(len(windows), 1)
        return np.asarray(centred.T @ centred / max(len(windows), 1), np.float32)


def _gather_windows(windows: NDArray[Any], sites: Sites) -> NDArray[Any]:
    """Return the windows around sites, each as one dimension."""
    found = windows[sites[..., 0], sites[..., 1]]
    return found.reshape(*found.shape[:-2], -1)


def _slopes(covariance: Floats, known: Flags) -> Floats:
    """Return C⁻¹ c of each site over its known neighbours; zero for the others."""
    own = covariance * (known[:, :, None] & known[:, None, :])
    diagonal = np.arange(known.shape[1])
    own[:, diagonal, diagonal] += np.where(known, NOISE, np.float32(1))
    with_centre = covariance[:, :, CENTRE] * known
    return np.asarray(np.linalg.solve(own, with_centre[..., None])[..., 0])
