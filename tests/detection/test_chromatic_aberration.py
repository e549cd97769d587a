"""Lateral colour fringes: scales come back, pictures come closer, clean ones stay as they are."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.detection.chromatic_aberration import Fringes, correct_fringes, find_fringes
from demosaic_ntc.errors import InputError

Floats = NDArray[np.float32]


@pytest.fixture(scope="module")
def truth() -> Floats:
    """A picture of soft spots whose colours follow each other, as those of things do."""
    grey = gaussian_filter(np.random.default_rng(4).random((420, 600)), 2.0)
    grey = (grey - grey.min()) / np.ptp(grey)
    tint = gaussian_filter(np.random.default_rng(5).random((420, 600, 3)), (40, 40, 0))
    return np.asarray(np.clip(grey[..., None] * (0.7 + 3 * (tint - 0.5)), 0, 1), dtype=np.float32)


def _drawn(truth: Floats, fringes: Fringes) -> Floats:
    """The picture as a lens draws it."""
    drawn = truth.copy()
    middle = [(length - 1) / 2 for length in truth.shape[:2]]
    places = np.indices(truth.shape[:2]).astype(float)
    for channel, scale in ((0, fringes.red), (2, fringes.blue)):
        seen = [m + (1 + scale) * (place - m) for m, place in zip(middle, places, strict=True)]
        drawn[..., channel] = map_coordinates(truth[..., channel], seen, order=3, mode="nearest")
    return drawn


@pytest.mark.parametrize("name", ["RGGB", "GBRG"])
@pytest.mark.parametrize(("red", "blue"), [(0.002, -0.003), (-0.0015, 0.0), (0.004, 0.004)])
def test_scales_are_found(truth: Floats, name: str, red: float, blue: float) -> None:
    found = find_fringes(Cfa.from_name(name).sample(_drawn(truth, Fringes(red, blue))), Cfa.from_name(name))
    assert (found.red, found.blue) == pytest.approx((red, blue), abs=4e-4)


def test_a_clean_picture_has_none_and_stays(truth: Floats) -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(truth)
    found = find_fringes(mosaic, cfa)
    assert not found.any
    assert np.array_equal(correct_fringes(mosaic, cfa, found), mosaic)


def test_pictures_come_closer_and_green_stays(truth: Floats) -> None:
    cfa, fringes = Cfa.from_name("GRBG"), Fringes(0.003, -0.003)
    mosaic = cfa.sample(_drawn(truth, fringes))
    mended = correct_fringes(mosaic, cfa, find_fringes(mosaic, cfa))
    green = cfa.masks(mosaic.shape)[..., 1]
    assert np.array_equal(mended[green], mosaic[green])

    def error(samples: Floats) -> float:
        picture = demosaic(np.clip(samples, 0, 1), cfa, method="malvar", white=1.0).image
        return float(np.square(picture - truth)[12:-12, 12:-12].mean())

    assert error(mended) < 0.3 * error(mosaic)


def test_noise_and_flat_pictures_have_none() -> None:
    cfa, generator = Cfa.from_name("RGGB"), np.random.default_rng(6)
    assert not find_fringes(generator.random((300, 300), np.float32), cfa).any
    assert not find_fringes(np.full((300, 300), 0.4, np.float32), cfa).any
    assert not find_fringes(np.full((4, 6), 0.4, np.float32), cfa).any


def test_other_arrays_are_refused() -> None:
    with pytest.raises(InputError, match="Bayer"):
        find_fringes(np.ones((24, 24), np.float32), Cfa.from_name("XTRANS"))


def _between(plane: Floats, row: float, column: float) -> float:
    """A plane between its samples, linearly; beyond the border the last one goes on."""
    row, column = (min(max(x, 0.0), n - 1.0) for x, n in zip((row, column), plane.shape, strict=True))
    y, x = min(int(row), plane.shape[0] - 2), min(int(column), plane.shape[1] - 2)
    v, u = row - y, column - x
    upper = (1 - u) * plane[y, x] + u * plane[y, x + 1]
    return float((1 - v) * upper + v * ((1 - u) * plane[y + 1, x] + u * plane[y + 1, x + 1]))


def test_every_sample_is_green_and_the_difference_where_its_colour_shows_it() -> None:
    """Against a plain loop over the red sites of a random mosaic."""
    cfa, scale = Cfa.from_name("RGGB"), 0.06
    mosaic = np.random.default_rng(7).random((20, 24), np.float32)
    green = demosaic(mosaic, cfa, method="bilinear", white=1.0).image[..., 1]
    middle = [(length - 1) / 2 for length in mosaic.shape]
    difference = np.empty((10, 12), np.float32)
    for row, column in np.ndindex(difference.shape):
        seen = [m + (1 + scale) * (2 * at - m) for m, at in zip(middle, (row, column), strict=True)]
        difference[row, column] = mosaic[2 * row, 2 * column] - _between(green, *seen)
    mended = correct_fringes(mosaic, cfa, Fringes(red=scale))
    for row, column in ((2, 3), (4, 9), (7, 2), (8, 10)):
        shown = [(m + (1 - scale) * (2 * at - m)) / 2 for m, at in zip(middle, (row, column), strict=True)]
        expected = green[2 * row, 2 * column] + _between(difference, *shown)
        assert mended[2 * row, 2 * column] == pytest.approx(expected, abs=1e-4)
