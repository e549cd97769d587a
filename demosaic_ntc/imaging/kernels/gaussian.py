"""Prediction of patches by a Gaussian: what is not known of a patch, given what is.

The patches of a group are taken for draws of one Gaussian, with mean μ and covariance C
(:mod:`demosaic_ntc.imaging.kernels.covariance`). A patch that shows the entries y, with the variance σ² in
them, then has the expectation μ + C·y (C_yy + σ²)⁻¹ (y − μ_y), and every entry of it a variance of its own.

Both come out of one elimination. Its rows b_1, b_2, … are those of the Cholesky factor of C_yy + σ²,
continued over all entries: with e the entry that is the i-th to be shown,

    b_i = (C_e − Σ_{j<i} b_j[e] b_j) / s_i,    s_i² = C_ee − Σ_{j<i} b_j[e]² + σ_e².

The expectation is μ + Σ u_i b_i with u_i = (y_e − μ_e − Σ_{j<i} u_j b_j[e]) / s_i, the variance of an entry
is C_ee − Σ b_i². Patches that show the same entries share the rows: a Bayer group has four sets of them.
What these patches show, without the mean, stands in further columns of the rows: eliminated with the others,
these columns become u. All that takes long are products of small matrices, made tile by tile.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Bits, Float32
from demosaic_ntc.compiled import fast_step
from demosaic_ntc.imaging.kernels.covariance import Gaussian, model_covariance
from demosaic_ntc.imaging.kernels.products import COLUMNS, ROWS, set_tile
from demosaic_ntc.imaging.kernels.steps import Group, note_noise, padded

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@fast_step
def _shows_the_same(known: Bits, k: int, other: int) -> bool:
    """Tell whether two patches show the same entries."""
    different = 0
    for q in range(known.shape[1]):
        different += 1 if known[k, q] != known[other, q] else 0
    return different == 0


@fast_step
def _find_alike(known: Bits, alike: NDArray[np.int64]) -> None:
    """Write, for every patch, the first that shows the same entries."""
    for k in range(alike.shape[0]):
        alike[k] = k
        for other in range(k):
            if alike[other] == other and _shows_the_same(known, k, other):
                alike[k] = other
                break


@fast_step
def _list_members(alike: NDArray[np.int64], first: int, members: NDArray[np.int64]) -> int:
    """Write the patches that show the same entries as one of them, the first; return how many."""
    count = 0
    for k in range(first, alike.shape[0]):
        if alike[k] == first:
            members[count] = k
            count += 1
    return count


@fast_step
def _list_shown(known: Bits, channels: int, shown: NDArray[np.int64]) -> int:
    """Write the entries that a patch shows, and zeros that fill up four; return how many are shown."""
    count, pixels = 0, known.shape[0]
    for channel in range(channels):
        for q in range(pixels):
            shown[count] = channel * pixels + q
            count += (known[q] >> channel) & 1
    for i in range(count, count + ROWS):
        shown[i] = 0
    return count


@fast_step
def _lay_out(model: Gaussian, count: int, seen: Float32, members: NDArray[np.int64]) -> None:
    """Write what members show less the mean, behind the entries of the rows; ``seen`` is (patch, entry)."""
    entries, mean = model.covariance.shape[0], model.mean[0]
    for i in range(-(-count // ROWS) * ROWS):
        at, given = model.shown[i], model.rows[i, entries:]
        for m in range(members.shape[0]):
            given[m] = seen[members[m], at] - mean[at]


@fast_step
def _set_panel(model: Gaussian, i: int, width: int) -> None:
    """Write the four rows from i on as far as the rows before do not explain them."""
    at, then, next_, last = model.shown[i], model.shown[i + 1], model.shown[i + 2], model.shown[i + 3]
    entries, rows, panel, left = model.covariance.shape[0], model.rows, model.panel, model.factors
    for j in range(i):
        row, factors = rows[j], left[j]
        one, two, three, four = row[at], row[then], row[next_], row[last]
        factors[0], factors[1], factors[2], factors[3] = -one, -two, -three, -four
    for column in range(0, entries, COLUMNS):
        set_tile(model.covariance, at, then, next_, last, left, 0, rows, column, i, panel, 0)
    for column in range(entries, width, COLUMNS):
        set_tile(rows, i, i + 1, i + 2, i + 3, left, 0, rows, column, i, panel, 0)


@fast_step
def _inverse_root(value: np.float32, least: np.float32, real: bool) -> np.float32:
    """Return 1 / √value, the least of values being given; zero for a row that is none."""
    return _ONE / np.sqrt(max(value, least)) if real else _ZERO


@fast_step
def _invert(model: Gaussian, i: int, count: int, noise: Float32, least: np.float32) -> None:
    """Write the inverse of the Cholesky factor of what the panel shows; nothing for rows past the last.

    The factor's entries are a, ba, b, ca, cb, c, da, db, dc and d, row by row; those of the diagonal stand
    for their inverses.
    """
    at, then, next_, last = model.shown[i], model.shown[i + 1], model.shown[i + 2], model.shown[i + 3]
    one, two, three, four, inverse = (
        model.panel[0],
        model.panel[1],
        model.panel[2],
        model.panel[3],
        model.inverse,
    )
    a = _inverse_root(one[at] + noise[at], least, True)
    ba, ca, da = one[then] * a, one[next_] * a, one[last] * a
    b = _inverse_root(two[then] + noise[then] - ba * ba, least, i + 1 < count)
    cb, db = (two[next_] - ba * ca) * b, (two[last] - ba * da) * b
    c = _inverse_root(three[next_] + noise[next_] - ca * ca - cb * cb, least, i + 2 < count)
    dc = (three[last] - ca * da - cb * db) * c
    d = _inverse_root(four[last] + noise[last] - da * da - db * db - dc * dc, least, i + 3 < count)
    inverse[0, 0], inverse[1, 1], inverse[2, 2], inverse[3, 3] = a, b, c, d
    second, third, fourth = -ba * a * b, -cb * b * c, -dc * c * d
    inverse[0, 1], inverse[1, 2], inverse[2, 3] = second, third, fourth
    skipped = -(ca * a + cb * second) * c
    inverse[0, 2], inverse[1, 3] = skipped, -(db * b + dc * third) * d
    inverse[0, 3] = -(da * a + db * second + dc * skipped) * d


@fast_step
def _eliminate(model: Gaussian, count: int, members: int, noise: Float32, least: np.float32) -> None:
    """Write the rows of what is shown, b and u of so many patches, and the variances that remain.

    ``noise`` is (entry); no s² can be below ``least`` but by rounding.
    """
    entries, nothing, variance = model.covariance.shape[0], model.nothing, model.variance
    width = entries + padded(members)
    for e in range(entries):
        variance[e] = model.covariance[e, e]
    for i in range(0, count, ROWS):
        _set_panel(model, i, width)
        _invert(model, i, count, noise, least)
        for column in range(0, width, COLUMNS):
            set_tile(nothing, 0, 0, 0, 0, model.inverse, 0, model.panel, column, ROWS, model.rows, i)
        one, two, three, four = model.rows[i], model.rows[i + 1], model.rows[i + 2], model.rows[i + 3]
        for e in range(entries):
            variance[e] -= one[e] * one[e] + two[e] * two[e] + three[e] * three[e] + four[e] * four[e]


@fast_step
def _expect(model: Gaussian, count: int, members: int) -> None:
    """Write the expectations of so many patches."""
    entries, rows = model.covariance.shape[0], model.rows
    for m in range(0, members, ROWS):
        for column in range(0, entries, COLUMNS):
            set_tile(model.mean, 0, 0, 0, 0, rows, entries + m, rows, column, count, model.expected, m)


@fast_step
def _misfit(model: Gaussian, count: int, seen: Float32, fit: Float32) -> np.float32:
    """Return the mean squared misfit of a patch at the entries it shows."""
    total = _ZERO
    for i in range(count):
        miss = seen[model.shown[i]] - fit[model.shown[i]]
        total += miss * miss
    return total / np.float32(max(count, 1))


@fast_step
def _mean_noise(model: Gaussian, count: int, noise: Float32) -> np.float32:
    """Return the mean variance of the entries that a patch shows."""
    total = _ZERO
    for i in range(count):
        total += noise[model.shown[i]]
    return total / np.float32(count)


@fast_step
def _predict_alike(
    group: Group, model: Gaussian, members: NDArray[np.int64], channels: int, floor: float, least: float
) -> None:
    """Predict the patches of a group that show the same entries, from the covariance of the group."""
    entries = group.fit.shape[1]
    count = _list_shown(group.known[members[0]], channels, model.shown)
    explained = _mean_noise(model, count, group.noise) - np.float32(least) if count else _ZERO
    _lay_out(model, count, group.seen, members)
    _eliminate(model, count, members.shape[0], group.noise, np.float32(floor))
    _expect(model, count, members.shape[0])
    for m in range(members.shape[0]):
        fit, error, source = group.fit[members[m]], group.error[members[m]], model.expected[m]
        misfit = max(_misfit(model, count, group.seen[members[m]], source) - explained, _ZERO)
        for e in range(entries):
            fit[e] = source[e]
            error[e] = max(model.variance[e], _ZERO) + misfit


@fast_step
def _copy_whole(group: Group, members: NDArray[np.int64]) -> None:
    """Take patches that show all of their entries as they are."""
    for m in range(members.shape[0]):
        fit, error, data = group.fit[members[m]], group.error[members[m]], group.data[members[m]]
        for entry in range(fit.shape[0]):
            fit[entry], error[entry] = data[entry], _ZERO


@fast_step
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
    pixels = group.known.shape[1]
    channels = prior.shape[0] // pixels
    model_covariance(group.data, prior, strength, floor, model)
    note_noise(model.mean[0], noise, least, channels, pixels, group)
    _find_alike(group.known, model.alike)
    for first in range(group.fit.shape[0]):
        if model.alike[first] != first:
            continue
        members = model.members[: _list_members(model.alike, first, model.members)]
        if group.whole[first]:
            _copy_whole(group, members)
        else:
            _predict_alike(group, model, members, channels, floor, least)
