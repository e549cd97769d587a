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
from demosaic_ntc.imaging.kernels.products import COLUMNS, ROWS, set_tile, solve_tile, sum_squares
from demosaic_ntc.imaging.kernels.steps import Group, note_noise, padded

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@fast_step
def _shows_the_same(known: Bits, k: int, other: int) -> bool:
    """Tell whether two patches show the same entries."""
    different = 0
    for q in range(known.shape[1]):
        different |= known[k, q] ^ known[other, q]
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
    count, one, none = np.uint64(0), np.uint64(1), np.uint64(0)
    for k in range(first, alike.shape[0]):  # written in any case, and kept where it counts
        members[count] = k
        count += one if alike[k] == first else none
    return int(np.int64(count))


@fast_step
def _list_shown(known: Bits, channels: int, shown: NDArray[np.int64], is_shown: Float32) -> int:
    """Write the entries that a patch shows, and zeros that fill up four; return how many are shown.

    Also writes, for every entry, whether it is one of them: 1 or 0.
    """
    count, pixels = 0, known.shape[0]
    for channel in range(channels):
        flags = is_shown[channel * pixels :]
        for q in range(pixels):
            flag = (known[q] >> channel) & 1
            shown[count] = channel * pixels + q
            flags[q] = np.float32(flag)
            count += flag
    for i in range(count, count + ROWS):
        shown[i] = 0
    return count


@fast_step
def _lay_out(model: Gaussian, count: int, seen: Float32, members: NDArray[np.int64]) -> None:
    """Write what members show less the mean, behind the entries of the rows; ``seen`` is (patch, entry).

    Indices are unsigned, since signed ones are looked at for counting from the end.
    """
    mean, shown, flat = model.mean[0], model.shown, seen.reshape(seen.size)
    given, apart = model.rows.reshape(model.rows.size), np.uint64(model.rows.shape[1])
    for m in range(members.shape[0]):
        start, place = np.uint64(members[m] * seen.shape[1]), np.uint64(model.covariance.shape[0] + m)
        for i in range(-(-count // ROWS) * ROWS):
            at = np.uint64(shown[i])
            given[place] = flat[start + at] - mean[at]
            place += apart


@fast_step
def _inverse_root(value: np.float32, least: np.float32, real: bool) -> np.float32:
    """Return 1 / √value, the least of values being given; zero for a row that is none."""
    return _ONE / np.sqrt(max(value, least)) if real else _ZERO


@fast_step
def _factor(model: Gaussian, i: int, count: int, noise: Float32, least: np.float32) -> None:
    """Write what rows before i have to do with the four from i on, and the factor of what these show.

    The factor's entries are a, ba, b, ca, cb, c, da, db, dc and d, row by row; those of the diagonal are
    their inverses, zero for rows past the last.
    """
    at, then = np.uint64(model.shown[i]), np.uint64(model.shown[i + 1])
    next_, last = np.uint64(model.shown[i + 2]), np.uint64(model.shown[i + 3])
    covariance, factor = model.covariance, model.factor
    aa, bb = covariance[at, at] + noise[at], covariance[then, then] + noise[then]
    cc, dd = covariance[next_, next_] + noise[next_], covariance[last, last] + noise[last]
    ab, ac, ad = covariance[at, then], covariance[at, next_], covariance[at, last]
    bc, bd, cd = covariance[then, next_], covariance[then, last], covariance[next_, last]
    for j in range(i):
        row, left = model.rows[j], model.left[j]
        one, two, three, four = row[at], row[then], row[next_], row[last]
        left[0], left[1], left[2], left[3] = one, two, three, four
        aa, ab, ac, ad = aa - one * one, ab - one * two, ac - one * three, ad - one * four
        bb, bc, bd = bb - two * two, bc - two * three, bd - two * four
        cc, cd, dd = cc - three * three, cd - three * four, dd - four * four
    a = _inverse_root(aa, least, True)
    ba, ca, da = ab * a, ac * a, ad * a
    b = _inverse_root(bb - ba * ba, least, i + 1 < count)
    cb, db = (bc - ba * ca) * b, (bd - ba * da) * b
    c = _inverse_root(cc - ca * ca - cb * cb, least, i + 2 < count)
    dc = (cd - ca * da - cb * db) * c
    factor[0, 0], factor[1, 0], factor[1, 1], factor[2, 0], factor[2, 1] = a, ba, b, ca, cb
    factor[2, 2], factor[3, 0], factor[3, 1], factor[3, 2] = c, da, db, dc
    factor[3, 3] = _inverse_root(dd - da * da - db * db - dc * dc, least, i + 3 < count)


@fast_step
def _eliminate(model: Gaussian, count: int, members: int, noise: Float32, least: np.float32) -> None:
    """Write the rows of what is shown, b and u of so many patches, and the variances that remain.

    ``noise`` is (entry); no s² can be below ``least`` but by rounding.
    """
    covariance, rows, variance = model.covariance, model.rows, model.variance
    entries, shown, left, factor = covariance.shape[0], model.shown, model.left, model.factor
    for e in range(entries):
        variance[0, e] = covariance[e, e]
    for i in range(0, count, ROWS):
        _factor(model, i, count, noise, least)
        at, then, next_, last = shown[i], shown[i + 1], shown[i + 2], shown[i + 3]
        for column in range(0, entries, COLUMNS):
            solve_tile(covariance, at, then, next_, last, factor, left, rows, column, i, i, variance)
        for column in range(entries, entries + padded(members), COLUMNS):
            solve_tile(rows, i, i + 1, i + 2, i + 3, factor, left, rows, column, i, i, variance)


@fast_step
def _expect(model: Gaussian, count: int, members: int) -> None:
    """Write the expectations of so many patches."""
    entries, rows = model.covariance.shape[0], model.rows
    for m in range(0, members, ROWS):
        for column in range(0, entries, COLUMNS):
            set_tile(model.mean, rows, entries + m, rows, column, count, model.expected, m)


@fast_step
def _mean_noise(is_shown: Float32, count: int, noise: Float32) -> np.float32:
    """Return the mean variance of the entries that a patch shows, so many."""
    total = _ZERO
    for e in range(is_shown.shape[0]):
        total += is_shown[e] * noise[e]
    return total / np.float32(count)


@fast_step
def _predict_alike(
    group: Group, model: Gaussian, members: NDArray[np.int64], channels: int, floor: float, least: float
) -> None:
    """Predict the patches of a group that show the same entries, from the covariance of the group."""
    entries, is_shown, variance = group.fit.shape[1], model.is_shown[0], model.variance[0]
    count = _list_shown(group.known[members[0]], channels, model.shown, is_shown)
    explained = _mean_noise(is_shown, count, group.noise) - np.float32(least) if count else _ZERO
    _lay_out(model, count, group.seen, members)
    _eliminate(model, count, members.shape[0], group.noise, np.float32(floor))
    _expect(model, count, members.shape[0])
    for m in range(members.shape[0]):
        fit, error, source = group.fit[members[m]], group.error[members[m]], model.expected[m]
        missed = sum_squares(model.is_shown, group.seen, members[m], model.expected, m, entries)
        misfit = max(missed / np.float32(max(count, 1)) - explained, _ZERO)
        for e in range(entries):
            fit[e] = source[e]
            error[e] = max(variance[e], _ZERO) + misfit


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
    channels: int,
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
    model_covariance(group.data, channels * pixels, strength, floor, model)
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
