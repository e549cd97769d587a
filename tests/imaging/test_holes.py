"""Holes of a picture, per channel: smooth values across them, and how far they are trusted."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.imaging.holes import Holes
from demosaic_ntc.imaging.kinds import Kind
from demosaic_ntc.imaging.repair import Spread

Planes = NDArray[np.float32]
Flags = NDArray[np.bool_]

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
    estimate = Holes(known).first_estimate(damaged(known))
    np.testing.assert_allclose(estimate, RAMPS, atol=5e-3)
    assert np.array_equal(estimate[known], RAMPS[known])


def test_a_channel_without_data_becomes_the_mean_of_the_others() -> None:
    known = known_but(np.s_[1, :, :], np.s_[0, 5, 5])
    estimate = Holes(known).first_estimate(damaged(known))
    assert np.array_equal(estimate[1], estimate[[0, 2]].mean(axis=0))


def test_where_nothing_is_known_the_planes_stay() -> None:
    holes = Holes(np.zeros((2, 6, 5), np.bool_))
    planes = np.full((2, 6, 5), 0.3, np.float32)
    assert np.array_equal(holes.first_estimate(planes), planes)
    assert not holes.spread_smoothly(planes).any()
    assert not holes.spread_nearby(planes).any()
    assert (holes.trust(0.1) == np.float32(0.1)).all()


def test_a_pixel_is_of_the_kind_that_all_channels_make() -> None:
    known = known_but(np.s_[0, 10:26, 10:18], np.s_[1, 10:26, 18:26])
    kinds = Holes(known).kinds
    assert (kinds[10:26, 10:26] == Kind.DEEP).all()
    assert (kinds[:10] == Kind.KNOWN).all()


def test_trust_falls_with_every_pixel_into_a_hole() -> None:
    trust = Holes(known_but(np.s_[1, 10:15, 10:30])).trust(0.5)
    assert trust[1, 9:16, 20].tolist() == pytest.approx([1, 0.5, 0.325, 0.21125, 0.325, 0.5, 1])
    assert (trust[[0, 2]] == 1).all()


def test_trust_never_vanishes() -> None:
    known = np.ones((1, 700, 700), np.bool_)
    known[:, 1:-1, 1:-1] = False
    trust = Holes(known).trust(0.01)
    assert (trust[0, 1:350, 350] > 0).all()
    assert (np.diff(trust[0, :350, 350]) <= 0).all()
    assert np.square(trust, dtype=np.float32).min() > np.finfo(np.float32).tiny


@pytest.mark.parametrize("spread", [Holes.spread_smoothly, Holes.spread_nearby])
def test_residuals_of_known_entries_stay_and_those_of_missing_ones_do_not_count(spread: Spread) -> None:
    holes = Holes(known_but(np.s_[:, 10:14, 10:20], np.s_[2, 20, :]))
    residual = np.random.default_rng(0).normal(size=RAMPS.shape).astype(np.float32)
    spoiled = np.where(holes.missing, np.float32(99), residual)
    result = spread(holes, residual)
    assert np.array_equal(result[~holes.missing], residual[~holes.missing])
    assert np.array_equal(spread(holes, spoiled), result)


def test_a_smooth_residual_is_continued_through_a_hole() -> None:
    holes = Holes(known_but(np.s_[:, 10:14, 10:20]))
    np.testing.assert_allclose(holes.spread_smoothly(RAMPS), RAMPS, atol=2e-2)


def test_a_residual_nearby_is_felt_at_the_rim_and_not_in_the_middle() -> None:
    holes = Holes(known_but(np.s_[:, 6:26, 6:26]))
    spread = holes.spread_nearby(np.ones_like(RAMPS))
    assert spread[:, 6:26, 6] == pytest.approx(1.0, abs=1e-4)
    assert np.abs(spread[:, 14:18, 14:18]).max() < 1e-4


@pytest.mark.parametrize("shape", [(1, 1, 2), (2, 2, 3), (1, 5, 1)])
def test_tiny_pictures_have_holes_too(shape: tuple[int, int, int]) -> None:
    known = np.ones(shape, np.bool_)
    known[:, -1, -1] = False
    planes = np.where(known, np.float32(0.5), np.float32(0))
    holes = Holes(known)
    assert holes.first_estimate(planes) == pytest.approx(0.5)
    assert holes.kinds[-1, -1] != Kind.KNOWN
