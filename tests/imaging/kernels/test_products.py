"""Tiles of products of small matrices against numpy."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32
from demosaic_ntc.compiled import fast_kernel
from demosaic_ntc.imaging.kernels.products import COLUMNS, ROWS, set_tile

AT = (2, 0, 5, 5)


@fast_kernel
def written(base: Float32, left: Float32, right: Float32, terms: int, out: Float32) -> None:
    """Write one tile: columns 3 to 6 of the left, from column 16 on, to rows 1 to 4."""
    set_tile(base, 2, 0, 5, 5, left, 3, right, 16, terms, out, 1)


def drawn(seed: int, *shape: int) -> Float32:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("terms", [0, 1, 2, 7, 20])
def test_a_tile_is_the_product_of_its_rows_and_columns_added_to_those_of_the_base(terms: int) -> None:
    base, left, right, out = drawn(0, 6, 48), drawn(1, 20, 9), drawn(2, 20, 40), drawn(3, 7, 33)
    before = out.copy()
    written(base, left, right, terms, out)
    expected = base[list(AT), 16:32] + left[:terms, 3 : 3 + ROWS].T.astype(float) @ right[:terms, 16:32]
    assert out[1 : 1 + ROWS, 16 : 16 + COLUMNS] == pytest.approx(expected, abs=1e-4)
    out[1 : 1 + ROWS, 16 : 16 + COLUMNS] = before[1 : 1 + ROWS, 16 : 16 + COLUMNS]
    assert np.array_equal(out, before)


def test_a_base_may_be_what_is_written() -> None:
    left, right, out = drawn(4, 5, 9), drawn(5, 5, 40), drawn(6, 8, 40)
    base = out[list(AT), 16:32].copy()
    written(out, left, right, 5, out)
    expected = base + left[:, 3 : 3 + ROWS].T.astype(float) @ right[:, 16:32]
    assert out[1 : 1 + ROWS, 16 : 16 + COLUMNS] == pytest.approx(expected, abs=1e-4)
