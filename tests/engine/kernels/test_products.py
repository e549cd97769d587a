"""Tiles of products of small matrices, and rows of them, against numpy."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32
from demosaic_ntc.engine.kernels.aggregation import Whole
from demosaic_ntc.engine.kernels.products import (
    COLUMNS,
    LEAST_WEIGHT,
    MOST,
    ROWS,
    VALUE_UNIT,
    centre_tile,
    set_mirrored,
    set_tile,
    solve_tile,
    sum_squares,
    weigh_row,
)
from demosaic_ntc.jit.compiled import fast_kernel
from tests.engine.kernels.drawn import said_in

HERE = np.s_[1 : 1 + ROWS, 16 : 16 + COLUMNS]
ACROSS = np.s_[:, 16 : 16 + COLUMNS]


def drawn(seed: int, *shape: int) -> Float32:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def check_the_rest(out: Float32, before: Float32, written: object) -> None:
    """See that nothing but a part was written to."""
    rest = out.copy()
    rest[written] = before[written]  # type: ignore[call-overload]
    assert np.array_equal(rest, before)


@fast_kernel
def tiled(base: Float32, left: Float32, right: Float32, terms: int, out: Float32) -> None:
    """Write one tile: columns 3 to 6 of the left, from column 16 on, to rows 1 to 4."""
    set_tile(base, left, 3, right, 16, terms, out, 1)


@pytest.mark.parametrize("terms", [0, 1, 2, 7, 20])
def test_a_tile_is_the_product_of_its_rows_and_columns_added_to_a_row(terms: int) -> None:
    base, left, right, out = drawn(0, 6, 48), drawn(1, 20, 9), drawn(2, 20, 40), drawn(3, 7, 33)
    before = out.copy()
    tiled(base, left, right, terms, out)
    expected = base[0, 16:32] + left[:terms, 3 : 3 + ROWS].T.astype(float) @ right[:terms, 16:32]
    assert out[HERE] == pytest.approx(expected, abs=1e-4)
    check_the_rest(out, before, HERE)


@fast_kernel
def mirrored(base: Float32, left: Float32, row: int, terms: int, out: Float32) -> None:
    """Write a tile from column 16 on, half of the base added, and its mirror."""
    set_mirrored(base, np.float32(0.5), left, row, 16, terms, out)


@pytest.mark.parametrize("terms", [0, 1, 9])
@pytest.mark.parametrize("row", [0, 36, 20])  # the last crosses the diagonal
def test_a_tile_of_a_symmetric_matrix_stands_on_both_sides_of_its_diagonal(row: int, terms: int) -> None:
    base, left, out = drawn(4, 40, 40), drawn(5, 12, 40), drawn(6, 40, 40)
    base += base.T
    before = out.copy()
    mirrored(base, left, row, terms, out)
    whole = 0.5 * base + left[:terms].T.astype(float) @ left[:terms]
    tile, mirror = np.s_[row : row + ROWS, 16:32], np.s_[16:32, row : row + ROWS]
    assert out[tile] == pytest.approx(whole[tile], abs=1e-4)
    assert np.array_equal(out[mirror], out[tile].T)
    before[tile] = before[mirror] = out[tile] = out[mirror] = 0
    assert np.array_equal(out, before)


@fast_kernel
def solved(
    base: Float32, factor: Float32, left: Float32, right: Float32, terms: int, row: int, spent: Float32
) -> None:
    """Write four rows of a factor from rows 2, 0, 5 and 5 of the base, from column 16 on."""
    solve_tile(base, 2, 0, 5, 5, factor, left, right, 16, terms, row, spent)


@pytest.mark.parametrize("terms", [0, 1, 4, 8])
def test_rows_of_a_factor_are_solved_and_their_squares_taken_off(terms: int) -> None:
    base, left, right, spent = drawn(7, 6, 48), drawn(8, 8, ROWS), drawn(9, 14, 40), drawn(10, 1, 40)
    lower = np.tril(drawn(11, ROWS, ROWS), -1) + np.diag([0.5, 2.0, 0.25, 1.0]).astype(np.float32)
    factor = lower + np.triu(np.full((ROWS, ROWS), 99, np.float32), 1)  # nobody looks there
    np.fill_diagonal(factor, 1 / np.diag(lower))
    before, left_over = right.copy(), spent.copy()
    solved(base, factor, left, right, terms, 9, spent)
    rest = base[[2, 0, 5, 5], 16:32] - left[:terms].T.astype(float) @ before[:terms, 16:32]
    expected = np.linalg.solve(lower.astype(float), rest)
    assert right[9:13, 16:32] == pytest.approx(expected, rel=1e-3, abs=1e-3)
    assert spent[0, 16:32] == pytest.approx(
        left_over[0, 16:32] - (expected**2).sum(axis=0), rel=1e-3, abs=1e-2
    )
    check_the_rest(right, before, np.s_[9:13, 16:32])
    check_the_rest(spent, left_over, ACROSS)


@fast_kernel
def centred(data: Float32, mean: Float32, rows: int, out: Float32) -> float:
    """Centre sixteen columns of some rows, tripled."""
    return float(centre_tile(data, mean, 16, rows, np.float32(3.0), out))


@pytest.mark.parametrize("rows", [1, 6])
def test_columns_are_centred_and_their_squares_added_up(rows: int) -> None:
    data, mean, out = drawn(12, 6, 40), drawn(13, 2, 40), drawn(14, 6, 40)
    before = out.copy()
    total = centred(data, mean, rows, out)
    expected = 3.0 * (data - mean[0])[:rows, 16:32].astype(float)
    assert out[:rows, 16:32] == pytest.approx(expected, abs=1e-5)
    assert total == pytest.approx((expected**2).sum(), rel=1e-5)
    check_the_rest(out, before, np.s_[:rows, 16:32])


@fast_kernel
def squared(weight: Float32, one: Float32, other: Float32, columns: int) -> float:
    """Compare row 2 of one with row 1 of the other."""
    return float(sum_squares(weight, one, 2, other, 1, columns))


@pytest.mark.parametrize("columns", [0, 16, 48])
def test_weighted_squares_are_added_up_over_whole_steps(columns: int) -> None:
    weight, one, other = drawn(15, 1, 48), drawn(16, 3, 48), drawn(17, 2, 48)
    expected = (weight[0] * (one[2] - other[1]).astype(float) ** 2)[:columns].sum()
    assert squared(weight, one, other, columns) == pytest.approx(expected, abs=1e-4)


@fast_kernel
def weighed(fit: Float32, error: Float32, out: Whole) -> None:
    """Weigh sixteen entries of row 1."""
    weigh_row(fit, error, 1, 16, np.float32(1e-3), out)


def test_entries_weigh_the_inverse_of_their_error_in_whole_numbers() -> None:
    fit, error = drawn(18, 2, 32), np.abs(drawn(19, 2, 32)) * np.float32(0.01)
    fit[1, :4], error[1, :5] = [0.0, -0.25, 1e9, -1e9], [0.0, 0.03, 10.0, 1e-4, 1e6]
    out = np.full(32, 5, np.int64)
    weighed(fit, error, out)
    mass, value = said_in(out[:16])
    weights = np.floor(np.maximum(1 / (error[1, :16] + 1e-3), LEAST_WEIGHT))
    assert np.abs(mass - weights).max() <= 1  # cut off after rounding
    assert mass[2] == mass[4] == LEAST_WEIGHT
    assert (value[2] / mass[2], value[3] / mass[3]) == (MOST, -MOST)  # so that sums cannot overflow
    exact = mass * np.clip(fit[1, :16], -MOST, MOST)
    assert np.abs(value - exact).max() <= 0.5 / VALUE_UNIT + 1e-4
    assert (out[16:] == 5).all()
