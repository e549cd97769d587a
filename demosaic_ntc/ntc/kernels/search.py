"""Exact search over subsets: Gray-code enumeration, and branch and bound."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.jit.compiled import kernel
from demosaic_ntc.ntc.problem import Bits

Counts = NDArray[np.int64]


@kernel
def enumerate_subsets(
    tensor: Float64, rows: Counts, widths: Counts, limit: float, best: Counts
) -> tuple[float, bool]:
    """Minimise over all 0-1 choices in every mode but the last, whose choice is in closed form.

    ``tensor`` is flat; at level l it is seen as ``rows[l]`` slices of ``widths[l]`` numbers, and the sum
    of the chosen slices is the tensor of level l+1. Subsets run in Gray-code order, so each one costs a
    single addition or subtraction of a slice. ``best`` receives the subsets as bit masks. The search ends
    early once a value of at most ``limit`` is found; the second result says whether it did not.
    """
    levels = rows.shape[0]
    sums = np.zeros((levels, widths[0]))
    step = np.zeros(levels, np.int64)
    chosen = np.zeros(levels, np.int64)
    lowest = 0.0
    best[:] = 0
    level = 0
    while level >= 0:
        step[level] += 1
        if step[level] >> rows[level]:
            step[level], chosen[level] = 0, 0
            sums[level, : widths[level]] = 0.0
            level -= 1
            continue
        row = 0
        while not (step[level] >> row) & 1:
            row += 1
        chosen[level] ^= 1 << row
        sign = 1.0 if (chosen[level] >> row) & 1 else -1.0
        width = widths[level]
        source = tensor if level == 0 else sums[level - 1]
        total = 0.0
        for column in range(width):
            sums[level, column] += sign * source[row * width + column]
            total += min(sums[level, column], 0.0)
        if level < levels - 1:
            level += 1
        elif total < lowest:
            lowest = total
            best[:] = chosen
            if lowest <= limit:
                return lowest, False
    return lowest, True


@kernel
def _chord_bound(
    matrix: Float64, depth: int, partial: Float64, negative: Float64, positive: Float64, slopes: Float64
) -> tuple[float, bool]:
    """Bound Σ_k min(partial_k + s_k, 0) from below over all choices s of the rows from ``depth`` on.

    Each term is concave in s_k, which lies in [negative_k, positive_k], so it is at least its chord. The
    chords add up to a function that is linear in the choice of each row: minimised row by row. Also says
    whether taking row ``depth`` lowers that linear function.
    """
    rows, columns = matrix.shape
    bound = 0.0
    for column in range(columns):
        low, high = partial[column] + negative[column], partial[column] + positive[column]
        at_low, at_high = min(low, 0.0), min(high, 0.0)
        slopes[column] = (at_high - at_low) / (high - low) if high > low else 0.0
        bound += at_low - slopes[column] * negative[column]
    take_first = False
    for row in range(depth, rows):
        slope = 0.0
        for column in range(columns):
            slope += slopes[column] * matrix[row, column]
        if slope < 0.0:
            bound += slope
            take_first = take_first or row == depth
    return bound, take_first


@kernel
def suffix_sums(matrix: Float64) -> tuple[Float64, Float64]:
    """Return, for each depth, the sums of the negative and the positive parts of the rows from there on."""
    rows, columns = matrix.shape
    negative, positive = np.zeros((rows + 1, columns)), np.zeros((rows + 1, columns))
    for row in range(rows - 1, -1, -1):
        for column in range(columns):
            negative[row, column] = negative[row + 1, column] + min(matrix[row, column], 0.0)
            positive[row, column] = positive[row + 1, column] + max(matrix[row, column], 0.0)
    return negative, positive


@kernel
def branch_and_bound(
    matrix: Float64, target: float, incumbent: float, nodes: int, best: Bits
) -> tuple[float, float, int]:
    """Search the row subsets that minimise the sum over columns of the negative part of the rows' sum.

    Depth-first over rows in their given order. A node is cut when its bound reaches the incumbent, or the
    target where one is asked for. ``best`` receives the subset when the incumbent is beaten. Returns the
    incumbent, a valid lower bound on the minimum and the nodes left; the search ends early when the
    incumbent meets the target (then the bound is minus infinity) or when no nodes are left.
    """
    rows, columns = matrix.shape
    negative, positive = suffix_sums(matrix)
    partial, slopes = np.zeros((rows + 1, columns)), np.empty(columns)
    tried, taken = np.zeros(rows + 1, np.int64), np.zeros(rows + 1, np.uint8)
    bounds = np.full(rows + 1, -np.inf)
    proved, depth = np.inf, 0
    while depth >= 0:
        if tried[depth] == 0:
            nodes -= 1
            bound, take = _chord_bound(
                matrix, depth, partial[depth], negative[depth], positive[depth], slopes
            )
            bounds[depth], taken[depth] = bound, take
            if depth == rows and bound < incumbent:
                incumbent = bound
                best[:] = taken[:rows]
                if incumbent <= target:
                    return incumbent, -np.inf, nodes
            if depth == rows or bound >= incumbent or bound >= target > -np.inf:
                proved = min(proved, bound)
                depth -= 1
                continue
            if nodes <= 0:
                return incumbent, min(proved, bounds[: depth + 1].min()), nodes
        elif tried[depth] == 1:
            taken[depth] = 1 - taken[depth]
        else:
            tried[depth] = 0
            depth -= 1
            continue
        tried[depth] += 1
        tried[depth + 1] = 0
        for column in range(columns):
            partial[depth + 1, column] = partial[depth, column] + taken[depth] * matrix[depth, column]
        depth += 1
    return incumbent, min(proved, incumbent), nodes
