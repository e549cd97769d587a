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
from demosaic_ntc.compiled import fast_kernel, fast_step
from demosaic_ntc.imaging.kernels.products import COLUMNS, ROWS, set_tile
from demosaic_ntc.imaging.kernels.steps import Group, padded

_ZERO = np.float32(0.0)


class Gaussian(NamedTuple):
    """Room for the model of one group; rows of entries are padded as in the group."""

    mean: Float32  # (1, entry)
    nothing: Float32  # (1, entry and then patch): zeros
    shares: Float32  # (patch, ROWS): of each patch in the mean
    centred: Float32  # (patch, entry): z, scaled
    covariance: Float32  # (entry, entry)
    rows: Float32  # (shown, entry and then patch): b and u; up to three rows of zeros at the end
    panel: Float32  # (ROWS, entry and then patch): rows from which b and u are made
    factors: Float32  # (shown, ROWS): what of the rows before is taken off the next ones, negative
    inverse: Float32  # (ROWS, ROWS): of the factor of a panel, transposed
    variance: Float32  # (entry)
    expected: Float32  # (patch, entry): the expectations of patches that show the same entries
    shown: NDArray[np.int64]  # the entries shown by a patch; zeros at the end
    alike: NDArray[np.int64]  # (patch): the first patch that shows the same entries
    members: NDArray[np.int64]  # patches that show the same entries


@fast_kernel
def empty_gaussian(patches: int, restored: int, entries: int) -> Gaussian:
    """Return room for the models of groups, to be filled."""
    width, most = padded(entries), padded(max(restored, 1))
    return Gaussian(
        np.zeros((1, width), np.float32),
        np.zeros((1, width + most), np.float32),
        np.full((patches, ROWS), np.float32(1.0 / patches)),
        np.zeros((patches, width), np.float32),
        np.zeros((width, width), np.float32),
        np.zeros((entries + ROWS, width + most), np.float32),
        np.zeros((ROWS, width + most), np.float32),
        np.zeros((entries + ROWS, ROWS), np.float32),
        np.zeros((ROWS, ROWS), np.float32),
        np.zeros(width, np.float32),
        np.zeros((most, width), np.float32),
        np.zeros(entries + ROWS, np.int64),
        np.zeros(restored, np.int64),
        np.zeros(restored, np.int64),
    )


@fast_step
def centre(data: Float32, weight: float, model: Gaussian) -> None:
    """Write the mean over the patches, and the patches without it, times the root of a weight."""
    patches, width = data.shape
    for column in range(0, width, COLUMNS):
        set_tile(model.nothing, 0, 0, 0, 0, model.shares, 0, data, column, patches, model.panel, 0)
    mean, average, scale = model.mean[0], model.panel[0], np.float32(np.sqrt(weight))
    for entry in range(width):
        mean[entry] = average[entry]
    for k in range(patches):
        values, centred = data[k], model.centred[k]
        for entry in range(width):
            centred[entry] = (values[entry] - mean[entry]) * scale


@fast_step
def set_products(model: Gaussian) -> None:
    """Write Σ z zᵀ on and below the diagonal, in tiles that reach beyond it."""
    centred, covariance = model.centred, model.covariance
    patches, width = centred.shape
    for i in range(0, width, ROWS):
        for j in range(0, i + ROWS, COLUMNS):
            set_tile(model.nothing, 0, 0, 0, 0, centred, i, centred, j, patches, covariance, i)


@fast_step
def mean_variance(covariance: Float32, entries: int) -> np.float32:
    """Return the mean of the diagonal."""
    total = _ZERO
    for entry in range(entries):
        total += covariance[entry, entry]
    return total / np.float32(entries)


@fast_step
def _add_prior(covariance: Float32, prior: Float32, share: np.float32, floor: np.float32) -> None:
    """Add a share of the prior, and the floor on the diagonal; write what stands below it above, too."""
    for i in range(prior.shape[0]):
        row, shape = covariance[i], prior[i]
        for j in range(i + 1):
            row[j] += share * shape[j]
        row[i] += floor
        for j in range(i):
            covariance[j, i] = row[j]


@fast_step
def model_covariance(data: Float32, prior: Float32, strength: float, floor: float, model: Gaussian) -> None:
    """Write mean and covariance of the Gaussian of a group; ``strength`` is κ, ``floor`` ε²."""
    patches = data.shape[0]
    centre(data, 1.0 / (patches + strength), model)
    set_products(model)
    share = mean_variance(model.covariance, prior.shape[0]) * np.float32(strength / patches)
    _add_prior(model.covariance, prior, share, np.float32(floor))


@fast_step
def add_shape(group: Group, model: Gaussian, least: float, total: NDArray[np.int64], unit: float) -> None:
    """Add Σ z zᵀ / (K (t + least)) of a group to a total of whole multiples of ``unit``: its share of Q."""
    patches, entries = group.data.shape[0], total.shape[0]
    centre(group.data, 1.0 / patches, model)
    set_products(model)
    share = 1.0 / (unit * (mean_variance(model.covariance, entries) + np.float32(least)))
    for i in range(entries):
        for j in range(i + 1):
            total[i, j] += np.int64(model.covariance[i, j] * share)
