"""The completion of what a prediction leaves, against plain numpy and all vertices of its polytope."""

import itertools

import numpy as np
import pytest
from scipy.optimize import nnls

from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.engine.kernels.completion import _shift_rest, _take_rest, complete_rest, empty_rest
from demosaic_ntc.engine.kernels.gather import PatchGroup
from tests.engine.kernels.drawn import random_group, rows, shown_in


def left_of(group: PatchGroup, channels: int, patches: int) -> tuple[Float64, Flags]:
    """Return what the fit leaves at known entries and zero elsewhere, and which are known, as tensors."""
    pixels = group.known.shape[1]
    shown = shown_in(group.known[:patches], channels)
    entries = channels * pixels
    left = np.where(shown, rows(group.seen, entries)[:patches] - rows(group.fit, entries)[:patches], 0.0)
    shape = (patches, channels, pixels)
    return left.reshape(shape).transpose(1, 0, 2), shown.reshape(shape).transpose(1, 0, 2)


@pytest.mark.parametrize(("channels", "patches", "pixels"), [(1, 3, 4), (3, 2, 5), (4, 4, 3)])
def test_the_rest_is_what_the_fit_leaves_at_known_entries(channels: int, patches: int, pixels: int) -> None:
    group, rest = random_group(6, 6, 5, pixels, channels), empty_rest(channels, patches, pixels)
    total = _take_rest(group, np.float32(0.2), rest)
    left, shown = left_of(group, channels, patches)
    weight = np.where(shown, 1.0, 0.2)
    assert rest.data == pytest.approx(left, abs=1e-7)
    assert rest.weight == pytest.approx(weight)
    assert total == pytest.approx(weight.sum(), rel=1e-5)


def test_each_channel_of_the_rest_is_shifted_to_begin_at_zero() -> None:
    rest = empty_rest(2, 1, 3)
    rest.data[:] = [[[-0.5, 0.25, 0.0]], [[0.5, 0.125, 0.25]]]
    rest.weight[:] = 2.0
    largest = _shift_rest(rest, np.float32(12))
    assert largest == 0.75
    assert rest.data.tolist() == [[[0.0, 0.75, 0.5]], [[0.5, 0.125, 0.25]]]
    assert rest.start.tolist() == [[[0.5, 0.5, 0.5]], [[0.0, 0.0, 0.0]]]
    assert rest.weight == pytest.approx(1 / 6)


def test_the_radius_is_that_of_the_channel_that_varies_most() -> None:
    rest = empty_rest(2, 1, 2)
    rest.data[:] = [[[-0.5, 0.25]], [[-0.1, 0.1]]]
    rest.weight[:] = 1.0
    assert _shift_rest(rest, np.float32(4)) == 0.75


CHANNELS, PATCHES, PIXELS, UNSEEN = 2, 2, 3, 0.1


def all_vertices(shape: tuple[int, int, int]) -> Float64:
    """Return every 0-1 tensor of rank one, and zero, as rows."""
    choices = (itertools.product((0, 1), repeat=length) for length in shape)
    return np.unique([np.einsum("i,j,k", *choice).ravel() for choice in itertools.product(*choices)], axis=0)


def least_objective(data: Float64, weight: Float64, radius: float) -> float:
    """Return the least weighted squared distance of a tensor from the polytope, by nonnegative fitting."""
    vertices, far = radius * all_vertices((CHANNELS, PATCHES, PIXELS)), 1e3
    root = np.sqrt(weight).ravel()
    matrix = np.vstack([vertices.T * root[:, None], np.full(len(vertices), far)])
    shares, _ = nnls(matrix, np.append(root * data.ravel(), far))
    return float((weight.ravel() * (shares @ vertices - data.ravel()) ** 2).sum())


def completed(group: PatchGroup, radius: float, tolerance: float, vertices: int) -> float:
    rest = empty_rest(CHANNELS, PATCHES, PIXELS)
    return complete_rest(group, rest, UNSEEN, radius, tolerance, vertices)


def objective_of(group: PatchGroup, fit: Float64) -> float:
    """Return the objective of a completion that has moved the fit from where it was."""
    left, shown = left_of(group, CHANNELS, PATCHES)
    entries = CHANNELS * PIXELS
    moved = (rows(group.fit, entries) - fit)[:PATCHES]
    moved = moved.reshape(PATCHES, CHANNELS, PIXELS).transpose(1, 0, 2)
    squares = np.where(shown, left**2, UNSEEN * moved**2)
    return float(squares.sum() / np.where(shown, 1.0, UNSEEN).sum())


@pytest.mark.parametrize("vertices", [1, 3, 100])
@pytest.mark.parametrize("radius", [1.0, 1.5])
@pytest.mark.parametrize("seed", range(4))
def test_a_gap_bounds_the_distance_from_the_best_of_all_vertices(
    seed: int, radius: float, vertices: int
) -> None:
    group = random_group(seed, 4, 3, PIXELS, CHANNELS)
    group.fit[:] *= np.random.default_rng(seed).uniform(0.5, 1.5, group.fit.shape)
    before, (left, shown) = rows(group.fit, CHANNELS * PIXELS), left_of(group, CHANNELS, PATCHES)
    weight = np.where(shown, 1.0, UNSEEN)
    weight /= weight.sum()
    low = np.minimum(left.min(axis=(1, 2), keepdims=True), 0)
    shifted = left - low
    best = least_objective(shifted, weight, radius * shifted.max())
    at_first = objective_of(group, before)
    gap = completed(group, radius, 1e-7, vertices)
    objective = objective_of(group, before)
    assert best - 1e-6 <= objective <= best + gap + 1e-6
    assert objective < at_first
    if vertices == 100:
        assert gap < 0.1 * at_first
    assert np.array_equal(rows(group.fit, CHANNELS * PIXELS)[PATCHES:], before[PATCHES:])


def test_more_vertices_come_closer() -> None:
    objectives = []
    for vertices in (1, 4, 60):
        group = random_group(7, 4, 2, PIXELS, CHANNELS)
        before = rows(group.fit, CHANNELS * PIXELS)
        completed(group, 1.0, 1e-9, vertices)
        objectives.append(objective_of(group, before))
    assert objectives[2] < objectives[1] < objectives[0]


def test_a_fit_within_the_tolerance_stays() -> None:
    group = random_group(8, 4, 2, PIXELS, CHANNELS)
    before, fit = objective_of(group, rows(group.fit, CHANNELS * PIXELS)), group.fit.copy()
    gap = completed(group, 1.0, 1.001 * before, 5)
    assert 0 <= gap <= 1.001 * before
    assert group.fit == pytest.approx(fit, abs=1e-6)
    completed(group, 1.0, 0.01 * before, 5)
    assert group.fit != pytest.approx(fit, abs=1e-4)


def test_what_is_not_known_does_not_count_as_misfit() -> None:
    group = random_group(9, 4, 2, PIXELS, CHANNELS)
    group.fit[:, : CHANNELS * PIXELS] = group.seen[:2, : CHANNELS * PIXELS] + np.float32(1e-4)
    group.known[:, 0] = 0
    group.fit[:, [0, PIXELS]] += 5.0
    fit = group.fit.copy()
    assert completed(group, 1.0, 1e-6, 5) <= 1e-6
    assert group.fit == pytest.approx(fit, abs=1e-5)
