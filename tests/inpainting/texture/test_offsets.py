"""Labels found by messages beside plain loops and exhaustive search; offsets of what repeats."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.inpainting.texture.kernels import REACH
from demosaic_ntc.inpainting.texture.level import Level, Scene
from demosaic_ntc.inpainting.texture.message_kernels import compare_labels, find_labels
from demosaic_ntc.inpainting.texture.offsets import find_offsets, start_by_offsets

Floats = NDArray[np.float32]


def _grid(height: int, width: int) -> NDArray[np.int32]:
    """The numbers of neighbours in a whole grid: above, left, right, below."""
    numbers = np.pad(np.arange(height * width).reshape(height, width), 1, constant_values=-1)
    sides = (numbers[:-2, 1:-1], numbers[1:-1, :-2], numbers[1:-1, 2:], numbers[2:, 1:-1])
    return np.stack([side.ravel() for side in sides], axis=1).astype(np.int32)


def _energy(costs: Floats, gaps: Floats, near: NDArray[np.int32], labels: NDArray[np.int32]) -> float:
    """What labels cost together with their seams."""
    total = sum(float(costs[p, label]) for p, label in enumerate(labels))
    for pixel, sides in enumerate(near):
        for other in sides[2:]:
            if other >= 0:
                a, b = labels[pixel], labels[other]
                total += float(gaps[pixel, a, b] + gaps[other, a, b])
    return total


def _pass_messages(costs: Floats, gaps: Floats, near: NDArray[np.int32], rounds: int) -> NDArray[np.int32]:
    """The twin of `find_labels`, in whole arrays."""
    pixels, labels = costs.shape
    told = np.zeros((pixels, 4, labels))
    for _ in range(rounds):
        for order, sides in ((range(pixels), (2, 3)), (range(pixels - 1, -1, -1), (0, 1))):
            for p in order:
                before, behind = (near[p, :2] >= 0).sum(), (near[p, 2:] >= 0).sum()
                for side in sides:
                    q = near[p, side]
                    if q < 0:
                        continue
                    own = (costs[p] + told[p].sum(axis=0)) / max(before, behind, 1) - told[p, side]
                    message = (own[None] + gaps[p] + gaps[q]).min(axis=1)
                    told[q, 3 - side] = message - message.min()
    chosen = np.zeros(pixels, np.int32)
    for p in range(pixels):
        total = costs[p].astype(float)
        for side in range(4):
            q = near[p, side]
            if q >= 0:
                seam = gaps[p, chosen[q]] + gaps[q, chosen[q]]
                total = total + (seam if side < 2 else told[p, side])
        chosen[p] = total.argmin()
    return chosen


@pytest.mark.parametrize("seed", range(4))
def test_messages_are_those_of_the_twin_and_close_to_the_best_of_all(seed: int) -> None:
    generator = np.random.default_rng(seed)
    height, width, labels = 3, 2, 3
    near = _grid(height, width)
    costs = generator.random((height * width, labels)).astype(np.float32)
    told = generator.random((height * width, labels, 3)).astype(np.float32)
    gaps = np.empty((height * width, labels, labels), np.float32)
    compare_labels(told, gaps)
    np.testing.assert_allclose(gaps, ((told[:, :, None] - told[:, None]) ** 2).sum(axis=3), rtol=1e-5)
    chosen = np.zeros(height * width, np.int32)
    find_labels(costs, gaps, near, 20, chosen)
    np.testing.assert_array_equal(chosen, _pass_messages(costs, gaps, near, 20))
    best = min(
        _energy(costs, gaps, near, np.array(each)) for each in product(range(labels), repeat=height * width)
    )
    assert _energy(costs, gaps, near, chosen) <= 1.05 * best + 1e-6


def _level(light: NDArray[np.float64], hole: NDArray[np.bool_]) -> Level:
    values = np.ascontiguousarray(np.repeat(light[..., None], 3, axis=2), np.float32)
    return Level.of(Scene(values, hole, ~hole, ~hole))


def test_the_period_of_a_fence_is_among_its_offsets() -> None:
    y, x = np.mgrid[0:60, 0:90]
    hole = (abs(y - 30) < 8) & (abs(x - 45) < 8)
    light = 0.2 + 0.6 * (x % 11 < 4) + 0.1 * (y > 30) * (x % 11 >= 4)
    level = _level(light, hole)
    offsets = {tuple(each) for each in find_offsets(level).tolist()}
    assert {(0, 11), (0, -11)} & offsets or {(0, 22), (0, -22)} & offsets


def test_a_fence_goes_on_through_a_hole() -> None:
    y, x = np.mgrid[0:60, 0:90]
    hole = (abs(y - 30) < 8) & (abs(x - 45) < 8)
    light = np.where(y < 15, 0.9, 0.2 + 0.6 * (x % 11 < 4))
    level = _level(light, hole)
    smooth = np.where(level.hole[..., None], np.float32(0.5), level.values)
    made = start_by_offsets(level, smooth)
    assert made is not None
    inner = made.values[REACH:-REACH, REACH:-REACH, 0]
    assert np.abs(inner - light)[hole].mean() < 0.02


def test_without_sources_there_is_no_start() -> None:
    hole = np.zeros((20, 20), np.bool_)
    hole[4:16, 4:16] = True
    values = np.zeros((20, 20, 3), np.float32)
    level = Level.of(Scene(values, hole, ~hole, np.zeros_like(hole)))
    assert start_by_offsets(level, level.values) is None
