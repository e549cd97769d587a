"""Prediction of patches by a Gaussian: what is not known of a patch, given what is.

The patches of a group are taken for draws of one Gaussian. With z the K patches less their mean μ, n entries
each, its covariance is

    C = (Σ z zᵀ + κ t Q) / (K + κ) + ε² I,    t = Σ z² / (K n),

where Q, the prior, is the shape that covariances have in the whole picture: κ patches' worth of it make C
regular. A patch that shows the entries y, with the variance σ² in them, then has the expectation
μ + C·y (C_yy + σ²)⁻¹ (y − μ_y), and every entry of it a variance of its own.

Both come out of one elimination. Its rows b_1, b_2, … are those of the Cholesky factor of C_yy + σ²,
continued over all entries: with e the entry that is the i-th to be shown,

    b_i = (C_e − Σ_{j<i} b_j[e] b_j) / s_i,    s_i² = C_ee − Σ_{j<i} b_j[e]² + σ_e².

The expectation is μ + Σ u_i b_i with u_i = (y_e − μ_e − Σ_{j<i} u_j b_j[e]) / s_i, the variance of an entry
is C_ee − Σ b_i². Patches that show the same entries share the rows: a Bayer group has four sets of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Bits, Float32
from demosaic_ntc.compiled import fast_kernel
from demosaic_ntc.imaging.kernels.steps import Group, note_noise, padded

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class Gaussian(NamedTuple):
    """Room for the model of one group; entries run as in the group, rows of them are padded alike."""

    mean: Float32  # (entry)
    centred: Float32  # (entry, patch): without the mean; a row of zeros more where entries are odd
    covariance: Float32  # (entry, entry)
    rows: Float32  # (shown, entry): b
    scales: Float32  # (shown): 1 / s
    variance: Float32  # (entry)
    shown: NDArray[np.int64]  # the entries shown by a patch
    alike: NDArray[np.int64]  # (patch): the first patch that shows the same entries


@fast_kernel
def empty_gaussian(patches: int, entries: int) -> Gaussian:
    """Return room for the models of groups, to be filled."""
    width = padded(entries)
    return Gaussian(
        np.zeros(width, np.float32),
        np.zeros((entries + entries % 2, patches), np.float32),
        np.zeros((width, width), np.float32),
        np.zeros((entries + 1, width), np.float32),
        np.zeros(entries + 1, np.float32),
        np.zeros(width, np.float32),
        np.zeros(entries + 1, np.int64),
        np.zeros(patches, np.int64),
    )


@fast_kernel
def centre(data: Float32, mean: Float32, centred: Float32) -> None:
    """Write the mean over the patches, and the patches without it, transposed."""
    patches, entries = data.shape[0], mean.shape[0]
    mean[:] = _ZERO
    for k in range(patches):
        values = data[k]
        for entry in range(entries):
            mean[entry] += values[entry]
    share = np.float32(1.0 / patches)
    for entry in range(entries):
        mean[entry] *= share
    for k in range(patches):
        values = data[k]
        for entry in range(min(entries, centred.shape[0])):
            centred[entry, k] = values[entry] - mean[entry]


@fast_kernel
def add_products(centred: Float32, covariance: Float32) -> None:
    """Write Σ z zᵀ on and below the diagonal, two rows and two columns at a time."""
    for i in range(0, centred.shape[0], 2):
        first, second = centred[i], centred[i + 1]
        for j in range(0, i + 2, 2):
            third, fourth = centred[j], centred[j + 1]
            one, two, three, four = _ZERO, _ZERO, _ZERO, _ZERO
            for k in range(first.shape[0]):
                one += first[k] * third[k]
                two += first[k] * fourth[k]
                three += second[k] * third[k]
                four += second[k] * fourth[k]
            covariance[i, j], covariance[i, j + 1] = one, two
            covariance[i + 1, j], covariance[i + 1, j + 1] = three, four


@fast_kernel
def mean_variance(covariance: Float32, patches: int, entries: int) -> np.float32:
    """Return t, the variance per entry, from the products."""
    total = _ZERO
    for entry in range(entries):
        total += covariance[entry, entry]
    return total / np.float32(patches * entries)


@fast_kernel
def _add_prior(covariance: Float32, prior: Float32, patches: int, strength: float, floor: float) -> None:
    """Turn the products into the covariance, above the diagonal as well."""
    entries = prior.shape[0]
    draw = np.float32(strength) * mean_variance(covariance, patches, entries)
    share = np.float32(1.0 / (patches + strength))
    for i in range(entries):
        row, shape = covariance[i], prior[i]
        for j in range(i + 1):
            row[j] = (row[j] + draw * shape[j]) * share
        row[i] += np.float32(floor)
        for j in range(i):
            covariance[j, i] = row[j]


@fast_kernel
def _shows_the_same(known: Bits, k: int, other: int) -> bool:
    """Tell whether two patches show the same entries."""
    different = 0
    for q in range(known.shape[1]):
        different += 1 if known[k, q] != known[other, q] else 0
    return different == 0


@fast_kernel
def _find_alike(known: Bits, alike: NDArray[np.int64]) -> None:
    """Write, for every patch, the first that shows the same entries."""
    for k in range(alike.shape[0]):
        alike[k] = k
        for other in range(k):
            if alike[other] == other and _shows_the_same(known, k, other):
                alike[k] = other
                break


@fast_kernel
def _list_shown(known: Bits, channels: int, shown: NDArray[np.int64]) -> int:
    """Write the entries that a patch shows and one that fills up a pair; return how many are shown."""
    count, pixels = 0, known.shape[0]
    for channel in range(channels):
        for q in range(pixels):
            if (known[q] >> channel) & 1:
                shown[count] = channel * pixels + q
                count += 1
    shown[count] = 0
    return count


@fast_kernel
def _eliminate(model: Gaussian, count: int, noise: Float32, least: np.float32) -> None:
    """Write the rows b of the entries shown, the inverses of their s, and the variances that remain.

    ``noise`` is (entry); no s² can be below ``least`` but by rounding. Two rows are made at a time and
    subtracted from all later ones; where the last has no second, that is a row of zeros.
    """
    entries = model.variance.shape[0]
    for e in range(entries):
        model.variance[e] = model.covariance[e, e]
        model.rows[count, e] = _ZERO
    for i in range(count):
        row, source = model.rows[i], model.covariance[model.shown[i]]
        for e in range(entries):
            row[e] = source[e]
    for i in range(0, count, 2):
        first, second, at, then = model.rows[i], model.rows[i + 1], model.shown[i], model.shown[i + 1]
        scale, other_scale = _ONE / np.sqrt(max(first[at] + noise[at], least)), _ZERO
        mixed = first[then] * scale
        if i + 1 < count:
            other_scale = _ONE / np.sqrt(max(second[then] - mixed * mixed + noise[then], least))
        model.scales[i], model.scales[i + 1] = scale, other_scale
        for e in range(entries):
            one = first[e] * scale
            two = (second[e] - mixed * one) * other_scale
            first[e], second[e] = one, two
            model.variance[e] -= one * one + two * two
        for j in range(i + 2, count):
            row, entry = model.rows[j], model.shown[j]
            one, two = first[entry], second[entry]
            for e in range(entries):
                row[e] -= one * first[e] + two * second[e]


@fast_kernel
def _expect(model: Gaussian, count: int, data: Float32, fit: Float32) -> np.float32:
    """Write the expectation of a patch, given the entries it shows; return its mean squared misfit there."""
    entries = fit.shape[0]
    for e in range(entries):
        fit[e] = model.mean[e]
    for i in range(0, count, 2):
        first, second, at, then = model.rows[i], model.rows[i + 1], model.shown[i], model.shown[i + 1]
        one = (data[at] - fit[at]) * model.scales[i]
        two = (data[then] - fit[then] - one * first[then]) * model.scales[i + 1]
        for e in range(entries):
            fit[e] += one * first[e] + two * second[e]
    misfit = _ZERO
    for i in range(count):
        miss = data[model.shown[i]] - fit[model.shown[i]]
        misfit += miss * miss
    return misfit / np.float32(max(count, 1))


@fast_kernel
def _mean_noise(model: Gaussian, count: int, noise: Float32) -> np.float32:
    """Return the mean variance of the entries that a patch shows."""
    total = _ZERO
    for i in range(count):
        total += noise[model.shown[i]]
    return total / np.float32(count)


@fast_kernel
def predict_by_gaussian(
    group: Group,
    model: Gaussian,
    prior: Float32,
    strength: float,
    floor: float,
    noise: Float32,
    least: float,
) -> None:
    """Write the expectation of every patch to be restored, and the expected squared error of its entries.

    The misfit of a patch at what it shows is added to its errors, as far as noise does not explain it: where
    it is large the model is wrong.
    ``strength`` is κ, ``floor`` ε². The variance of what is known is ``noise``, (channels, levels), and
    ``least`` more.
    """
    patches, entries = group.data.shape
    pixels = group.known.shape[1]
    channels = prior.shape[0] // pixels
    centre(group.data, model.mean, model.centred)
    add_products(model.centred, model.covariance)
    _add_prior(model.covariance, prior, patches, strength, floor)
    note_noise(model.mean, noise, least, channels, pixels, group)
    restored = group.fit.shape[0]
    _find_alike(group.known, model.alike[:restored])
    for first in range(restored):
        if model.alike[first] != first:
            continue
        count = _list_shown(group.known[first], channels, model.shown)
        explained = _mean_noise(model, count, group.noise) - np.float32(least) if count else _ZERO
        if not group.whole[first]:
            _eliminate(model, count, group.noise, np.float32(floor))
        for k in range(first, restored):
            if model.alike[k] == first and group.whole[first]:
                for e in range(entries):
                    group.fit[k, e], group.error[k, e] = group.data[k, e], _ZERO
            elif model.alike[k] == first:
                misfit = max(_expect(model, count, group.seen[k], group.fit[k]) - explained, _ZERO)
                for e in range(entries):
                    group.error[k, e] = max(model.variance[e], _ZERO) + misfit


@fast_kernel
def add_shape(group: Group, model: Gaussian, least: float, total: NDArray[np.int64], unit: float) -> None:
    """Add Σ z zᵀ / (K (t + least)) of a group to a total of whole multiples of ``unit``: its share of Q."""
    patches, entries = group.data.shape[0], total.shape[0]
    centre(group.data, model.mean, model.centred)
    add_products(model.centred, model.covariance)
    spread = mean_variance(model.covariance, patches, entries) + np.float32(least)
    share = 1.0 / (unit * patches * spread)
    for i in range(entries):
        for j in range(i + 1):
            total[i, j] += np.int64(model.covariance[i, j] * share)
