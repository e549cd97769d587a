"""The compiled group completion against plain numpy, exhaustive search and the library's solver."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import Status, complete
from demosaic_ntc.arrays import Float64
from demosaic_ntc.engine.kernels.group import (
    _alternate,
    _correct,
    _evaluate,
    _inner_products,
    _sum_of_channels,
    _values_of_subsets,
    _write_vertex,
    complete_group,
    exact_vertex,
    likely_vertex,
)
from demosaic_ntc.ntc.kernels.cholesky import append_to_cholesky

Tensor = NDArray[np.float32]


def random_tensor(seed: int, shape: tuple[int, ...] = (3, 4, 5)) -> Tensor:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def bits(subset: int, length: int) -> list[int]:
    return [place for place in range(length) if subset >> place & 1]


def values_of_all_subsets(gradient: Tensor) -> dict[tuple[int, int], float]:
    """Return the best value for every subset of channels and of patches, pixels chosen in closed form."""
    channels, patches, _ = gradient.shape
    values = {}
    for chosen, members in itertools.product(range(1 << channels), range(1 << patches)):
        part = gradient[bits(chosen, channels)][:, bits(members, patches)]
        values[chosen, members] = float(np.minimum(part.sum(axis=(0, 1)), 0).sum())
    return values


@pytest.mark.parametrize("chosen", [0, 1, 6, 7])
def test_chosen_channels_are_added_up(chosen: int) -> None:
    gradient, total = random_tensor(0), np.full((4, 5), 9, np.float32)
    bound = _sum_of_channels(gradient, chosen, total)
    expected = gradient[bits(chosen, 3)].sum(axis=0)
    assert total == pytest.approx(expected, abs=1e-6)
    assert bound == pytest.approx(np.minimum(expected, 0).sum(), abs=1e-5)


def test_every_subset_of_patches_has_the_value_of_its_best_pixels() -> None:
    total, sums, values = random_tensor(1, (4, 5)), np.empty((16, 5), np.float32), np.empty(16, np.float32)
    _values_of_subsets(total, sums, values)
    for subset in range(16):
        row = total[bits(subset, 4)].sum(axis=0)
        assert sums[subset] == pytest.approx(row, abs=1e-5)
        assert values[subset] == pytest.approx(np.minimum(row, 0).sum(), abs=1e-5)


def rooms(channels: int, patches: int, pixels: int) -> tuple[Tensor, Tensor, Tensor]:
    shapes: list[tuple[int, ...]] = [(patches, pixels), (1 << patches, pixels), (1 << patches,)]
    total, sums, values = (np.empty(shape, np.float32) for shape in shapes)
    return total, sums, values


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 3, 7), (4, 2, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_exact_vertex_is_the_minimum_over_all_subsets(seed: int, shape: tuple[int, int, int]) -> None:
    gradient = random_tensor(seed, shape)
    values = values_of_all_subsets(gradient)
    value, chosen, members = exact_vertex(gradient, *rooms(*shape))
    assert value == pytest.approx(min(values.values()), rel=1e-5)
    assert values[chosen, members] == pytest.approx(value, rel=1e-5)


def test_exact_vertex_of_a_positive_gradient_is_empty() -> None:
    found = exact_vertex(np.abs(random_tensor(0)), *rooms(3, 4, 5))
    assert [float(part) for part in found] == [0.0, 0.0, 0.0]


def test_alternation_ends_where_neither_pixels_nor_patches_can_be_improved() -> None:
    total = np.array([[-3, 1, 0], [-2, -1, 2], [4, -2, -1]], np.float32)
    pixel, column = np.array([1, 0, 0], np.float32), np.empty(3, np.float32)
    value, members = _alternate(total, pixel, column)
    assert [float(value), members] == [-5.0, 0b011]
    assert pixel.tolist() == [1, 0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_a_likely_vertex_has_the_value_of_its_subsets_and_is_no_worse_than_any_patch_alone(seed: int) -> None:
    gradient = random_tensor(seed)
    total, pixel, column = (np.empty(shape, np.float32) for shape in ((4, 5), (5,), (5,)))
    value, chosen, members = likely_vertex(gradient, total, pixel, column)
    subsets = values_of_all_subsets(gradient)
    assert value == pytest.approx(subsets[chosen, members], rel=1e-4, abs=1e-5)
    assert value <= min(subsets[some, 1 << k] for some in range(8) for k in range(4)) + 1e-5


def test_no_vertex_is_likely_where_the_gradient_is_positive() -> None:
    total, pixel, column = (np.empty(shape, np.float32) for shape in ((4, 5), (5,), (5,)))
    found = likely_vertex(np.abs(random_tensor(0)), total, pixel, column)
    assert [float(part) for part in found] == [0.0, 0.0, 0.0]


def test_a_vertex_is_written_with_the_best_pixels_for_its_subsets() -> None:
    gradient, data = random_tensor(2), random_tensor(3)
    gain, out = np.full(5, 9, np.float32), np.empty((3, 4, 5), np.float32)
    _write_vertex(gradient, 0b101, 0b0110, np.float32(0.7), data, gain, out)
    inside = np.zeros((3, 4, 5))
    below = gradient[np.ix_([0, 2], [1, 2])].sum(axis=(0, 1)) < 0
    inside[np.ix_([0, 2], [1, 2])] = np.where(below, 0.7, 0.0)
    assert out == pytest.approx(inside - data, abs=1e-6)


def test_inner_products_are_weighted() -> None:
    points, weight = random_tensor(4, (3, 2, 3, 4)), np.abs(random_tensor(5, (2, 3, 4)))
    gram = np.full((3, 3), 7.0)
    for count in range(3):
        _inner_products(points, weight, count, gram)
    assert gram == pytest.approx(np.einsum("iabc,jabc,abc->ij", points, points, weight), rel=1e-4, abs=1e-5)


def test_objective_gradient_and_bounds_are_those_of_the_mixed_point() -> None:
    points, data = random_tensor(6, (3, 2, 3, 4)), np.abs(random_tensor(7, (2, 3, 4)))
    weight, alpha = np.abs(random_tensor(8, (2, 3, 4))), np.array([0.5, 0.2, 0.3])
    residual, gradient = np.empty_like(data), np.empty_like(data)
    objective, here, free = _evaluate(points, alpha, 3, weight, data, residual, gradient)
    mixed = np.tensordot(alpha, points.astype(np.float64), 1)
    slope = 2 * weight * mixed
    assert residual == pytest.approx(mixed, abs=1e-5)
    assert gradient == pytest.approx(slope, abs=1e-5)
    assert objective == pytest.approx((weight * mixed**2).sum(), rel=1e-4)
    assert here == pytest.approx((slope * (mixed + data)).sum(), rel=1e-4, abs=1e-4)
    assert free == pytest.approx(np.minimum(slope, 0).sum(), rel=1e-4)


def wolfe(gram: Float64, alpha: Float64) -> dict[int, float]:
    """Return the weights by Wolfe's minor cycles: towards the affine minimiser while all stay positive."""
    kept, weights = list(range(len(alpha))), alpha.copy()
    while True:
        ideal = np.linalg.solve(gram[np.ix_(kept, kept)], np.ones(len(kept)))
        ideal /= ideal.sum()
        falling = [i for i in range(len(kept)) if ideal[i] <= 1e-7]
        if not falling:
            return dict(zip(kept, ideal.tolist(), strict=True))
        reaches = {i: weights[i] / (weights[i] - ideal[i]) for i in falling}
        first = min(reaches, key=lambda i: reaches[i])
        weights = np.delete(weights + reaches[first] * (ideal - weights), first)
        del kept[first]


