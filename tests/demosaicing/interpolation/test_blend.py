import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.blend import (
    blend,
    mean_error,
    total_error,
    try_both,
    try_quickly,
    weigh,
    weigh_alone,
)

Floats = NDArray[np.float32]


def test_the_result_does_not_depend_on_the_number_of_threads(scene: Floats) -> None:
    cfa = Cfa.from_name("BGGR")
    one, two = (blend(cfa.sample(scene), cfa, threads) for threads in (1, 2))
    assert np.array_equal(one.image, two.image)
    assert np.array_equal(one.confidence, two.confidence)


@pytest.mark.parametrize("array", ["RGGB", "XTRANS"])
def test_the_blend_lies_between_its_two_guesses(array: str, scene: Floats) -> None:
    cfa = Cfa.from_name(array)
    result = blend(cfa.sample(scene), cfa)
    low = np.minimum(result.trial.smooth, result.trial.residual)
    high = np.maximum(result.trial.smooth, result.trial.residual)
    assert ((low - 1e-6 <= result.image) & (result.image <= high + 1e-6)).all()
    assert ((result.confidence >= 0) & (result.confidence <= 1)).all()


def test_grey_texture_has_confidence_and_unrelated_channels_have_none() -> None:
    y, x = np.mgrid[0:96, 0:96]
    rings = 0.5 + 0.4 * np.cos(0.012 * ((x - 48) ** 2 + (y - 48) ** 2))
    grey = np.repeat(rings[..., None], 3, axis=2).astype(np.float32)
    blocks = np.kron(np.random.default_rng(3).random((16, 16, 3)), np.ones((6, 6, 1))).astype(np.float32)
    cfa = Cfa.from_name("RGGB")
    assert blend(cfa.sample(grey), cfa).confidence.mean() > 0.9
    assert blend(cfa.sample(blocks), cfa).confidence.mean() < 0.1


def test_total_errors_of_tiles_add_up_exactly() -> None:
    error = np.random.default_rng(0).random((50, 60), dtype=np.float32) ** 8
    parts = [error[:17], error[17:, :23], error[17:, 23:]]
    assert total_error(error) == sum(map(total_error, parts))
    assert mean_error(total_error(error), error.size) == pytest.approx(error.mean(), rel=1e-5)


def test_weighing_a_trial_by_its_own_means_is_the_blend(scene: Floats) -> None:
    cfa = Cfa.from_name("GRBG")
    trial = try_both(cfa.sample(scene), cfa)
    means = [
        mean_error(total_error(error), error.size) for error in (trial.smooth_error, trial.residual_error)
    ]
    assert np.array_equal(weigh(trial, *means).image, blend(cfa.sample(scene), cfa).image)


def test_quick_trials_blend_the_same_two_guesses_by_another_confidence(scene: Floats) -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(scene)
    quick, slow = try_quickly(mosaic, cfa, threads=2), try_both(mosaic, cfa)
    assert np.array_equal(quick.smooth, slow.smooth)
    assert np.array_equal(quick.residual, slow.residual)
    assert (
        np.abs(weigh_alone(quick).image - scene).mean() < 1.1 * np.abs(weigh_alone(slow).image - scene).mean()
    )
