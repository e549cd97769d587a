"""Row and column noise: found where readout made it, left alone where a lens drew lines."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.detection.banding import find_line_noise, remove_line_noise
from demosaic_ntc.detection.line_offsets import _find_heaps, _solve

BLACK, SPAN = 512, 15000.0
SATURATED = BLACK + SPAN
SIZE = (480, 720)
TWO = 2 / 255 * SPAN  # what is to be removed, in steps of the samples


def _scene(generator: np.random.Generator) -> NDArray[np.float64]:
    """Soft shapes of uneven light, in three colours, (height, width, 3)."""
    rough = generator.uniform(0, 1, SIZE)
    soft = gaussian_filter(rough, 40)
    light = 0.05 + 0.6 * (soft - soft.min()) / np.ptp(soft)
    return np.asarray(light[..., None] * np.array([0.5, 1.0, 0.7]))


def _expose(scene: NDArray[np.float64], array: str, generator: np.random.Generator) -> NDArray[np.float64]:
    """A scene as a sensor samples it, with its noise."""
    light = np.asarray(Cfa.from_name(array).sample(scene))
    noisy = light + np.sqrt(2e-4 * light + 1e-6) * generator.standard_normal(light.shape)
    return np.asarray(BLACK + SPAN * noisy)


def _store(samples: NDArray[np.float64]) -> NDArray[np.uint16]:
    return np.clip(np.rint(samples), 0, 65535).astype(np.uint16)


@pytest.mark.parametrize("array", ["RGGB", "GBRG", "XTRANS", "MONO"])
@pytest.mark.parametrize("axis", [0, 1])
def test_offsets_of_lines_are_removed(array: str, axis: int) -> None:
    generator, cfa = np.random.default_rng(7), Cfa.from_name(array)
    clean = _expose(_scene(generator), array, generator)
    offsets = TWO * generator.standard_normal(SIZE[axis])
    lines = offsets[:, None] if axis == 0 else offsets[None, :]
    mosaic = _store(clean + lines)
    found = find_line_noise(mosaic, cfa, SATURATED, axis)
    assert found.is_found
    assert found.deviation == pytest.approx(TWO, rel=0.2)
    remove_line_noise(mosaic, cfa, found, SATURATED, axis)
    left = (mosaic - clean).mean(axis=1 - axis)
    step = {"XTRANS": 3, "MONO": 1}.get(array, 2)
    differs = [np.std(each[step:] - each[:-step]) for each in (left, offsets)]
    assert differs[0] < 0.15 * differs[1]  # what is seen as stripes
    assert left.std() < 0.3 * offsets.std()  # with the slow part, which a scene might have as well
    assert not find_line_noise(mosaic, cfa, SATURATED, axis).is_found


def test_stripes_of_one_colour_are_removed_from_it_alone() -> None:
    generator, cfa = np.random.default_rng(3), Cfa.from_name("RGGB")
    clean = _expose(_scene(generator), "RGGB", generator)
    mosaic = clean.copy()
    mosaic[1::12, 1::2] += TWO  # blue sites of every sixth row that has them
    stored = _store(mosaic)
    found = find_line_noise(stored, cfa, SATURATED, 0)
    assert found.is_found
    assert found.offsets[1::12, 2].mean() - found.offsets[3::12, 2].mean() == pytest.approx(TWO, rel=0.25)
    assert np.abs(found.offsets[1::12, 1]).max() < 0.2 * TWO
    assert np.abs(found.offsets[::2, 0]).max() < 0.2 * TWO


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("array", ["RGGB", "XTRANS", "MONO"])
def test_a_clean_mosaic_has_none(array: str, axis: int) -> None:
    generator = np.random.default_rng(11)
    mosaic = _store(_expose(_scene(generator), array, generator))
    assert not find_line_noise(mosaic, Cfa.from_name(array), SATURATED, axis).is_found


@pytest.mark.parametrize("period", [5.3, 8.0, 21.0])
@pytest.mark.parametrize("tilt", [0.0, 0.002, 0.01])
def test_blinds_are_no_row_noise(period: float, tilt: float) -> None:
    """Lines that a lens draws all over a picture, level or nearly so, in light that is not even."""
    generator = np.random.default_rng(1)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    blinds = 0.75 + 0.25 * np.sign(np.sin(2 * np.pi * (y + tilt * x) / period))
    scene = gaussian_filter(blinds, 0.6)[..., None] * _scene(generator)
    mosaic = _store(_expose(scene, "RGGB", generator))
    assert not find_line_noise(mosaic, Cfa.from_name("RGGB"), SATURATED, 0).is_found


def test_a_level_horizon_is_no_row_noise() -> None:
    generator = np.random.default_rng(2)
    scene = _scene(generator)
    scene[200:] *= 0.3
    scene[200:203] *= 2.0
    mosaic = _store(_expose(scene, "RGGB", generator))
    assert not find_line_noise(mosaic, Cfa.from_name("RGGB"), SATURATED, 0).is_found


def test_saturated_samples_and_black_ones_stay_in_range() -> None:
    generator, cfa = np.random.default_rng(4), Cfa.from_name("RGGB")
    clean = _expose(_scene(generator), "RGGB", generator)
    clean[100:140, 300:400] = SATURATED
    clean[:, :60] = 0
    mosaic = _store(np.minimum(clean + TWO * generator.standard_normal(SIZE[0])[:, None], SATURATED))
    mosaic[100:140, 300:400] = SATURATED
    found = find_line_noise(mosaic, cfa, SATURATED, 0)
    assert found.is_found
    remove_line_noise(mosaic, cfa, found, SATURATED, 0)
    assert (mosaic[100:140, 300:400] == SATURATED).all()
    assert mosaic[:, :60].max() < 0.05 * SPAN  # nothing wrapped around


@pytest.mark.parametrize("size", [(4, 4), (40, 60), (500, 6), (6, 500)])
def test_small_mosaics_tell_nothing(size: tuple[int, int]) -> None:
    mosaic = np.random.default_rng(0).integers(0, 65536, size, np.uint16)
    for axis in (0, 1):
        found = find_line_noise(mosaic, Cfa.from_name("RGGB"), 65535, axis)
        assert not found.is_found
        assert found.offsets.shape == (size[axis], 3)


def test_a_constant_mosaic_has_none() -> None:
    mosaic = np.full((400, 400), 700, np.uint16)
    assert not find_line_noise(mosaic, Cfa.from_name("RGGB"), 65535, 0).is_found
    assert not find_line_noise(mosaic, Cfa.from_name("RGGB"), 500, 0).is_found  # all of it saturated


def test_offsets_are_those_of_least_squares() -> None:
    """Against the whole matrix of the sum that is made least."""
    generator, count, doubt = np.random.default_rng(5), 12, 3.0
    middles, guess = generator.normal(0, 2, (2, count))
    weights = generator.uniform(0, 2, count)
    weights[4] = 0  # a line that says nothing
    bend = np.zeros((count - 2, count))
    for line in range(count - 2):
        bend[line, line : line + 3] = -0.5, 1, -0.5
    matrix = bend.T @ np.diag(weights[1:-1]) @ bend + np.eye(count) / doubt
    right = bend.T @ (weights * middles)[1:-1] + guess / doubt
    np.testing.assert_allclose(_solve(middles, weights, guess, doubt), np.linalg.solve(matrix, right))


def test_heaps_are_found_among_content() -> None:
    """A third of the samples lie anywhere to one side, as beside an edge; some are not known."""
    generator = np.random.default_rng(6)
    truth = generator.normal(0, 10, 40)
    values = truth[:, None] + generator.normal(0, 5, (40, 600))
    values[:, ::3] += generator.uniform(0, 400, (40, 200))
    values[:, 5::7] = np.nan
    middles, variances = _find_heaps(values)
    assert np.abs(middles - truth).mean() < 0.9
    assert np.abs(np.nanmedian(values, axis=1) - truth).mean() > 1.5
    middles, variances = _find_heaps(truth[:, None] + generator.normal(0, 5, (40, 600)))
    assert 0.5 < np.mean((middles - truth) ** 2) / variances.mean() < 2
    middles, variances = _find_heaps(np.full((2, 9), np.nan))
    assert np.isnan(middles).all()
    assert np.isinf(variances).all()


def test_the_border_of_a_scan_is_no_offset() -> None:
    generator, cfa = np.random.default_rng(7), Cfa.from_name("RGGB")
    clean = _expose(_scene(generator), "RGGB", generator)
    clean[:3], clean[-2:] = BLACK, BLACK
    offsets = TWO * generator.standard_normal(SIZE[0])
    found = find_line_noise(_store(clean + offsets[:, None]), cfa, SATURATED, 0)
    assert found.is_found
    assert np.abs(found.offsets).max() < 8 * TWO
