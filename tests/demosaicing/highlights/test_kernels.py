"""Every kernel of highlights beside the same in plain numpy and SciPy."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import interpn
from scipy.stats import truncnorm

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.highlights import kernels, window_kernels
from demosaic_ntc.demosaicing.highlights.kernels import (
    MAGENTA,
    OFFSET,
    PREDICTIONS,
    SLOPE,
    SPREAD,
    TINT_SPREAD,
    TINT_SUMS,
    TINTS,
)
from demosaic_ntc.demosaicing.highlights.window_kernels import BLOCK, CELL, EVENNESS, MOMENTS, SEEN_PLANES

SIZE = (24, 2 * BLOCK + 10)
LEVELS = np.array([1.0, 0.6, 0.8], np.float32)
SOFT, VIVID_PAIR, VIVID_CORE = 0.7, 0.5, 0.3
FITS, UNFIT = 0.01, 0.1
Arrays = NDArray[Any]


@pytest.fixture(params=["RGGB", "XTRANS"])
def cfa(request: pytest.FixtureRequest) -> Cfa:
    return Cfa.from_name(request.param)


@pytest.fixture
def light() -> Arrays:
    smooth = np.random.default_rng(5).random((4, SIZE[1] // 6 + 1)).repeat(6, 0).repeat(6, 1)
    return np.ascontiguousarray(smooth[: SIZE[0], : SIZE[1]], np.float32)


def _limits(cfa: Cfa) -> Arrays:
    return np.ascontiguousarray(LEVELS[cfa.pattern] * window_kernels.CLIPPED_SHARE)


def _tiled(period: Arrays) -> Arrays:
    rows, columns = np.indices(SIZE)
    return np.asarray(period[rows % period.shape[0], columns % period.shape[1]])


def test_lowered_samples_amid_clipped_ones_are_raised(cfa: Cfa) -> None:
    generator = np.random.default_rng(8)
    clipped = np.ascontiguousarray(np.array([1000, 900, 950])[cfa.pattern], np.int64)
    lowered = clipped * 93 // 100
    samples = np.where(generator.random(SIZE) < 0.7, _tiled(clipped), _tiled(lowered) - 20)
    samples = (samples + generator.integers(0, 60, SIZE)).astype(np.uint16)
    samples[:, : SIZE[1] // 2] //= 3  # nothing is clipped there
    raised = np.empty_like(samples)
    window_kernels.raise_lowered(
        samples, np.ascontiguousarray(cfa.pattern, np.uint8), lowered, clipped, raised
    )
    wanted, colours, over = samples.copy(), _tiled(cfa.pattern), samples >= _tiled(clipped)
    for row, column in np.argwhere((samples >= _tiled(lowered)) & ~over):
        near = np.s_[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3]
        same = colours[near] == colours[row, column]
        if over[near][same].sum() >= 0.6 * (same.sum() - 1):
            wanted[row, column] = _tiled(clipped)[row, column]
    np.testing.assert_array_equal(raised, wanted)
    assert 10 < np.count_nonzero(raised != samples) < np.count_nonzero(~over)


def test_blocks_with_a_clipped_sample_are_flagged(cfa: Cfa, light: Arrays) -> None:
    light[:, :BLOCK] *= 0.4
    blocks = np.zeros(-(-SIZE[1] // BLOCK), np.bool_)
    window_kernels.flag_blocks(light, _limits(cfa), blocks)
    clipped = np.any(light >= _tiled(_limits(cfa)), axis=0)
    wanted = [bool(part.any()) for part in np.split(clipped, range(BLOCK, SIZE[1], BLOCK))]
    assert blocks.tolist() == wanted
    assert not wanted[0]


def _middle(row: int, column: int, reach: int = 1) -> tuple[int, int]:
    """Where the window of a pixel has its middle: the border does not cut it."""
    return int(np.clip(row, reach, SIZE[0] - 1 - reach)), int(np.clip(column, reach, SIZE[1] - 1 - reach))


def _around(row: int, column: int, reach: int = 1) -> list[tuple[int, int]]:
    row, column = _middle(row, column, reach)
    return list(product(range(row - reach, row + reach + 1), range(column - reach, column + reach + 1)))


def test_channels_are_flagged_around_clipped_samples(cfa: Cfa, light: Arrays) -> None:
    missing = np.random.default_rng(1).random(SIZE) < 0.1
    first, height = 0, SIZE[0]
    flags = np.zeros((height, SIZE[1]), np.uint8)
    window_kernels.flag_channels(light, missing, cfa.pattern.copy(), _limits(cfa), 1, first, flags)
    channels, limits = _tiled(cfa.pattern), _tiled(_limits(cfa))
    for row, column in product(range(height), [*range(0, SIZE[1], 7), SIZE[1] - 1]):
        wanted = 0
        for i, j in _around(row + first, column):
            if light[i, j] >= limits[i, j] and not missing[i, j]:
                wanted |= 1 << int(channels[i, j])
        assert flags[row, column] == wanted


@pytest.mark.parametrize("only_flagged", [False, True])
def test_channels_are_averaged_by_a_window(cfa: Cfa, light: Arrays, only_flagged: bool) -> None:
    missing = np.random.default_rng(1).random(SIZE) < 0.1
    missing[10:13, 20:24] = True  # a window without any sample
    window, first, height = np.array([2, 1], np.float32), 0, SIZE[0]
    flags = np.random.default_rng(2).integers(0, 8, (height, SIZE[1])).astype(np.uint8)
    flags *= np.random.default_rng(3).random(flags.shape) < 0.5
    before, roots = flags.copy(), np.full((height, SIZE[1], SEEN_PLANES), -1.0, np.float32)
    blocks = np.array([True, False, True])
    window_kernels.average_colours(
        *(light, missing, cfa.pattern.copy(), LEVELS, window, first, blocks, only_flagged, roots, flags)
    )
    channels = _tiled(cfa.pattern)
    for row, column in product(range(height), [*range(0, SIZE[1], 3), SIZE[1] - 1]):
        if not blocks[column // BLOCK] or (only_flagged and before[row, column] == 0):
            assert (roots[row, column] == -1).all()
            continue
        total, mass, seen = np.zeros(3), np.zeros(3), [list[float](), list[float](), list[float]()]
        for i, j in _around(row + first, column):
            if not missing[i, j]:
                middle = _middle(row + first, column)
                weight = window[abs(i - middle[0])] * window[abs(j - middle[1])]
                total[channels[i, j]] += weight * light[i, j]
                mass[channels[i, j]] += weight
                seen[channels[i, j]].append(float(light[i, j]))
        mean = np.divide(total, mass, out=np.zeros(3), where=mass > 0)
        flag = int(before[row, column]) | sum(1 << k for k in range(3) if mass[k] == 0)
        assert flags[row, column] == flag
        is_used = flag or (mean / LEVELS).max() > 0.2
        np.testing.assert_allclose(roots[row, column, :3], np.cbrt(mean) if is_used else 0, atol=1e-6)
        even = min((min(each) / max(each) for each in seen if each), default=1.0)
        assert roots[row, column, EVENNESS] == pytest.approx(even, abs=1e-6)


def test_moments_are_summed_by_cells(light: Arrays) -> None:
    generator = np.random.default_rng(4)
    seen = generator.random((2 * CELL, SIZE[1], SEEN_PLANES)).astype(np.float32)
    roots, even = seen[..., :3], seen[..., EVENNESS]
    roots[generator.random(roots.shape[:2]) < 0.2] = 0
    flags = (generator.random(roots.shape[:2]) < 0.3).astype(np.uint8)
    blocks = np.array([True, False, True])
    moments = np.zeros((2, -(-SIZE[1] // CELL), MOMENTS))
    window_kernels.add_moments(seen, flags, LEVELS, blocks, moments)
    share = (roots.astype(np.float64) ** 3 / LEVELS).max(axis=2)
    largest = np.maximum(roots.max(axis=2), 1e-9).astype(np.float64)
    grey = roots.min(axis=2) / largest
    weight = share**16 * grey * even * (flags == 0) * np.repeat(blocks, BLOCK)[: SIZE[1]]
    parts = [weight, *(weight * roots[..., k] for k in range(3))]
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    parts += [weight * roots[..., a] * roots[..., b] for a, b in pairs]
    for (row, column), wanted in np.ndenumerate(moments[..., 0]):
        cell = slice(row * CELL, (row + 1) * CELL), slice(column * CELL, (column + 1) * CELL)
        found = np.array([part[cell].sum() for part in parts])
        np.testing.assert_allclose(moments[row, column], found, rtol=1e-5)
        assert wanted == moments[row, column, 0]


def _interpolated(grid: Arrays, row: int, column: int) -> Arrays:
    """The grid at a pixel: bilinear between the middles of cells, constant beyond the outermost."""
    lines = [np.arange(length) for length in grid.shape[:2]]
    place = [(at + 0.5) / CELL - 0.5 for at in (row, column)]
    inside = np.clip(place, 0, [line[-1] for line in lines])
    return np.asarray(interpn(lines, grid.astype(np.float64), inside)[0])


def _above(mean: float, bound: float, variance: float) -> float:
    """The mean of a normal variable above a bound, by SciPy."""
    spread = max(SOFT * math.sqrt(variance), 1e-4)
    return float(truncnorm.mean((bound - mean) / spread, np.inf, mean, spread))


@pytest.mark.parametrize("distance", [-30.0, -20.1, -19.9, -5.0, -1.0, 0.0, 2.0, 30.0])
def test_predictions_are_means_above_their_bounds(distance: float) -> None:
    found = kernels._mean_above(1.0 + 0.01 * SOFT * distance, 1.0, 1e-4)
    assert found == pytest.approx(_above(1.0 + 0.01 * SOFT * distance, 1.0, 1e-4), abs=1e-7)
    assert found >= 1.0


class _Case:
    """Some rows of pixels with predictions and tints around them."""

    def __init__(self) -> None:
        generator = np.random.default_rng(7)
        self.roots = (0.6 + 0.5 * generator.random((CELL, SIZE[1], SEEN_PLANES))).astype(np.float32)
        self.flags = generator.integers(0, 8, self.roots.shape[:2]).astype(np.uint8)
        self.blocks = np.array([True, False, True])
        shape = (4, -(-SIZE[1] // CELL))
        self.bounds = (np.cbrt(LEVELS) * (1 + 0.1 * generator.random((*shape, 3)))).astype(np.float32)
        self.grid = (0.1 * generator.standard_normal((*shape, PREDICTIONS))).astype(np.float32)
        self.grid[..., SPREAD:] = np.square(self.grid[..., SPREAD:])
        self.tints = (0.2 * generator.standard_normal((*shape, TINTS))).astype(np.float32)
        self.tints[..., TINT_SPREAD:] = np.square(self.tints[..., TINT_SPREAD:])
        self.sums = np.zeros((1, shape[1], TINT_SUMS))
        self.top = CELL

    def check(self, flags: set[int], twin: Callable[..., Arrays]) -> None:
        """Compare what was completed with a twin, which returns the predictions, and their tints' sums."""
        fresh, sums = _Case(), np.zeros_like(self.sums)
        for row, column in np.ndindex(fresh.flags.shape):
            pixel, flag = fresh.roots[row, column, :3].astype(np.float64), int(fresh.flags[row, column])
            even = float(fresh.roots[row, column, EVENNESS])
            if flag in flags and fresh.blocks[column // BLOCK]:
                place = self.top + row, column
                grid, tint = _interpolated(fresh.grid, *place), _interpolated(fresh.tints, *place)
                bounds = _interpolated(fresh.bounds, *place)
                predicted = twin(pixel, flag, bounds, grid, tint)
                red, blue = pixel[[0, 2]] - pixel[1]
                clipped = np.array([bool(flag >> channel & 1) for channel in range(3)])
                fits = (predicted - bounds)[clipped].min() > -FITS
                share = (pixel / bounds)[~clipped].max(initial=0.0)
                products = np.array([1.0, red, blue, red * red, red * blue, blue * blue])
                sums[0, column // CELL] += (1.0 if fits else UNFIT) * share**12 * even**4 * products
            np.testing.assert_allclose(self.roots[row, column], [*pixel, even], atol=2e-5)
        if self.sums.any():
            np.testing.assert_allclose(self.sums, sums, rtol=1e-4, atol=1e-3)


def _raise_green(pixel: Arrays, flag: int, grid: Arrays) -> None:
    if flag & 2:
        pixel[1] = max(pixel[1], min(pixel[0], pixel[2]) - grid[MAGENTA])


def _line(grid: Arrays, k: int, pixel: Arrays) -> float:
    i, j = (channel for channel in range(3) if channel != k)
    mean, difference = (pixel[i] + pixel[j]) / 2, pixel[i] - pixel[j]
    return float(mean + grid[OFFSET + k] + grid[SLOPE + k] * difference)


def test_one_channel_is_predicted_from_the_two_others() -> None:
    case = _Case()
    kernels.complete_single(
        *(case.roots, case.flags, case.bounds, case.blocks, case.grid, case.top, 1.0, case.sums)
    )

    def twin(pixel: Arrays, flag: int, bounds: Arrays, grid: Arrays, tint: Arrays) -> Arrays:
        k = {1: 0, 2: 1, 4: 2}[flag]
        predicted = pixel.copy()
        predicted[k] = _line(grid, k, pixel)
        pixel[k] = _above(predicted[k], bounds[k], grid[SPREAD + k])
        _raise_green(pixel, flag, grid)
        return predicted

    case.check({1, 2, 4}, twin)


def test_two_channels_are_predicted_from_the_third_and_the_tint() -> None:
    case = _Case()
    kernels.complete_pairs(
        *(case.roots, case.flags, case.bounds, case.blocks, case.grid, case.tints, case.top, case.sums)
    )

    def twin(pixel: Arrays, flag: int, bounds: Arrays, grid: Arrays, tint: Arrays) -> Arrays:
        known = {6: 0, 5: 1, 3: 2}[flag]
        clipped = [channel for channel in range(3) if channel != known]
        tints = np.array([tint[0], 0.0, tint[1]])
        steps = tints[clipped] - tints[known]
        excess = pixel[known] + steps - bounds[clipped]
        steps /= np.sqrt(1 + (steps @ steps - steps[0] * steps[1]) / VIVID_PAIR**2)
        guess = pixel.copy()
        guess[clipped] = pixel[known] + steps
        near, other = clipped if excess[0] <= excess[1] else clipped[::-1]
        predicted = guess.copy()
        predicted[other] = _line(grid, other, predicted)
        pixel[near] = _above(guess[near], bounds[near], tint[TINT_SPREAD + {1: 0, 3: 1, 2: 2}[near + known]])
        pixel[other] = _above(_line(grid, other, pixel), bounds[other], grid[SPREAD + other])
        _raise_green(pixel, flag, grid)
        return predicted

    case.check({3, 5, 6}, twin)


def test_cores_have_the_tint_around_them_above_all_bounds() -> None:
    case = _Case()
    kernels.complete_cores(case.roots, case.flags, case.bounds, case.blocks, case.tints, case.top)

    def twin(pixel: Arrays, flag: int, bounds: Arrays, grid: Arrays, tint: Arrays) -> Arrays:
        length = tint[:2] @ tint[:2] - tint[0] * tint[1]
        red, blue = tint[:2] / np.sqrt(1 + length / VIVID_CORE**2)
        colours = np.array([red, 0.0, blue])
        pixel[:] = (bounds - colours).max() + colours
        return pixel

    case.check({7}, twin)


def test_roots_are_scaled_by_cells_and_back() -> None:
    case = _Case()
    before = case.roots.copy()
    kernels.scale_roots(case.roots, case.bounds, case.blocks, case.top, False)
    for row, column in np.ndindex(case.flags.shape):
        wanted = before[row, column].astype(np.float64)
        if case.blocks[column // BLOCK]:
            wanted[:3] *= _interpolated(case.bounds, case.top + row, column)
        np.testing.assert_allclose(case.roots[row, column], wanted, rtol=1e-6)
    kernels.scale_roots(case.roots, case.bounds, case.blocks, case.top, True)
    np.testing.assert_allclose(case.roots, before, rtol=1e-6)
