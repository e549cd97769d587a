"""Where a mosaic shows nothing but noise, against plain numpy, and what is written there."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing import flat_regions
from demosaic_ntc.demosaicing.flat_regions import settle_calm
from demosaic_ntc.demosaicing.interpolation.kernels import filter_separably, gaussian
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.run import Run

SIGMA = 0.02
NOISE: Float32 = np.full((3, 1), SIGMA**2, np.float32)


def noisy(light: Float32, seed: int = 0) -> Float32:
    return (light + np.random.default_rng(seed).normal(0, SIGMA, light.shape)).astype(np.float32)


def settled(
    mosaic: Float32, noise: Float32 = NOISE, cfa: str = "RGGB", strength: float = 1.0
) -> tuple[Flags, Float32]:
    planes = np.full((3, *mosaic.shape), 9.0, np.float32)
    return settle_calm(planes, MosaicSamples(mosaic), Cfa.from_name(cfa), noise, strength, Run()), planes


@pytest.mark.parametrize("cfa", ["RGGB", "XTRANS"])
def test_a_slope_with_noise_is_calm_and_becomes_smooth(cfa: str) -> None:
    light = np.linspace(0.2, 0.4, 120, dtype=np.float32)[None].repeat(90, axis=0)
    flags, planes = settled(noisy(light), cfa=cfa)
    assert flags.mean() > 0.8
    inside = np.zeros_like(flags)
    inside[16:-16, 16:-16] = True
    assert np.abs(planes - light)[:, flags & inside].max() < SIGMA
    assert np.abs(planes - light)[:, flags & inside].std() < 0.25 * SIGMA
    assert (planes[:, ~flags] == 9).all()


def test_edges_and_texture_are_not_calm() -> None:
    light = np.full((96, 96), 0.3, np.float32)
    light[:, 48:] += 4 * SIGMA
    light[60:80, 8:28] += 2 * SIGMA * (-1) ** np.indices((20, 20)).sum(axis=0)
    flags, _ = settled(noisy(light))
    assert not flags[:, 44:52].any()
    assert not flags[62:78, 10:26].any()
    assert flags[8:50, 8:30].mean() > 0.5


@pytest.mark.parametrize("factor", [0.4, 2.0])
def test_where_noise_is_other_than_said_nothing_is_calm(factor: float) -> None:
    flags, _ = settled(noisy(np.full((64, 64), 0.5, np.float32)), NOISE * np.float32(factor**-2))
    assert flags.mean() < 0.02


def test_strength_takes_more_for_noise() -> None:
    mosaic = noisy(np.full((64, 64), 0.5, np.float32))
    less = NOISE / np.float32(1.3**2)
    assert settled(mosaic, less)[0].mean() < 0.2
    assert settled(mosaic, less, strength=1.8)[0].mean() > 0.8


def test_noise_is_that_of_the_level() -> None:
    levels = np.linspace(0.5, 1.5, 9, dtype=np.float32) ** 2 * NOISE
    light = np.full((64, 64), 0.5, np.float32)
    assert np.mean(settled(noisy(light), levels)[0] == settled(noisy(light))[0]) > 0.95
    dark = np.full((64, 64), 0.1, np.float32)
    assert settled(noisy(dark), levels)[0].mean() < 0.5 < settled(noisy(dark))[0].mean()


def test_tiles_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mosaic = noisy(np.linspace(0.1, 0.9, 100 * 130, dtype=np.float32).reshape(100, 130) ** 2, 5)
    whole, planes = settled(mosaic)
    monkeypatch.setattr(flat_regions, "_SIDE", 38)
    parts = np.full((3, 100, 130), 9.0, np.float32)
    flags = settle_calm(parts, MosaicSamples(mosaic), Cfa.from_name("RGGB"), NOISE, 1.0, Run(3))
    assert np.array_equal(flags, whole)
    assert np.array_equal(parts, planes)


def test_ratios_are_one_where_there_is_noise_alone() -> None:
    """The plain twin: the deviation from the mean of a colour, divided by what noise leaves of it."""
    cells = noisy(np.full((31, 31), 0.5, np.float32), 6)
    taps = np.exp(-0.5 * (np.arange(-7, 8) / 2.5) ** 2)
    weights = np.outer(taps, taps)
    weights /= weights.sum()
    near = gaussian(flat_regions._WIDTH, -flat_regions._REACH, flat_regions._REACH)
    here = np.ones_like(cells)
    mass = filter_separably(here, near, near)
    mean = filter_separably(cells, near, near) / mass
    assert mean[15, 15] == pytest.approx((cells[8:23, 8:23] * weights).sum(), abs=1e-5)
    expected = SIGMA**2 * (1 - 2 * weights.max() + (weights**2).sum())
    of_difference, of_mean = flat_regions._variances(mean, here, mass, near, NOISE[0])
    assert of_difference[15, 15] == pytest.approx(expected, rel=1e-3)
    assert of_mean[15, 15] == pytest.approx(SIGMA**2 * (weights**2).sum(), rel=1e-3)


@pytest.mark.parametrize("shape", [(8, 6), (7, 9)])
def test_cells_hold_every_sample_once(shape: tuple[int, int]) -> None:
    mosaic, cfa = (
        np.arange(1, 1 + shape[0] * shape[1], dtype=np.float32).reshape(shape),
        Cfa.from_name("RGGB"),
    )
    cells = flat_regions._cells(mosaic, cfa)
    for channel in range(3):
        held = np.concatenate([values[flags[channel]] for values, flags in cells])
        assert sorted(held) == sorted(mosaic[cfa.channel_map(shape) == channel])


def test_between_cells_a_slope_goes_on() -> None:
    rows, columns = np.indices((6, 5), dtype=np.float32)
    spread = flat_regions._interpolate_cells(3 * rows + columns)
    expected = (3 * np.arange(12)[:, None] + np.arange(10) - 2) / 2  # the middle of a cell is half a pixel on
    assert spread[1:-1, 1:-1] == pytest.approx(expected[1:-1, 1:-1], abs=1e-5)


def test_an_edge_between_colours_is_not_calm() -> None:
    light, red = np.full((96, 96), 0.5, np.float32), Cfa.from_name("RGGB").channel_map((96, 96)) == 0
    light[:, 48:] += np.where(red, 2.2 * SIGMA, 0).astype(np.float32)[:, 48:]
    flags, _ = settled(noisy(light, 11), strength=1.25)
    assert flags[24:-24, 44:52].mean() < 0.5 < flags[24:-24, 16:28].mean()


def test_peaks_of_chance_leave_no_islands() -> None:
    flags, _ = settled(noisy(np.full((400, 400), 0.5, np.float32), 7))
    assert flags.mean() > 0.9
    flags, _ = settled(noisy(np.full((400, 400), 0.5, np.float32), 7), strength=1.25)
    assert flags.all()


def test_colours_of_calm_places_are_averaged_apart_from_what_is_not_calm() -> None:
    light = np.full((96, 120), 0.5, np.float32)
    light[:, 60:] += 0.3 * np.random.default_rng(8).random((96, 60), np.float32)
    calm_side = noisy(light, 9)
    flags, planes = settled(calm_side)
    left = flags[20:-20, 16:40]
    assert left.mean() > 0.6
    colour = (planes[0] - planes[1])[20:-20, 16:40][left]
    assert np.abs(colour.mean()) < 0.1 * SIGMA
    assert colour.std() < 0.15 * SIGMA
