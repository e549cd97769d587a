"""Choices by bits are those of numpy, whatever the type, the strides and the values."""

from typing import Any

import numpy as np
import pytest

from demosaic_ntc.arrays import select, zero_where

TYPES = ["u1", "u2", ">u2", "i4", "u8", "f2", "f4", ">f4", "f8", "longdouble"]


def _values(seed: int, dtype: Any) -> Any:
    values = (np.random.default_rng(seed).random((7, 9, 3)) * 200).astype(dtype)
    if values.dtype.kind == "f":
        values[0, :3, 0] = np.nan, np.inf, -0.0
    return values


@pytest.mark.parametrize("dtype", TYPES)
def test_choices_are_those_of_numpy(dtype: str) -> None:
    flags = np.random.default_rng(2).random((7, 9)) < 0.5
    one, other = _values(0, dtype)[..., 1], _values(1, dtype)[..., 0]
    made = select(flags, one, other)
    assert made.dtype == other.dtype
    assert made.tobytes() == np.where(flags, one, other).astype(dtype).tobytes()
    some = np.asarray(one[2, 2])
    np.testing.assert_array_equal(select(flags, some, other), np.where(flags, some, other))


def test_zeros_replace_whatever_stands_there() -> None:
    flags = np.random.default_rng(2).random((3, 7, 9)) < 0.5
    flags[0, 0] = True
    values = np.moveaxis(_values(0, np.float32), 2, 0)
    expected = np.where(flags, np.float32(0), values)
    zero_where(flags, values)
    np.testing.assert_array_equal(values, expected)
    assert values[0, 0, :3].tolist() == [0.0, 0.0, 0.0]
