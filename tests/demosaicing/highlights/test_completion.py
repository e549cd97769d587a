"""What completing clipped samples must do, on mosaics whose light is known."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.highlights import completion
from demosaic_ntc.demosaicing.highlights.completion import (
    ClippedMosaic,
    _Completion,
    complete_highlights,
    complete_rows,
)
from demosaic_ntc.demosaicing.highlights.grid import predict_channels, spread_tints, tints_of
from demosaic_ntc.demosaicing.highlights.kernels import MAGENTA, OFFSET, SLOPE, TINT_SPREAD, TINT_SUMS
from demosaic_ntc.demosaicing.highlights.window_kernels import BLOCK, CELL, MOMENTS

LEVELS = (2.0, 1.0, 1.5)  # balanced, as of a camera with multipliers 2, 1 and 1.5
SIZE = (160, 200)
Arrays = NDArray[Any]
ARRAYS = ("RGGB", "XTRANS", "QUAD_RGGB")


def _cut(light: Arrays, cfa: Cfa) -> Float32:
    """The samples of a picture, clipped."""
    levels = np.array(LEVELS)[_channels(cfa)]
    return np.asarray(np.minimum(cfa.sample(light), levels), np.float32)


def _channels(cfa: Cfa) -> Arrays:
    return cfa.window(slice(0, SIZE[0]), slice(0, SIZE[1])).astype(np.intp)


def _is_clipped(mosaic: Arrays, cfa: Cfa) -> Arrays:
    return np.asarray(mosaic >= 0.985 * np.array(LEVELS)[_channels(cfa)])


def _ramp(colour: tuple[float, float, float], top: float) -> Arrays:
    """A colour from dark to bright, across."""
    across = np.linspace(0.1, top, SIZE[1]) * np.ones((SIZE[0], 1))
    return np.asarray(across[..., None] * np.array(colour))


def _hill(colour: tuple[float, float, float], top: float) -> Arrays:
    """A colour that is brightest in the middle, on a field of texture."""
    rows, columns = np.indices(SIZE)
    hill = np.exp(-(((rows - 80) / 50) ** 2 + ((columns - 100) / 60) ** 2))
    texture = 1 + 0.05 * np.sin(rows / 3) * np.sin(columns / 4)
    return np.asarray(((0.3 + (top - 0.3) * hill) * texture)[..., None] * np.array(colour))


@pytest.mark.parametrize("name", ARRAYS)
def test_unclipped_samples_stay_and_clipped_ones_rise(name: str) -> None:
    cfa = Cfa.from_name(name)
    mosaic = _cut(_hill((1.2, 1.0, 0.8), 3.0), cfa)
    completed, clipped = complete_highlights(mosaic, cfa, LEVELS), _is_clipped(mosaic, cfa)
    assert 0.1 < clipped.mean() < 0.6
    assert np.array_equal(completed[~clipped], mosaic[~clipped])
    assert (completed[clipped] >= mosaic[clipped]).all()
    assert completed[clipped].mean() > 1.1 * mosaic[clipped].mean()


def test_nothing_is_done_where_nothing_is_clipped() -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = np.float32(0.3) * _cut(_hill((1.2, 1.0, 0.8), 3.0), cfa)
    limits = np.array(LEVELS, np.float32)[cfa.pattern]
    assert list(complete_rows(ClippedMosaic(lambda rows: mosaic[rows], SIZE, cfa.pattern, limits))) == []
    assert np.array_equal(complete_highlights(mosaic, cfa, LEVELS), mosaic)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_grey_ramp_stays_grey_and_rises(name: str) -> None:
    """Through one, two and three clipped channels; a sample of any colour is as bright as its neighbours."""
    cfa = Cfa.from_name(name)
    completed = complete_highlights(_cut(_ramp((1, 1, 1), 1.99), cfa), cfa, LEVELS)
    truth = _ramp((1, 1, 1), 1.99)[..., 0]
    np.testing.assert_allclose(completed[:, 8:-8], truth[:, 8:-8], rtol=0.03)
    inside = completed[40:120].reshape(80 // 20, 20, SIZE[1]).mean(axis=(0, 1))
    assert (np.diff(np.convolve(inside, np.ones(12) / 12, "valid")) > 0).all()


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("colour", [(0.9, 1.0, 0.7), (0.6, 1.0, 0.9), (1.3, 1.0, 0.5)])
def test_green_of_one_colour_is_recovered(name: str, colour: tuple[float, float, float]) -> None:
    cfa = Cfa.from_name(name)
    light = _hill(colour, 1.4)
    mosaic = _cut(light, cfa)
    clipped = _is_clipped(mosaic, cfa)
    assert set(_channels(cfa)[clipped]) == {1}
    error = complete_highlights(mosaic, cfa, LEVELS)[clipped] / cfa.sample(light)[clipped] - 1
    assert np.abs(error).mean() < 0.02
    assert np.abs(error).max() < 0.12


def test_a_tinted_wall_keeps_its_tint_where_all_is_clipped() -> None:
    cfa = Cfa.from_name("RGGB")
    light = _hill((1.1, 1.0, 0.85), 2.6)
    completed = complete_highlights(_cut(light, cfa), cfa, LEVELS)
    core = completed[64:96, 84:116]
    red, blue = core[::2, ::2].mean(), core[1::2, 1::2].mean()
    green = (core[::2, 1::2].mean() + core[1::2, ::2].mean()) / 2
    assert red / green == pytest.approx(1.1, abs=0.06)
    assert blue / green == pytest.approx(0.85, abs=0.06)
    assert np.ptp(core[1::2, 1::2]) < 0.1 * blue  # no wavy edges


def test_a_sunset_has_no_green_below_both_others() -> None:
    cfa = Cfa.from_name("RGGB")
    rows, columns = np.indices(SIZE)
    far = np.hypot(rows - 80, columns - 100)
    glow = np.exp(-far / 25)[..., None] * np.array([3.0, 1.7, 0.6])
    sun = (far < 12)[..., None] * np.array([9.0, 7.5, 5.0])
    light = 0.2 * np.array([1.0, 0.5, 0.2]) + glow + sun
    completed = complete_highlights(_cut(light, cfa), cfa, LEVELS)
    red, blue = completed[::2, ::2], completed[1::2, 1::2]
    green = (completed[::2, 1::2] + completed[1::2, ::2]) / 2
    bright = np.asarray(green > 1.02)
    assert bright.sum() > 150
    assert (green[bright] > 0.96 * np.minimum(red, blue)[bright]).all()


def test_missing_samples_are_neither_used_nor_changed() -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = _cut(_hill((1.2, 1.0, 0.8), 2.0), cfa)
    missing = np.random.default_rng(3).random(SIZE) < 0.01
    missing[:20] = False
    broken = np.where(missing, np.float32(5.0), mosaic)
    other = np.where(missing, np.float32(0.0), mosaic)
    first, second = (complete_highlights(each, cfa, LEVELS, missing) for each in (broken, other))
    assert np.array_equal(first[~missing], second[~missing])
    assert (first[missing] == 5).all()
    dark = np.float32(0.2) * mosaic
    calm = complete_highlights(dark, cfa, LEVELS)
    hot = np.where(missing, np.float32(5.0), dark)
    assert np.array_equal(complete_highlights(hot, cfa, LEVELS, missing)[~missing], calm[~missing])


def test_threads_make_no_difference() -> None:
    cfa = Cfa.from_name("XTRANS")
    mosaic = _cut(_hill((1.2, 1.0, 0.8), 3.0), cfa)
    one, four = (complete_highlights(mosaic, cfa, LEVELS, threads=count) for count in (1, 4))
    assert np.array_equal(one, four)


def test_pictures_with_all_channels_are_completed_as_well() -> None:
    light = _hill((1.1, 1.0, 0.8), 1.8)
    picture = np.minimum(light, LEVELS).astype(np.float32)
    colours, limits = np.arange(3, dtype=np.uint8).reshape(1, 1, 3), np.array([[LEVELS]], np.float32)
    completed = picture.copy()
    for rows, part in complete_rows(ClippedMosaic(lambda rows: picture[rows], SIZE, colours, limits)):
        completed[rows] = part
    clipped = picture >= 0.985 * np.array(LEVELS)
    assert 0.02 < clipped[..., 1].mean() < 0.6
    assert np.array_equal(completed[~clipped], picture[~clipped])
    np.testing.assert_allclose(completed[clipped], light[clipped], rtol=0.15)
    assert np.abs(completed[clipped] / light[clipped] - 1).mean() < 0.02


def _moments(roots: Arrays) -> Arrays:
    """The moments of one cell of pixels of full weight."""
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    sums = [len(roots), *roots.sum(axis=0), *(float(roots[:, a] @ roots[:, b]) for a, b in pairs)]
    return np.array(sums).reshape(1, 1, MOMENTS)


@pytest.mark.parametrize("together", [1, 3, 100])
def test_cells_are_the_same_whichever_rows_are_computed_together(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "_ROWS", together)
    cfa, size = Cfa.from_name("RGGB"), (20 * BLOCK + 24, 2 * BLOCK)
    blocks = np.zeros((21, 2), np.bool_)
    blocks[[0, 6, 7, 20], 1] = True
    limits = np.array(LEVELS, np.float32)[cfa.pattern]
    work = _Completion(ClippedMosaic(lambda rows: np.zeros(0, np.float32), size, cfa.pattern, limits), blocks)
    generator = np.random.default_rng(2)
    roots = generator.random((163, 16, 4, 3))
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    products = [(roots[..., a] * roots[..., b]).sum(axis=2) for a, b in pairs]
    moments = np.stack([np.full((163, 16), 4.0), *np.moveaxis(roots.sum(axis=2), -1, 0), *products], axis=-1)
    moments *= generator.random((163, 16, 1)) < 0.3
    found, whole = work.compute_cells(predict_channels, moments), predict_channels(moments)
    computed = found.any(axis=(1, 2))
    assert np.array_equal(found[computed], whole[computed])
    near = np.repeat(completion.dilate(blocks, 2), 8, axis=0)[:163].any(axis=1)
    assert np.array_equal(computed, near)
    assert 0.3 < computed.mean() < 0.9


def test_predictions_are_lines_through_the_pixels() -> None:
    """Of many pixels on a line through grey, whose one cell all Gaussians see."""
    generator = np.random.default_rng(0)
    red, blue = generator.random((2, 100_000))
    green = (red + blue) / 2 + 0.3 * (red - blue)
    grid = predict_channels(_moments(np.stack([red, green, blue], axis=1)))
    assert grid[0, 0, SLOPE + 1] == pytest.approx(0.3, abs=0.01)
    assert grid[0, 0, OFFSET + 1] == pytest.approx(0.0, abs=0.01)


def test_magenta_is_allowed_where_it_is_seen() -> None:
    roots = np.random.default_rng(0).random((100_000, 1)) + np.array([0.2, 0.0, 0.1])
    assert predict_channels(_moments(roots))[0, 0, MAGENTA] == pytest.approx(0.005 + 1.5 * 0.08, abs=0.005)
    assert predict_channels(_moments(roots[:, [1, 0, 2]]))[0, 0, MAGENTA] == pytest.approx(0.005)


def test_predictions_are_neutral_where_nothing_is_seen() -> None:
    grid = predict_channels(np.zeros((5, 7, MOMENTS)))
    assert not grid[..., : SLOPE + 3].any()


def _tint_sums(red: Arrays, blue: Arrays) -> Arrays:
    """The sums of tints of pixels of full weight."""
    sums = [len(red), red.sum(), blue.sum(), red @ red, red @ blue, blue @ blue]
    return np.array(sums, np.float64)


def test_tints_spread_fade_and_are_hardly_magenta() -> None:
    sums = np.zeros((40, 40, TINT_SUMS))
    sums[20, 20] = _tint_sums(np.full(60, 0.3), np.full(60, -0.1))
    most = np.full((40, 40), 0.01, np.float32)
    tints = spread_tints(sums, most, 8.0, 1.0)
    np.testing.assert_allclose(tints[20, 20, :TINT_SPREAD], [0.3, -0.1], rtol=0.05)
    assert np.abs(tints[20, 24, :TINT_SPREAD]).max() > np.abs(tints[20, 39, :TINT_SPREAD]).max()
    sums[20, 20] = _tint_sums(np.full(60, 0.3), np.full(60, 0.2))
    assert spread_tints(sums, most, 8.0, 1.0)[..., :TINT_SPREAD].min(axis=-1).max() <= 0.0101


def test_tints_vary_as_they_are_seen_to() -> None:
    red, blue = 0.1 * np.random.default_rng(2).standard_normal((2, 100_000))
    tints = spread_tints(_tint_sums(red, blue).reshape(1, 1, -1), np.ones((1, 1), np.float32), 8.0, 1.0)
    np.testing.assert_allclose(tints[0, 0, TINT_SPREAD:], [0.01, 0.01, 0.02], rtol=0.03)


def test_tints_of_moments_are_those_of_their_pixels() -> None:
    roots = np.random.default_rng(3).random((500, 3))
    wanted = _tint_sums(roots[:, 0] - roots[:, 1], roots[:, 2] - roots[:, 1])
    np.testing.assert_allclose(tints_of(_moments(roots))[0, 0], wanted)


def test_no_outline_shows_where_a_second_channel_clips() -> None:
    """Of a smooth sky, whose colour varies as widely elsewhere: blue goes on as it rose."""
    cfa = Cfa.from_name("RGGB")
    across = np.linspace(0.4, 1.7, SIZE[1]) * np.ones((SIZE[0], 1))
    light = np.stack([across, across * 1.02, 0.5 + 0.75 * across], -1)
    completed = complete_highlights(_cut(light, cfa), cfa, LEVELS)
    blue = completed[1::2, 1::2].mean(axis=0)[5:-5]
    steps = np.diff(blue)
    assert (
        np.abs(steps - np.median(steps)).max() < 0.05
    )  # .15 if the bound were as soft as the whole sky varies


def test_shading_between_rows_that_are_looked_at_lies_on_a_line() -> None:
    """Its cube roots rise evenly from row to row, so that those in between are known exactly."""
    cfa = Cfa.from_name("RGGB")
    shading = np.repeat((1 + np.arange(SIZE[0]) / SIZE[0])[:, None] ** 3, SIZE[1], 1).astype(np.float32)
    limits = np.array(LEVELS, np.float32)[cfa.pattern]
    work = ClippedMosaic(lambda rows: np.ones((1, 1), np.float32), SIZE, cfa.pattern, limits)
    blocks = np.ones([-(-side // BLOCK) for side in SIZE], np.bool_)
    scales = _Completion(work, blocks)._find_scales(lambda rows: shading[rows])
    for row, found in enumerate(scales):
        lines = np.cbrt(shading[row * CELL : row * CELL + 2, 0])  # of a cell of the array
        expected = lines[0], lines.mean(), lines[1]  # where red, green and blue are measured
        assert np.allclose(found, expected, atol=1e-5)


def test_grey_is_grey_without_the_shading_of_colours() -> None:
    """Each colour is shaded by itself, and saturates as it was measured."""
    cfa, place = Cfa.from_name("RGGB"), np.linspace(0, 1, SIZE[1])
    gains = np.stack([1 + 0.25 * place, np.ones(SIZE[1]), 1.2 - 0.2 * place], axis=-1)
    truth = _hill((1, 1, 1), 2.6)
    mosaic, channels = _cut(truth / gains, cfa), _channels(cfa)
    shading = np.take_along_axis(gains[None].repeat(SIZE[0], 0), channels[..., None], 2)[..., 0]
    limits = np.array(LEVELS, np.float32)[cfa.pattern]
    errors = dict[bool, float]()
    for is_known in (False, True):
        even = (lambda rows: shading[rows].astype(np.float32)) if is_known else None
        work = ClippedMosaic(lambda rows: mosaic[rows], SIZE, cfa.pattern, limits, shading=even)
        found = mosaic.copy()
        for rows, completed in complete_rows(work):
            found[rows] = completed
        clipped = _is_clipped(mosaic, cfa)
        assert np.array_equal(found[~clipped], mosaic[~clipped])
        assert (found[clipped] >= mosaic[clipped]).all()
        off = np.abs(found * shading / truth[..., 0] - 1)
        partly = clipped & (truth[..., 0] < 2.0)
        errors[is_known] = max(float(off[partly & (channels == channel)].mean()) for channel in (1, 2))
    assert errors[True] < 0.006
    assert errors[False] > 0.015


def test_fringes_of_edges_do_not_tint_what_lies_beside_them() -> None:
    """A dark beam before a white sky, its red displaced by two pixels as by a lens: the sky stays white."""
    cfa, (rows, columns) = Cfa.from_name("RGGB"), np.indices(SIZE)
    sky = 0.3 + 2.3 * np.exp(-(((rows - 80) / 50) ** 2 + ((columns - 100) / 60) ** 2))
    dark = np.ones(SIZE)
    dark[70:78] = 0.05
    soft = gaussian_filter1d(dark, 1.0, axis=0)
    light = sky[..., None] * np.stack([np.roll(soft, -2, axis=0), soft, soft], axis=-1)
    completed = complete_highlights(_cut(light, cfa), cfa, LEVELS)
    red, green, blue = completed[0::2, 0::2], completed[0::2, 1::2], completed[1::2, 1::2]
    for core in (np.s_[41:45, 40:60], np.s_[28:33, 40:60]):  # below the beam, and above
        assert abs((red[core] / green[core]).mean() - 1) < 0.01
        assert abs((blue[core] / green[core]).mean() - 1) < 0.01


def test_a_vivid_glow_has_no_edge_where_its_second_channel_clips() -> None:
    """Red clips, then green, while blue is far below: as around a setting sun."""
    cfa, (rows, columns) = Cfa.from_name("RGGB"), np.indices(SIZE)
    away = np.hypot(rows - 80, columns - 100)
    parts = [
        low + top * np.exp(-away / reach) for low, top, reach in ((1, 6, 50), (0.5, 2.6, 38), (0.3, 0.8, 25))
    ]
    completed = complete_highlights(_cut(np.stack(parts, axis=-1), cfa), cfa, LEVELS)
    red = completed[80, 120:180:2]
    assert parts[1][80, 120] > 1.5  # green is clipped at first
    assert parts[1][80, 170] < 1
    assert np.abs(np.diff(np.log(red))).max() < 0.08


@pytest.mark.parametrize("name", ["RGGB", "XTRANS"])
def test_noise_moves_no_mean_and_makes_no_specks(name: str) -> None:
    """The bound is as soft as samples are noisy: the light goes on rising beyond it, without outliers."""
    cfa, truth = Cfa.from_name(name), _ramp((1, 1, 1), 1.9)
    noise = 0.03 * np.random.default_rng(6).standard_normal(truth.shape) * np.sqrt(truth)
    completed = complete_highlights(_cut(truth + noise, cfa), cfa, LEVELS)
    off = completed[:, 8:-8] / truth[:, 8:-8, 0] - 1
    bright = truth[0, 8:-8, 0] > 1.05
    assert np.abs(off.mean(axis=0)[bright]).max() < 0.06
    assert np.abs(off[:, bright]).max() < 0.3
