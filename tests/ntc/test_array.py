"""Arrays with missing entries in, arrays of the same kind without them out."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy import sparse as scipy_sparse

from demosaic_ntc import Solution, complete, complete_array
from demosaic_ntc.errors import InputError

GENERATOR = np.random.default_rng(0)
FACTORS = [GENERATOR.random((3, size)) < 0.6 for size in (8, 7, 6)]
TRUTH = np.einsum("s,si,sj,sk->ijk", np.array([0.5, 0.3, 0.2]), *FACTORS)
MISSING = GENERATOR.random(TRUTH.shape) < 0.4
HOLED = np.where(MISSING, np.nan, TRUTH)
SPOILT = np.where(MISSING, 9.0, TRUTH)


def error(filled: Any) -> float:
    """Return the error at missing entries, relative to the truth there."""
    return float(np.sum((filled - TRUTH)[MISSING] ** 2) / np.sum(TRUTH[MISSING] ** 2))


@pytest.mark.parametrize(
    ("array", "mask"),
    [
        (HOLED, None),
        (SPOILT, MISSING),
        (SPOILT, MISSING.astype(np.uint8)),
        (np.ma.MaskedArray(SPOILT, MISSING), None),
        (np.where(np.arange(6) < 3, HOLED, SPOILT), MISSING),
    ],
    ids=["nan", "mask", "mask of numbers", "masked array", "nan and mask"],
)
def test_missing_entries_are_filled_and_known_ones_stay(array: Any, mask: Any) -> None:
    before = np.array(np.ma.getdata(array))
    filled = complete_array(array, mask)
    assert type(filled) is np.ndarray
    assert error(filled) < 0.02
    np.testing.assert_array_equal(filled[~MISSING], TRUTH[~MISSING])
    np.testing.assert_array_equal(np.ma.getdata(array), before)


def test_the_solution_and_the_options_are_those_of_complete() -> None:
    filled, solution = complete_array(
        HOLED, return_solution=True, radius="least", descent="simplex", gap=1e-3
    )
    same = complete(
        TRUTH.shape, np.argwhere(~MISSING), TRUTH[~MISSING], radius="least", descent="simplex", gap=1e-3
    )
    assert isinstance(solution, Solution)
    np.testing.assert_allclose(filled[MISSING], same.dense()[MISSING], atol=1e-12)
    assert solution.iterations == same.iterations


@pytest.mark.parametrize(
    ("kind", "result"), [("float32", "float32"), ("uint8", "float64"), ("bool", "float64")]
)
def test_floats_keep_their_precision(kind: str, result: str) -> None:
    filled = complete_array((HOLED if kind == "float32" else TRUTH > 0).astype(kind), MISSING)
    assert filled.dtype == result


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
@pytest.mark.parametrize("make", [scipy_sparse.coo_array, scipy_sparse.coo_matrix])
def test_matrices_of_scipy_come_back_as_they_were(form: str, make: Any) -> None:
    truth = TRUTH[:, :, 0]
    stored = np.argwhere(GENERATOR.random(truth.shape) < 0.8)
    values = np.where(MISSING, np.nan, TRUTH)[:, :, 0][tuple(stored.T)]
    given = make((values, tuple(stored.T)), shape=truth.shape).asformat(form)
    filled, solution = complete_array(given, return_solution=True)
    assert (type(filled), filled.shape, filled.nnz) == (type(given), given.shape, given.nnz)
    at = filled.tocoo()
    np.testing.assert_array_equal(
        np.stack([at.row, at.col]), np.stack([given.tocoo().row, given.tocoo().col])
    )
    known = ~np.isnan(given.tocoo().data)
    np.testing.assert_array_equal(at.data[known], given.tocoo().data[known])
    np.testing.assert_array_equal(at.data[~known], solution.at(np.stack([at.row, at.col], 1)[~known]))
    assert np.isnan(given.data).any()


def test_repeated_entries_of_a_matrix_are_summed_as_scipy_means_them() -> None:
    given = scipy_sparse.coo_array(([0.25, 0.5, np.nan], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    filled = complete_array(given)
    assert filled.nnz == 2
    assert filled.toarray()[0, 0] == 0.75
    assert given.nnz == 3


class Coo:
    """What `sparse.COO` offers."""

    def __init__(self, coords: Any, data: Any, shape: tuple[int, ...]) -> None:
        self.coords, self.data, self.shape = np.array(coords), np.array(data), shape


def coo_classes() -> list[Any]:
    """Return the stand-in, and the class itself where it is installed."""
    return [Coo, import_module("sparse").COO] if find_spec("sparse") else [Coo]


@pytest.mark.parametrize("make", coo_classes())
def test_sparse_tensors_come_back_as_they_were(make: Any) -> None:
    index = np.argwhere(np.ones(TRUTH.shape, bool))[::2]
    given = make(index.T, HOLED[tuple(index.T)], shape=TRUTH.shape)
    filled = complete_array(given)
    assert (type(filled), filled.shape) == (make, TRUTH.shape)
    np.testing.assert_array_equal(filled.coords, given.coords)
    known = ~np.isnan(given.data)
    np.testing.assert_array_equal(filled.data[known], given.data[known])
    assert np.isfinite(filled.data).all()
    assert np.mean((filled.data - TRUTH[tuple(index.T)]) ** 2) < 0.1 * np.mean(TRUTH**2)


@pytest.mark.parametrize(
    ("array", "mask", "words"),
    [
        (HOLED, MISSING[0], "give booleans of shape \\(8, 7, 6\\)"),
        (HOLED, MISSING.astype(float), "mask is float64"),
        ("text", None, "not an array of real numbers"),
        (1.0, None, "at least one dimension"),
        (TRUTH * 1j, None, "not an array of real numbers"),
        (-TRUTH, None, "at least 0"),
        (np.full((2, 2), np.nan), None, "at least one sample"),
        (scipy_sparse.coo_array(np.eye(2)), np.eye(2, dtype=bool), "store NaN"),
    ],
)
def test_bad_arrays_are_explained(array: Any, mask: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        complete_array(array, mask)
