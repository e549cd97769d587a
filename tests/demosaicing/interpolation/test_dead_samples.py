import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.dead_samples import replace_missing_samples
from samples.scene import scene

Floats = NDArray[np.float32]


def _mean_of_the_nearest(mosaic: Floats) -> Floats:
    """The mean of the four samples two steps away, which have the same colour on a Bayer array."""
    return np.asarray(sum(np.roll(mosaic, step, axis) for step in (-2, 2) for axis in (0, 1)) / 4)


def _dead(shape: tuple[int, ...], share: float) -> NDArray[np.bool_]:
    return np.random.default_rng(0).random(shape) < share


@pytest.mark.parametrize("array", ["RGGB", "GBRG", "X-Trans", "quad-rggb"])
def test_a_flat_colour_comes_back(array: str) -> None:
    cfa = Cfa.from_name(array)
    mosaic = cfa.sample(np.full((48, 60, 3), (0.7, 0.4, 0.2), np.float32))
    missing = _dead(mosaic.shape, 0.02)
    assert replace_missing_samples(np.where(missing, 0, mosaic), missing, cfa) == pytest.approx(
        mosaic, abs=1e-3
    )


@pytest.mark.parametrize("share", [0.002, 0.02])
@pytest.mark.slow
def test_texture_is_met_much_closer_than_by_the_nearest_of_the_same_colour(share: float) -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(scene(192, 256).astype(np.float32))
    missing = _dead(mosaic.shape, share)
    filled = replace_missing_samples(np.where(missing, 0, mosaic), missing, cfa)
    error, plain = filled - mosaic, _mean_of_the_nearest(mosaic) - mosaic
    assert np.sqrt(np.square(error[missing]).mean()) < 0.65 * np.sqrt(np.square(plain[missing]).mean())
    assert (filled[~missing] == mosaic[~missing]).all()


def test_a_dead_column_does_not_draw_on_itself() -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(scene(96, 128).astype(np.float32))
    missing = np.zeros(mosaic.shape, bool)
    missing[:, 40] = True
    filled = [replace_missing_samples(np.where(missing, wrong, mosaic), missing, cfa) for wrong in (0, 1)]
    assert (filled[0] == filled[1]).all()
    sides = (np.roll(mosaic, 2, 1) + np.roll(mosaic, -2, 1)) / 2
    error, plain = filled[0] - mosaic, sides - mosaic
    assert np.square(error[missing]).mean() < np.square(plain[missing]).mean()


def test_corners_are_filled() -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(np.full((30, 30, 3), (0.7, 0.4, 0.2), np.float32))
    missing = np.zeros(mosaic.shape, bool)
    missing[[0, 0, -1, -1], [0, -1, 0, -1]] = True
    assert replace_missing_samples(np.where(missing, 1, mosaic), missing, cfa) == pytest.approx(
        mosaic, abs=1e-3
    )


def test_holes_are_left_to_the_mean_of_their_colour() -> None:
    """A hole whose centre has no known neighbour, and so many that no example is whole."""
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(np.full((64, 64, 3), (0.7, 0.4, 0.2), np.float32))
    hole = np.zeros(mosaic.shape, bool)
    hole[20:26, 20:26] = True
    for missing in (hole, _dead(mosaic.shape, 0.6)):
        filled = replace_missing_samples(np.where(missing, 1, mosaic), missing, cfa)
        assert filled == pytest.approx(mosaic, abs=1e-3)


def test_predictions_stay_within_what_was_measured() -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = (np.random.default_rng(1).random((64, 64)) > 0.5).astype(np.float32)
    missing = _dead(mosaic.shape, 0.03)
    filled = replace_missing_samples(mosaic, missing, cfa)
    assert (filled.min(), filled.max()) == (0, 1)
