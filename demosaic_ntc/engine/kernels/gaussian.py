"""Prediction of patches by a Gaussian: what is not known of a patch, given what is.

The patches of a group are taken for draws of one Gaussian, with mean μ and covariance C
(:mod:`demosaic_ntc.engine.kernels.covariance`). A patch that shows the entries y, with the variance σ² in
them, then has the expectation μ + C·y (C_yy + σ²)⁻¹ (y − μ_y), and every entry of it a variance of its own.

Both come out of one elimination. Its rows b_1, b_2, … are those of the Cholesky factor of C_yy + σ²,
continued over all entries: with e the entry that is the i-th to be shown,

    b_i = (C_e − Σ_{j<i} b_j[e] b_j) / s_i,    s_i² = C_ee − Σ_{j<i} b_j[e]² + σ_e².

The expectation is μ + Σ u_i b_i with u_i = (y_e − μ_e − Σ_{j<i} u_j b_j[e]) / s_i, the variance of an entry
is C_ee − Σ b_i². Patches that show the same entries, a pattern, share the rows: a Bayer group has four.
What these patches show, without the mean, stands in further columns of the rows: eliminated with the others,
these columns become u. All that takes long are products of small matrices, made tile by tile.

How samples correct the mean of the patches is told in :mod:`demosaic_ntc.engine.kernels.group_mean`.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Bits, Float32
from demosaic_ntc.engine.kernels.covariance import Gaussian, model_covariance
from demosaic_ntc.engine.kernels.gather import PatchGroup, note_noise, pad_length, start_of_noise
from demosaic_ntc.engine.kernels.group_mean import (
    add_to_patterns,
    hold_back,
    lay_out_sum,
    set_centres,
    set_move,
)
from demosaic_ntc.engine.kernels.products import COLUMNS, ROWS, set_tile, solve_tile, sum_squares
from demosaic_ntc.jit.compiled import fast_step

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@fast_step
def _shows_the_same(known: Bits, k: int, other: int) -> bool:
    """Tell whether two patches show the same entries."""
    one, two, next_ = known[k], known[other], min(1, known.shape[1] - 1)
    if one[0] != two[0] or one[next_] != two[next_]:  # phases of a Bayer array differ here
        return False
    different = np.uint8(0)
    for q in range(known.shape[1]):
        different = np.uint8(different | np.uint8(one[q] ^ two[q]))
    return bool(different == 0)


@fast_step
def _find_patterns(group: PatchGroup, model: Gaussian) -> int:
    """Write which of the patches to be restored that are not whole show other entries than those before them.

    Returns how many do. Every patch has the pattern of the one that shows the same entries; others have none.
    """
    patterns, restored = 0, group.fit.shape[0]
    for k in range(group.known.shape[0]):
        own = -1
        for pattern in range(patterns):
            if _shows_the_same(group.known, k, model.firsts[pattern]):
                own = pattern
                break
        if own < 0 and k < restored and not group.whole[k]:
            own, model.firsts[patterns] = patterns, k
            patterns += 1
        model.pattern_of[k] = own
    return patterns


@fast_step
def _list_members(model: Gaussian, patterns: int, restored: int) -> None:
    """List the patches to be restored, so many with those that are whole, pattern by pattern."""
    count = 0
    for pattern in range(patterns):
        model.heads[pattern] = count
        for k in range(model.firsts[pattern], restored):  # written in any case, and kept where it counts
            model.members[count] = k
            count += 1 if model.pattern_of[k] == pattern else 0
    model.heads[patterns] = count


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
def _lay_out(model: Gaussian, start: int, count: int, seen: Float32, members: NDArray[np.int64]) -> None:
    """Write what members show less the mean, behind the entries of the rows and their sum.

    ``seen`` is (patch, entry). Indices are unsigned, since signed ones may count from the end.
    """
    mean, shown, flat = model.mean[0], model.shown[start:], seen.reshape(seen.size)
    rows = model.rows[start:]
    given, apart = rows.reshape(rows.size), np.uint64(rows.shape[1])
    for m in range(members.shape[0]):
        begin, place = np.uint64(members[m] * seen.shape[1]), np.uint64(model.covariance.shape[0] + 1 + m)
        for i in range(-(-count // ROWS) * ROWS):
            at = np.uint64(shown[i])
            given[place] = flat[begin + at] - mean[at]
            place += apart


@fast_step
def _inverse_root(value: np.float32, least: np.float32, real: bool) -> np.float32:
    """Return 1 / √value, the least of values being given; zero for a row that is none."""
    return _ONE / np.sqrt(max(value, least)) if real else _ZERO


@fast_step
def _factor(model: Gaussian, start: int, i: int, count: int, noise: Float32, least: np.float32) -> None:
    """Write what rows before i have to do with the four from i on, and the factor of what these show.

    Rows are counted from the first of their pattern, the ``start``.

    The factor's entries are a, ba, b, ca, cb, c, da, db, dc and d, row by row; those of the diagonal are
    their inverses, zero for rows past the last.
    """
    shown, rows, inverses = model.shown[start:], model.rows[start:], model.inverses[start + i :]
    at, then = np.uint64(shown[i]), np.uint64(shown[i + 1])
    next_, last = np.uint64(shown[i + 2]), np.uint64(shown[i + 3])
    covariance, factor = model.covariance, model.factor
    aa, bb = covariance[at, at] + noise[at], covariance[then, then] + noise[then]
    cc, dd = covariance[next_, next_] + noise[next_], covariance[last, last] + noise[last]
    ab, ac, ad = covariance[at, then], covariance[at, next_], covariance[at, last]
    bc, bd, cd = covariance[then, next_], covariance[then, last], covariance[next_, last]
    for j in range(i):
        row, left = rows[j], model.left[j]
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
    inverses[0], inverses[1], inverses[2], inverses[3] = a, b, c, factor[3, 3]


@fast_step
def _eliminate(
    model: Gaussian, pattern: int, count: int, members: int, noise: Float32, least: np.float32
) -> None:
    """Write the rows of what a pattern shows, b and u of so many patches, and the variances that remain.

    ``noise`` is (entry); no s² can be below ``least`` but by rounding.
    """
    start, covariance, left, factor = model.starts[pattern], model.covariance, model.left, model.factor
    rows, shown, variance = model.rows[start:], model.shown[start:], model.variance[pattern : pattern + 1]
    entries = covariance.shape[0]
    for e in range(entries):
        variance[0, e] = covariance[e, e]
    for i in range(0, count, ROWS):
        _factor(model, start, i, count, noise, least)
        at, then, next_, last = shown[i], shown[i + 1], shown[i + 2], shown[i + 3]
        for column in range(0, entries, COLUMNS):
            solve_tile(covariance, at, then, next_, last, factor, left, rows, column, i, i, variance)
        for column in range(entries, entries + pad_length(members + 1), COLUMNS):
            solve_tile(rows, i, i + 1, i + 2, i + 3, factor, left, rows, column, i, i, variance)


@fast_step
def _expect(model: Gaussian, pattern: int, members: int) -> None:
    """Write the expectations of so many patches of a pattern, about its centre."""
    entries, start, stop = model.covariance.shape[0], model.starts[pattern], model.starts[pattern + 1]
    rows, centre = model.rows[start:], model.centre[pattern : pattern + 1]
    for m in range(0, members, ROWS):
        for column in range(0, entries, COLUMNS):
            set_tile(centre, rows, entries + 1 + m, rows, column, stop - start, model.expected, m)


@fast_step
def _mean_noise(is_shown: Float32, count: int, noise: Float32) -> np.float32:
    """Return the mean variance of the entries that a patch shows, so many."""
    total = _ZERO
    for e in range(is_shown.shape[0]):
        total += is_shown[e] * noise[e]
    return total / np.float32(count)


@fast_step
def _eliminate_patterns(
    group: PatchGroup, model: Gaussian, patterns: int, channels: int, floor: float, is_summed: bool
) -> None:
    """Eliminate what patterns show, from what the patches to be restored do, and from the sums of all."""
    for pattern in range(patterns):
        start, known = model.starts[pattern], group.known[model.firsts[pattern]]
        count = _list_shown(known, channels, model.shown[start:], model.is_shown[pattern])
        model.counts[pattern], model.starts[pattern + 1] = count, start + -(-count // ROWS) * ROWS
        if is_summed:
            lay_out_sum(model, pattern)
        members = model.members[model.heads[pattern] : model.heads[pattern + 1]]
        _lay_out(model, start, count, group.seen, members)
        noise = group.noise[start_of_noise(group, model.firsts[pattern]) :]
        _eliminate(model, pattern, count, members.shape[0], noise, np.float32(floor))


@fast_step
def _predict_pattern(group: PatchGroup, model: Gaussian, pattern: int, least: float) -> None:
    """Predict the patches of a pattern from what was eliminated, about its centre."""
    entries, count = group.fit.shape[1], model.counts[pattern]
    is_shown, variance = model.is_shown[pattern : pattern + 1], model.variance[pattern]
    members = model.members[model.heads[pattern] : model.heads[pattern + 1]]
    noise = group.noise[start_of_noise(group, model.firsts[pattern]) :]
    explained = _mean_noise(is_shown[0], count, noise) - np.float32(least) if count else _ZERO
    _expect(model, pattern, members.shape[0])
    for m in range(members.shape[0]):
        fit, error, source = group.fit[members[m]], group.error[members[m]], model.expected[m]
        missed = sum_squares(is_shown, group.seen, members[m], model.expected, m, entries)
        misfit = max(missed / np.float32(max(count, 1)) - explained, _ZERO)
        for e in range(entries):
            fit[e] = source[e]
            error[e] = max(variance[e], _ZERO) + misfit


@fast_step
def _copy_whole(group: PatchGroup) -> None:
    """Take patches that show all of their entries as they are."""
    for k in range(group.fit.shape[0]):
        if group.whole[k]:
            fit, error, data = group.fit[k], group.error[k], group.data[k]
            for entry in range(fit.shape[0]):
                fit[entry], error[entry] = data[entry], _ZERO


@fast_step
def predict_by_gaussian(
    group: PatchGroup,
    model: Gaussian,
    channels: int,
    strength: float,
    floor: float,
    noise: Float32,
    least: float,
    correction: float,
) -> None:
    """Write the expectation of every patch to be restored, and the expected squared error of its entries.

    The misfit of a patch at what it shows is added to its errors, as far as noise does not explain it: where
    it is large the model is wrong.
    ``strength`` is κ, ``floor`` ε². The variance of what is known is ``noise``, (channels, levels), and
    ``least`` more. ``correction`` is a: how far the mean is moved.
    """
    pixels = group.known.shape[1]
    model_covariance(group.data, channels * pixels, strength, floor, model)
    if group.noise.shape[0] == group.fit.shape[1]:  # else weights have told
        note_noise(model.mean[0], noise, least, channels, pixels, group)
    patterns, is_moved = _find_patterns(group, model), correction > 0.0
    _list_members(model, patterns, group.fit.shape[0])
    if is_moved:
        add_to_patterns(model, patterns, group.seen)
    _eliminate_patterns(group, model, patterns, channels, floor, is_moved)
    if is_moved and patterns > 0:
        set_move(model, patterns, np.float32(correction))
        if channels == 3:
            hold_back(model, pixels)
    set_centres(model, patterns, is_moved)
    for pattern in range(patterns):
        _predict_pattern(group, model, pattern, least)
    _copy_whole(group)
