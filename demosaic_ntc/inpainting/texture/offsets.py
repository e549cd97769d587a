"""Structure goes on into a hole: shifted copies of its surroundings, by the offsets that repeat there.

Patches of a picture have their likes at few offsets: along an edge, a horizon, from one fence post to the
next. The commonest are tried as labels of the hole's pixels (He, Sun 2012, doi:10.1007/978-3-642-33709-3_2).
"""

from math import ceil, sqrt

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter, maximum_filter
from scipy.spatial import cKDTree

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.inpainting.texture.descriptors import describe_patches, most_telling
from demosaic_ntc.inpainting.texture.kernels import NEVER, Places
from demosaic_ntc.inpainting.texture.level import Level
from demosaic_ntc.inpainting.texture.message_kernels import compare_labels, find_labels
from demosaic_ntc.inpainting.texture.synthesis import Filled

MOST_PIXELS = 2500  # of a hole whose labels are found by messages
_LABELS = 60
_ROUNDS = 12
_NEAREST = 12  # likes of a patch that are looked at
_ASKED = 6000  # patches whose likes are looked for, of all in the tree
_NOT_ITSELF = 1 / 8  # of the hole's longer side: patches closer than that overlap
_BLUR = 1.0  # pixels by which offsets are blurred before peaks are looked for
_IMPOSSIBLE = np.float32(10.0)  # the cost of a label that leads to nothing that may be copied
_DATA = np.float32(0.02)  # what a distance from the smooth estimate counts, beside seams
_ASIDE = ((-1, 0), (0, -1), (0, 1), (1, 0))


def start_by_offsets(level: Level, smooth: Float32) -> Filled | None:
    """Return a level whose hole is filled by shifted copies, or nothing where there is nothing to shift."""
    offsets = find_offsets(level)
    if not len(offsets):
        return None
    pixels, (told, valid) = level.pixels, _look_up(level, offsets)
    gaps = np.empty((len(pixels), len(offsets), len(offsets)), np.float32)
    compare_labels(told, gaps)
    costs = _cost_at_rim(level, offsets)
    costs += _DATA * ((told - smooth[tuple(pixels.T)][:, None]) ** 2).sum(axis=2)
    costs[~valid] = _IMPOSSIBLE
    chosen = np.zeros(len(pixels), np.int32)
    find_labels(costs, gaps, _number_neighbours(level), _ROUNDS, chosen)
    return _fill(level, offsets[chosen], valid[np.arange(len(pixels)), chosen], smooth)


def _look_up(level: Level, offsets: Places) -> tuple[Float32, Flags]:
    """Return what labels say of each pixel, (pixels, labels, channels), and whether they may."""
    places = level.pixels[:, None] + offsets
    rows, columns = np.clip(np.moveaxis(places, 2, 0), 0, np.array(level.hole.shape)[:, None, None] - 1)
    valid = (np.stack([rows, columns], axis=2) == places).all(axis=2) & level.source[rows, columns]
    told = np.where(valid[..., None], level.values[rows, columns], np.float32(0))
    return np.ascontiguousarray(told), np.asarray(valid)


def find_offsets(level: Level) -> Places:
    """Return the commonest offsets between patches that are alike, the commonest first."""
    sources = level.sources
    if len(sources) < 2:
        return np.zeros((0, 2), np.int32)
    described = describe_patches(level.values)[tuple(sources.T)]
    described = described[:, most_telling(described)]
    asked = _thin_out(sources)
    _, likes = cKDTree(described).query(described[asked], min(_NEAREST, len(sources)))
    steps = sources[likes] - sources[asked, None]
    side = max(np.ptp(level.pixels, axis=0)) + 1
    far = (np.abs(steps) > max(_NOT_ITSELF * side, 1)).any(axis=2)
    found = steps[np.arange(len(steps)), far.argmax(axis=1)][far.any(axis=1)]
    return _find_peaks(found, level)


def _thin_out(sources: Places) -> Flags:
    """Return which sources lie on a grid, so wide that few enough do."""
    apart = ceil(sqrt(len(sources) / _ASKED))
    return np.asarray((sources % apart == 0).all(axis=1))


def _find_peaks(steps: Places, level: Level) -> Places:
    """Return where steps crowd, and steps of a hole's sides, so that every pixel has a label."""
    height, width = level.hole.shape
    counts = np.zeros((2 * height + 1, 2 * width + 1), np.float32)
    np.add.at(counts, (steps[:, 0] + height, steps[:, 1] + width), 1)
    counts = np.asarray(gaussian_filter(counts, _BLUR), np.float32)
    peaks = np.argwhere((counts == maximum_filter(counts, 3)) & (counts > 0))
    order = np.argsort(-counts[tuple(peaks.T)], kind="stable")[:_LABELS]
    sides = np.ptp(level.pixels, axis=0) + 4
    aside = np.array(_ASIDE) * sides
    found = np.concatenate([peaks[order] - (height, width), aside])
    return np.ascontiguousarray(np.unique(found, axis=0), np.int32)


def _cost_at_rim(level: Level, offsets: Places) -> Float32:
    """Return what labels cost beside what is shown: how far what they say of it is off, (pixels, labels)."""
    costs = np.zeros((len(level.pixels), len(offsets)), np.float32)
    last = np.array(level.hole.shape) - 1
    for step in _ASIDE:
        near = level.pixels + np.array(step, np.int32)
        here = np.flatnonzero(level.shown[tuple(near.T)])
        near = near[here]
        rows, columns = np.clip(np.moveaxis(near[:, None] + offsets, 2, 0), 0, last[:, None, None])
        gap = ((level.values[rows, columns] - level.values[tuple(near.T)][:, None]) ** 2).sum(axis=2)
        costs[here] += 2 * np.where(level.shown[rows, columns], gap, np.float32(0))
    return costs


def _number_neighbours(level: Level) -> Places:
    """Return the numbers of each pixel's neighbours, (pixels, 4); −1 outside the hole."""
    numbers = np.full(level.hole.shape, -1, np.int32)
    numbers[tuple(level.pixels.T)] = np.arange(len(level.pixels))
    return np.stack([numbers[tuple((level.pixels + step).T)] for step in np.array(_ASIDE)], axis=1)


def _fill(level: Level, steps: Places, valid: Flags, smooth: Float32) -> Filled:
    """Return a level with the pixels that steps lead to; what has none keeps the smooth estimate."""
    values, labels = smooth.copy(), np.zeros((*level.hole.shape, 2), np.int32)
    pixels, told = level.pixels[valid], steps[valid]
    values[tuple(pixels.T)] = level.values[tuple((pixels + told).T)]
    labels[tuple(pixels.T)] = told
    lacking = np.ones(level.hole.shape, np.bool_)
    lacking[tuple(pixels.T)] = False
    nearest = distance_transform_edt(lacking, return_distances=False, return_indices=True)
    field = np.full((*level.hole.shape, 2), -1, np.int32)
    places = level.targets + labels[tuple(nearest[:, *level.targets.T])]
    inside = ((places >= 0) & (places < level.hole.shape)).all(axis=1)
    rows, columns = np.clip(places, 0, np.array(level.hole.shape) - 1).T
    fits = inside & level.is_source[rows, columns]
    field[tuple(level.targets[fits].T)] = places[fits]
    return Filled(level, np.ascontiguousarray(values, np.float32), field, np.full(level.hole.shape, NEVER))
