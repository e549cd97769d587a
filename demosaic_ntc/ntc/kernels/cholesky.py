"""A Cholesky factor that grows and shrinks by a row, for the least-norm point of an affine hull."""

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.jit.compiled import fast_kernel, kernel, step


@fast_kernel
def append_to_cholesky(gram: Float64, factor: Float64, count: int) -> float:
    """Extend the lower factor of (gram + 1) by row ``count``; return the new squared pivot.

    A pivot near zero says that the new point lies in the affine hull of the others.
    """
    pivot: float = gram[count, count] + 1.0
    for row in range(count):
        entry = gram[count, row] + 1.0
        for column in range(row):
            entry -= factor[row, column] * factor[count, column]
        entry /= factor[row, row]
        factor[count, row] = entry
        pivot -= entry * entry
    factor[count, count] = np.sqrt(max(pivot, 0.0))
    return pivot


@step
def remove_from_cholesky(factor: Float64, count: int, removed: int) -> None:
    """Delete row ``removed`` of the matrix whose lower factor this is, by Givens rotations."""
    for row in range(removed, count - 1):
        for column in range(row + 2):
            factor[row, column] = factor[row + 1, column]
    for column in range(removed, count - 1):
        diagonal, beside = factor[column, column], factor[column, column + 1]
        length = np.hypot(diagonal, beside)
        cosine, sine = diagonal / length, beside / length
        for row in range(column, count - 1):
            left, right = factor[row, column], factor[row, column + 1]
            factor[row, column] = cosine * left + sine * right
            factor[row, column + 1] = cosine * right - sine * left


@fast_kernel
def affine_minimiser(factor: Float64, count: int) -> Float64:
    """Return the weights, summing to one, of the least-norm point in the affine hull: (gram + 1) u = 1."""
    weights = np.ones(count)
    for row in range(count):
        for column in range(row):
            weights[row] -= factor[row, column] * weights[column]
        weights[row] /= factor[row, row]
    for row in range(count - 1, -1, -1):
        weights[row] /= factor[row, row]
        for column in range(row):
            weights[column] -= factor[row, column] * weights[row]
    weights /= weights.sum()
    return weights


@kernel
def delete_row_and_column(matrix: Float64, count: int, removed: int) -> None:
    """Close the gap that a row and column leave in the leading ``count`` rows of a square matrix."""
    for row in range(count):
        source = row if row < removed else row + 1
        if source == count:
            break
        for column in range(removed):
            matrix[row, column] = matrix[source, column]
        for column in range(removed, count - 1):
            matrix[row, column] = matrix[source, column + 1]
