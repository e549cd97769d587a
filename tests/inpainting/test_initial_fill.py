"""The first fill of holes, per channel: smooth values across them."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Flags, Planes
from demosaic_ntc.inpainting.smooth_fill import fill_smoothly

Y, X = (axis.astype(np.float32) / 40 for axis in np.mgrid[:32, :36])
RAMPS: Planes = np.stack([Y, X, Y + X])


def known_but(*parts: tuple[slice | int, ...]) -> Flags:
    """Return flags of three channels of 32×36 without some entries."""
    known = np.ones((3, 32, 36), np.bool_)
    for part in parts:
        known[part] = False
    return known


def damaged(known: Flags) -> Planes:
    return np.where(known, RAMPS, np.float32(0))


def test_each_channel_has_holes_of_its_own() -> None:
    known = known_but(np.s_[0, 8:11, 8:20], np.s_[1:, 20:22, 4:9])
    estimate = fill_smoothly(damaged(known), known)
    np.testing.assert_allclose(estimate, RAMPS, atol=5e-3)
    assert np.array_equal(estimate[known], RAMPS[known])


def test_what_stands_in_a_hole_does_not_matter_and_the_input_stays() -> None:
    known = known_but(np.s_[:, 8:11, 8:20])
    planes = np.where(known, RAMPS, np.float32(9))
    before = planes.copy()
    assert np.array_equal(fill_smoothly(planes, known), fill_smoothly(damaged(known), known))
    assert np.array_equal(planes, before)


def test_a_channel_without_data_becomes_the_mean_of_the_others() -> None:
    known = known_but(np.s_[1, :, :], np.s_[0, 5, 5])
    estimate = fill_smoothly(damaged(known), known)
    assert np.array_equal(estimate[1], estimate[[0, 2]].mean(axis=0))


def test_where_nothing_is_known_the_planes_stay() -> None:
    planes = np.full((2, 6, 5), 0.3, np.float32)
    assert np.array_equal(fill_smoothly(planes, np.zeros((2, 6, 5), np.bool_)), planes)


@pytest.mark.parametrize("shape", [(1, 1, 2), (2, 2, 3), (1, 5, 1)])
def test_tiny_pictures_have_holes_too(shape: tuple[int, int, int]) -> None:
    known = np.ones(shape, np.bool_)
    known[:, -1, -1] = False
    planes = np.where(known, np.float32(0.5), np.float32(0))
    assert fill_smoothly(planes, known) == pytest.approx(0.5)
