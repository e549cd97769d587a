"""The Gaussian that the patches of a group are taken for draws of: its mean and its covariance.

With z the K patches less their mean μ, n entries each, the covariance is

    C = (Σ z zᵀ + κ t Q) / (K + κ) + ε² I,    t = Σ z² / (K n),

where Q, the prior, is the shape that covariances have in the whole picture: κ patches' worth of it make C
regular.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.engine.kernels.gather import PatchGroup, pad_length
from demosaic_ntc.engine.kernels.products import COLUMNS, ROWS, centre_tile, set_mirrored, set_tile
from demosaic_ntc.jit.compiled import fast_kernel, fast_step

_ZERO = np.float32(0.0)


class Gaussian(NamedTuple):
    """Room for the model of one group; rows of entries are padded as in the group."""

    mean: Float32  # (ROWS, entry): the same in all rows
    nothing: Float32  # (entry, entry): zeros
    prior: Float32  # (entry, entry): Q
    shares: Float32  # (patch, ROWS): of each patch in the mean
    centred: Float32  # (patch, entry): z, scaled
    covariance: Float32  # (entry, entry)
    rows: Float32  # (row, entry and then patch): b and u of every pattern; some end with rows of zeros
    inverses: Float32  # (row): 1 / s
    shown: NDArray[np.int64]  # (row): the entry that is shown; zeros at the end of a pattern
    left: Float32  # (shown, ROWS): what of the rows before is taken off the next ones
    factor: Float32  # (ROWS, ROWS): of what these show, with inverses on its diagonal
    starts: NDArray[np.int64]  # (pattern and one more): its first row
    firsts: NDArray[np.int64]  # (pattern): the first patch that has it
    counts: NDArray[np.int64]  # (pattern): how many entries it shows
    weights: Float32  # (pattern): how many patches have it
    variance: Float32  # (pattern, entry and then patch): what remains, of entries
    is_shown: Float32  # (pattern, entry): 1 where its patches show something, else 0
    centre: Float32  # (pattern, entry): what the expectations of its patches vary about
    moves: Float32  # (2, entry): t, and what is added to the mean
    expected: Float32  # (patch, entry): the expectations of patches that show the same entries
    pattern_of: NDArray[np.int64]  # (shown patch): its pattern, -1 where it has none
    members: NDArray[np.int64]  # the patches to be restored, pattern by pattern, and room for one more
    heads: NDArray[np.int64]  # (pattern and one more): its first member
    sums: Float32  # (pattern, entry): of what patches show


@fast_kernel
def empty_gaussian(patches: int, restored: int, prior: Float32, shown: int) -> Gaussian:
    """Return room for the models of groups that have a prior, (entry, entry), in common, to be filled.

    The first ``restored`` patches are to be restored; what is known is gathered for the first ``shown``.
    """
    entries = prior.shape[0]
    width, most, rows = pad_length(entries), pad_length(restored + ROWS), max(restored, 1) * (entries + ROWS)
    model = Gaussian(
        np.zeros((ROWS, width), np.float32),
        np.zeros((width, width), np.float32),
        np.zeros((width, width), np.float32),
        np.full((patches, ROWS), np.float32(1.0 / patches)),
        np.zeros((patches, width), np.float32),
        np.zeros((width, width), np.float32),
        np.zeros((rows, width + most), np.float32),
        np.zeros(rows, np.float32),
        np.zeros(rows, np.int64),
        np.zeros((entries + ROWS, ROWS), np.float32),
        np.zeros((ROWS, ROWS), np.float32),
        np.zeros(restored + 1, np.int64),
        np.zeros(restored, np.int64),
        np.zeros(restored, np.int64),
        np.zeros(restored, np.float32),
        np.zeros((restored, width + most), np.float32),
        np.zeros((restored, width), np.float32),
        np.zeros((restored, width), np.float32),
        np.zeros((2, width), np.float32),
        np.zeros((most, width), np.float32),
        np.zeros(shown, np.int64),
        np.zeros(restored + 1, np.int64),
        np.zeros(restored + 1, np.int64),
        np.zeros((restored, width), np.float32),
    )
    for i in range(entries):
        for j in range(entries):
            model.prior[i, j] = prior[i, j]
    return model


@fast_step
def centre(data: Float32, weight: float, model: Gaussian) -> np.float32:
    """Write the mean over the patches, and the patches without it, times the root of a weight: z.

    Returns Σ z².
    """
    (patches, width), scale, total = data.shape, np.float32(np.sqrt(weight)), _ZERO
    for column in range(0, width, COLUMNS):
        set_tile(model.nothing, model.shares, 0, data, column, patches, model.mean, 0)
        total += centre_tile(data, model.mean, column, patches, scale, model.centred)
    return total


@fast_step
def set_products(base: Float32, share: np.float32, entries: int, model: Gaussian) -> None:
    """Write Σ z zᵀ and a share of a base, which is symmetric."""
    centred, covariance = model.centred, model.covariance
    for i in range(0, entries, ROWS):
        for j in range(0, i + ROWS, COLUMNS):
            set_mirrored(base, share, centred, i, j, centred.shape[0], covariance)


@fast_step
def model_covariance(data: Float32, entries: int, strength: float, floor: float, model: Gaussian) -> None:
    """Write mean and covariance of the Gaussian of a group; ``strength`` is κ, ``floor`` ε²."""
    patches, covariance = data.shape[0], model.covariance
    total = centre(data, 1.0 / (patches + strength), model)
    set_products(model.prior, total * np.float32(strength / (patches * entries)), entries, model)
    for entry in range(entries):
        covariance[entry, entry] += np.float32(floor)


@fast_step
def add_shape(
    group: PatchGroup, model: Gaussian, least: float, total: NDArray[np.int64], unit: float
) -> None:
    """Add Σ z zᵀ / (K (t + least)) of a group to a total of whole multiples of ``unit``: its share of Q."""
    patches, entries = group.data.shape[0], total.shape[0]
    variance = centre(group.data, 1.0 / patches, model) / np.float32(entries)
    set_products(model.nothing, _ZERO, entries, model)
    share = 1.0 / (unit * (variance + np.float32(least)))
    for i in range(entries):
        for j in range(i + 1):
            total[i, j] += np.int64(model.covariance[i, j] * share)
