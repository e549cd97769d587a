"""The mean of a group of patches, corrected by what their samples tell of it.

The mean of the patches is one of estimates, and repeats their errors. Samples tell: the expectations of all
patches have a mean as well, μ + t, which is the next mean of an EM algorithm. As far as samples determine t
it is no error of μ but chance, since patches that show an entry are not those that do not. What remains of it
in a patch whose samples are taken into account, t − C·y (C_yy + σ²)⁻¹ t_y, is not determined by them; with r
the mean of that over the patches, a r is added to μ; less of it in colours that vary much more than green.

The rows b are those that :mod:`demosaic_ntc.engine.kernels.gaussian` eliminates.
"""

import numpy as np

from demosaic_ntc.arrays import Float32
from demosaic_ntc.engine.kernels.covariance import Gaussian
from demosaic_ntc.engine.kernels.products import ROWS
from demosaic_ntc.jit.compiled import fast_step

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_ALIKE = np.float32(2.0)  # times the variance of green, up to which a channel's mean is moved in full
_DARK = np.float32(0.05)  # a level of green below which its variance is cut off with its values


@fast_step
def add_to_patterns(model: Gaussian, patterns: int, seen: Float32) -> None:
    """Write the sums of what patches show, pattern by pattern, and how many they are."""
    for pattern in range(patterns):
        total, model.weights[pattern] = model.sums[pattern], _ZERO
        for e in range(total.shape[0]):
            total[e] = _ZERO
    for k in range(seen.shape[0]):
        if model.pattern_of[k] >= 0:
            total, own = model.sums[model.pattern_of[k]], seen[k]
            model.weights[model.pattern_of[k]] += _ONE
            for e in range(total.shape[0]):
                total[e] += own[e]


@fast_step
def lay_out_sum(model: Gaussian, pattern: int) -> None:
    """Write what the patches of a pattern show less the mean, added up, right behind the entries of rows."""
    mean, total, column = model.mean[0], model.sums[pattern], model.covariance.shape[0]
    for i in range(model.starts[pattern], model.starts[pattern + 1]):
        at = model.shown[i]
        model.rows[i, column] = total[at] - model.weights[pattern] * mean[at]


@fast_step
def _take_off_rows(model: Gaussian, i: int, values: Float32) -> None:
    """Take off values, (entry), what four rows from i on expect of them.

    What one of them takes off is foreseen in the next.
    """
    shown, inverses = model.shown, model.inverses
    one, two, three, four = model.rows[i], model.rows[i + 1], model.rows[i + 2], model.rows[i + 3]
    then, next_, last = shown[i + 1], shown[i + 2], shown[i + 3]
    a = values[shown[i]] * inverses[i]
    b = (values[then] - a * one[then]) * inverses[i + 1]
    c = (values[next_] - a * one[next_] - b * two[next_]) * inverses[i + 2]
    d = (values[last] - a * one[last] - b * two[last] - c * three[last]) * inverses[i + 3]
    for e in range(values.shape[0]):
        values[e] -= a * one[e] + b * two[e] + c * three[e] + d * four[e]


@fast_step
def _take_off_explained(model: Gaussian, patterns: int, values: Float32) -> None:
    """Take off values, (pattern, entry), what is expected of them given those that each pattern shows.

    Patterns take turns: rows of one have to wait for each other, and others need not wait for them.
    """
    longest = 0
    for pattern in range(patterns):
        longest = max(longest, model.starts[pattern + 1] - model.starts[pattern])
    for i in range(0, longest, ROWS):
        for pattern in range(patterns):
            if model.starts[pattern] + i < model.starts[pattern + 1]:
                _take_off_rows(model, model.starts[pattern] + i, values[pattern])


@fast_step
def _set_step(model: Gaussian, patterns: int, total: np.float32) -> None:
    """Write t, by how much the mean of the expectations of all patches, so many, exceeds the mean."""
    step, column = model.moves[0], model.covariance.shape[0]
    for e in range(step.shape[0]):
        step[e] = _ZERO
    for i in range(0, model.starts[patterns], ROWS):
        one, two, three, four = model.rows[i], model.rows[i + 1], model.rows[i + 2], model.rows[i + 3]
        a, b, c, d = one[column] / total, two[column] / total, three[column] / total, four[column] / total
        for e in range(step.shape[0]):
            step[e] += a * one[e] + b * two[e] + c * three[e] + d * four[e]


@fast_step
def set_move(model: Gaussian, patterns: int, correction: np.float32) -> None:
    """Write what is to be added to the mean, a r; ``correction`` is a."""
    total = _ZERO
    for pattern in range(patterns):
        total += model.weights[pattern]
    _set_step(model, patterns, total)
    step, move, rest = model.moves[0], model.moves[1], model.centre
    for e in range(move.shape[0]):
        move[e] = _ZERO
        for pattern in range(patterns):
            rest[pattern, e] = step[e]
    _take_off_explained(model, patterns, rest)
    for pattern in range(patterns):
        share, own = correction * model.weights[pattern] / total, rest[pattern]
        for e in range(move.shape[0]):
            move[e] += share * own[e]


@fast_step
def hold_back(model: Gaussian, pixels: int) -> None:
    """Shorten the move of colours that vary more than green by the square of the ratio of variances.

    Such a colour has detail of its own, by which patches were found: those that show an entry were chosen for
    its value, and their mean tells of the choice.
    """
    covariance, level, green = model.covariance, _ZERO, _ZERO
    for e in range(pixels, 2 * pixels):
        level += model.mean[0, e]
        green += covariance[e, e]
    if level < _DARK * np.float32(pixels):
        return
    for start in (0, 2 * pixels):
        own = _ZERO
        for e in range(start, start + pixels):
            own += covariance[e, e]
        share = min(_ONE, _ALIKE * green / own)
        for e in range(start, start + pixels):
            model.moves[1, e] *= share * share


@fast_step
def set_centres(model: Gaussian, patterns: int, is_moved: bool) -> None:
    """Write the mean, and what remains of its move where the entries of each pattern are known."""
    mean, move = model.mean[0], model.moves[1]
    for pattern in range(patterns):
        centre = model.centre[pattern]
        for e in range(centre.shape[0]):
            centre[e] = move[e] if is_moved else mean[e]
    if is_moved:
        _take_off_explained(model, patterns, model.centre)
        for pattern in range(patterns):
            centre = model.centre[pattern]
            for e in range(centre.shape[0]):
                centre[e] += mean[e]