@pytest.mark.parametrize("seed", range(40))
def test_weights_are_corrected_by_steps_that_leave_none_negative(seed: int) -> None:
    random = np.random.default_rng(seed)
    points = (random.normal(size=(6, 1, 2, 4)) + 1.0).astype(np.float32)
    flat, alpha = points.reshape(6, -1).astype(np.float64), random.dirichlet(np.ones(6))
    gram, factor, weights = flat @ flat.T, np.zeros((6, 6)), alpha.copy()
    for count in range(6):
        append_to_cholesky(gram, factor, count)
    expected, before = wolfe(gram.copy(), alpha), points.copy()
    count = _correct(points, gram, factor, weights, 6)
    assert weights[:count] == pytest.approx(list(expected.values()), abs=1e-5)
    assert np.array_equal(points[:count], before[list(expected)])
    assert (weights[:count] > 0).all()
    assert weights[:count].sum() == pytest.approx(1.0, abs=1e-9)


def group_problem(seed: int) -> tuple[Tensor, Tensor, Tensor, float]:
    """Return data, weights, a start inside the polytope and a radius that binds."""
    random = np.random.default_rng(seed)
    data = random.random((3, 4, 5)).astype(np.float32)
    weight = np.where(random.random(data.shape) < 1 / 3, 1.0, 0.2).astype(np.float32)
    return data, weight / weight.sum(), np.full_like(data, 0.3), 0.8


@pytest.mark.parametrize("oracle", ["exact", "gurobi", "highs"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_reach_the_objective_of_the_library_within_the_gap(seed: int, oracle: str) -> None:
    data, weight, start, radius = group_problem(seed)
    residual = np.empty_like(data)
    objective, gap = complete_group(data, weight, start, radius, 1e-5, 200, residual)
    index = np.stack(np.unravel_index(np.arange(data.size), data.shape), axis=1)
    solution = complete(
        data.shape, index, data.ravel(), radius=radius, weight=weight.ravel(), oracle=oracle, gap=1e-6
    )
    assert solution.status is Status.OPTIMAL
    best = solution.certificate
    assert objective >= best.lower_bound - 1e-6
    assert objective - gap <= best.objective + 1e-6
    assert objective == pytest.approx(best.objective, abs=gap + 1e-6)


def test_groups_are_certified_even_when_few_vertices_are_allowed() -> None:
    data, weight, start, radius = group_problem(5)
    objective, gap = complete_group(data, weight, start, radius, 1e-9, 2, np.empty_like(data))
    finer, _ = complete_group(data, weight, start, radius, 1e-9, 300, np.empty_like(data))
    assert np.isfinite(gap)
    assert finer < objective
    assert objective - gap <= finer + 1e-6


def test_a_start_that_the_free_bound_proves_is_left_as_it_is() -> None:
    data, weight, _, _ = group_problem(6)
    start = data + np.float32(1e-4)
    residual = np.empty_like(data)
    objective, gap = complete_group(data, weight, start, 1.0, 1e-3, 50, residual)
    assert residual == pytest.approx(start - data, abs=1e-7)
    assert objective == pytest.approx(1e-8, rel=1e-2)
    assert gap <= objective + 1e-9


def test_residual_is_the_completion_minus_the_data_and_gives_the_objective() -> None:
    data, weight, start, radius = group_problem(6)
    residual = np.empty_like(data)
    objective, _ = complete_group(data, weight, start, radius, 1e-6, 50, residual)
    completion = data + residual
    assert objective == pytest.approx(float((weight * residual**2).sum()), rel=1e-4)
    assert completion.min() >= -1e-5
    assert completion.max() <= radius + 1e-5
