"""Lateral colour fringes: scales come back, pictures come closer, clean ones stay as they are."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, spline_filter

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.demosaicing.interpolation.bayer import zhang_wu2005
from demosaic_ntc.detection import chromatic_aberration
from demosaic_ntc.detection.chromatic_aberration import Fringes, correct_fringes, find_fringes
from demosaic_ntc.detection.spline_kernels import add_between, filter_splines, subtract_between
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
        seen = [m + (place - m) / (1 + scale) for m, place in zip(middle, places, strict=True)]
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

    assert error(mended) < 0.2 * error(mosaic)


def test_noise_and_flat_pictures_have_none() -> None:
    cfa, generator = Cfa.from_name("RGGB"), np.random.default_rng(6)
    assert not find_fringes(generator.random((300, 300), np.float32), cfa).any
    assert not find_fringes(np.full((300, 300), 0.4, np.float32), cfa).any
    assert not find_fringes(np.full((4, 6), 0.4, np.float32), cfa).any


def test_other_arrays_are_refused() -> None:
    with pytest.raises(InputError, match="Bayer"):
        find_fringes(np.ones((24, 24), np.float32), Cfa.from_name("XTRANS"))


def _between(plane: Floats, row: float, column: float) -> float:
    """A plane between its samples, by cubic splines; beyond the border the last one goes on."""
    row, column = (min(max(x, 0.0), n - 1.0) for x, n in zip((row, column), plane.shape, strict=True))
    coefficients = spline_filter(plane.astype(np.float64), 3)
    value = map_coordinates(coefficients, [[row], [column]], order=3, mode="mirror", prefilter=False)
    return float(value[0])


@pytest.mark.parametrize("shape", [(9, 14), (40, 60), (2, 3), (1, 5), (6, 1), (1, 1)])
def test_coefficients_of_splines_are_those_of_scipy(shape: tuple[int, int]) -> None:
    plane = np.random.default_rng(8).random(shape, np.float32)
    found = plane.copy()
    filter_splines(found)
    expected = spline_filter(plane.astype(np.float64), 3) if min(shape) > 1 else plane.astype(np.float64)
    if min(shape) == 1 < max(shape):  # scipy leaves lines of one sample alone, as we do
        expected = spline_filter(plane.astype(np.float64).ravel(), 3).reshape(shape)
    np.testing.assert_allclose(found, expected, atol=5e-6)


def _spread_nodes(nodes: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Offsets of sites, bilinear between nodes at every eighth of them."""
    y, x = (np.arange(length) / 8 for length in shape)
    places = np.meshgrid(y, x, indexing="ij")
    return np.stack([map_coordinates(each, places, order=1) for each in nodes])


@pytest.mark.parametrize("is_cubic", [True, False])
@pytest.mark.parametrize("shape", [(21, 30), (3, 4), (1, 5)])
def test_planes_are_read_between_samples_as_by_scipy(shape: tuple[int, int], is_cubic: bool) -> None:
    """What is subtracted and added, within the planes and beyond them, for splines and straight lines."""
    generator, order = np.random.default_rng(9), 3 if is_cubic else 1
    green = generator.random((2 * shape[0], 2 * shape[1]), np.float32)
    samples, own = generator.random(shape, np.float32), generator.random(shape, np.float32)
    nodes = generator.uniform(-5, 5, (2, shape[0] // 8 + 2, shape[1] // 8 + 2))
    offsets, sites = _spread_nodes(nodes, shape), np.indices(shape).astype(float)

    def read(plane: Floats, places: NDArray[np.float64]) -> NDArray[np.float64]:
        clamped = np.clip(places, 0, np.array(plane.shape)[:, None, None] - 1)
        return np.asarray(map_coordinates(plane.astype(np.float64), clamped, order=order, mode="mirror"))

    def filtered(plane: Floats) -> Floats:
        kept = plane.copy()
        if is_cubic:
            filter_splines(kept)
        return kept

    found, moved = np.empty(shape, np.float32), np.empty(shape, np.float32)
    subtract_between(filtered(green), samples, nodes, np.array([1.0, 0.0]), float(is_cubic), found)
    place = np.stack([2 * sites[0] + 1 - offsets[0], 2 * sites[1] - offsets[1]])
    np.testing.assert_allclose(found, samples - read(green, place), atol=2e-5)
    level, shown = np.float32(0.9), sites + offsets / 2
    add_between(filtered(found), own, samples, nodes, float(is_cubic), level, moved)
    rows, columns = (
        np.clip(np.rint(each), 0, n - 1).astype(int) for each, n in zip(shown, shape, strict=True)
    )
    expected = np.minimum(own + read(found, shown), level)
    np.testing.assert_allclose(moved, np.where(samples[rows, columns] >= level, level, expected), atol=3e-5)


def test_bands_of_rows_leave_no_seams(truth: Floats, monkeypatch: pytest.MonkeyPatch) -> None:
    cfa, fringes = Cfa.from_name("GBRG"), Fringes(0.004, -0.003)
    mosaic = cfa.sample(_drawn(truth, fringes))
    whole = correct_fringes(mosaic, cfa, fringes)
    monkeypatch.setattr(chromatic_aberration, "_BAND", 48)
    monkeypatch.setattr(chromatic_aberration, "_GREEN_BAND", 32)
    np.testing.assert_allclose(correct_fringes(mosaic, cfa, fringes), whole, atol=2e-6)


def test_every_sample_is_green_and_the_difference_where_its_colour_shows_it() -> None:
    """Against a plain loop over the red sites of a random mosaic."""
    cfa, scale = Cfa.from_name("RGGB"), 0.06
    mosaic = np.random.default_rng(7).random((20, 24), np.float32)
    green = zhang_wu2005(mosaic, cfa)[..., 1]
    stated = (0.3, -0.4)
    fringes = Fringes(scale, 0.0, lambda rows, columns, channel: _constant(rows, stated, channel))
    middle = [(length - 1) / 2 for length in mosaic.shape]
    difference = np.empty((10, 12), np.float32)
    for row, column in np.ndindex(difference.shape):
        own = _offset((row, column), middle, scale, stated)
        difference[row, column] = mosaic[2 * row, 2 * column] - _between(
            green, 2 * row - own[0], 2 * column - own[1]
        )
    mended = correct_fringes(mosaic, cfa, fringes)
    for row, column in ((2, 3), (4, 9), (7, 2), (8, 10)):
        own = _offset((row, column), middle, scale, stated)
        expected = green[2 * row, 2 * column] + _between(difference, row + own[0] / 2, column + own[1] / 2)
        assert mended[2 * row, 2 * column] == pytest.approx(expected, abs=1e-4)


def _constant(
    rows: NDArray[np.float64], stated: tuple[float, float], channel: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Offsets of red that are alike everywhere."""
    there = np.ones_like(rows) * (channel == 0)
    return stated[0] * there, stated[1] * there


def _offset(
    site: tuple[int, int], middle: list[float], scale: float, stated: tuple[float, float]
) -> list[float]:
    """How far red lies off at a site, down and across."""
    return [scale * (2 * at - m) + own for at, m, own in zip(site, middle, stated, strict=True)]


def test_what_is_stated_is_moved_and_what_it_leaves_is_found(truth: Floats) -> None:
    cfa, drawn = Cfa.from_name("RGGB"), Fringes(0.004, -0.003)

    def state_half(
        rows: NDArray[np.float64], columns: NDArray[np.float64], channel: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        share = {0: 0.002, 2: -0.0015}[channel]
        return share * (rows - (truth.shape[0] - 1) / 2), share * (columns - (truth.shape[1] - 1) / 2)

    found = find_fringes(cfa.sample(_drawn(truth, drawn)), cfa, state_half)
    assert (found.red, found.blue) == pytest.approx((0.002, -0.0015), abs=3e-4)


def test_saturated_samples_stay_so_where_they_are_moved_to() -> None:
    cfa = Cfa.from_name("RGGB")
    picture = np.full((40, 40, 3), 0.3, np.float32)
    picture[:, 20:, 0] = 1.0  # red is clipped in the right half, and lies 2 pixels too far to the right

    def state(
        rows: NDArray[np.float64], columns: NDArray[np.float64], channel: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        del columns
        return np.zeros_like(rows), np.full_like(rows, 2.0 * (channel == 0))

    mended = correct_fringes(cfa.sample(picture), cfa, Fringes(stated=state), (1.0, 1.0, 1.0))
    red = mended[::2, ::2]
    assert (red[4:-4, 9:16] >= 1).all()
    assert (red[4:-4, 4:8] < 0.5).all()


def test_large_pictures_are_judged_by_the_windows_that_know_most() -> None:
    """Detail in few windows, which are found among flat ones; noise is everywhere."""
    cfa, shape = Cfa.from_name("RGGB"), (1700, 2300)
    picture = np.full((*shape, 3), 0.4, np.float32)
    grey = gaussian_filter(np.random.default_rng(4).random((420, 600)), 2.0)
    picture[60:480, 1600:2200] += (4 * (grey - grey.mean()))[..., None]
    picture += np.random.default_rng(9).normal(0, 0.002, picture.shape).astype(np.float32)
    drawn = _drawn(picture, Fringes(0.0015, -0.001))
    found = find_fringes(cfa.sample(drawn), cfa)
    assert (found.red, found.blue) == pytest.approx((0.0015, -0.001), abs=2e-4)


@pytest.mark.parametrize("light", [1.0, 0.98])
def test_the_border_of_saturated_samples_stays_and_no_other_exceeds_the_level(light: float) -> None:
    cfa = Cfa.from_name("RGGB")
    picture = np.full((40, 40, 3), 0.3, np.float32)
    picture[:, 20:, 0] = light

    def state(
        rows: NDArray[np.float64], columns: NDArray[np.float64], channel: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        del columns
        return np.zeros_like(rows), np.full_like(rows, -0.7 * (channel == 0))

    mosaic, fringes = cfa.sample(picture), Fringes(stated=state)
    free, held = (correct_fringes(mosaic, cfa, fringes, top) for top in (None, (1.0, 1.0, 1.0)))
    assert free.max() > 1.01
    assert (free[::2, 20] < 0.9).all()
    assert held.max() == 1
    assert (held[::2, 20] == 1).all() == (light == 1)


def test_shifts_that_no_lens_makes_are_left_alone(truth: Floats, monkeypatch: pytest.MonkeyPatch) -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(_drawn(truth, Fringes(0.003, -0.003)))  # 1.1 pixels in the corners
    monkeypatch.setattr(chromatic_aberration, "_LARGEST", 0.9)
    assert not find_fringes(mosaic, cfa).any
