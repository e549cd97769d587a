"""The compiled group completion against plain numpy, exhaustive search and the library's solver."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import Status, complete
from demosaic_ntc.imaging.kernels.group import complete_group, exact_vertex, likely_vertices
from demosaic_ntc.imaging.kernels.matching import match_patches

Tensor = NDArray[np.float32]


def random_tensor(seed: int, shape: tuple[int, ...] = (3, 4, 5)) -> Tensor:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def values_of_all_subsets(gradient: Tensor) -> dict[tuple[int, int], float]:
    """Return the best value for every subset of channels and of patches, pixels chosen in closed form."""
    channels, patches, _ = gradient.shape
    values = {}
    for chosen, members in itertools.product(range(1 << channels), range(1 << patches)):
        part = gradient[[c for c in range(channels) if chosen >> c & 1]]
        part = part[:, [k for k in range(patches) if members >> k & 1]]
        values[chosen, members] = float(np.minimum(part.sum(axis=(0, 1)), 0).sum())
    return values


@pytest.mark.parametrize("seed", range(5))
def test_exact_vertex_is_the_minimum_over_all_subsets(seed: int) -> None:
    gradient = random_tensor(seed)
    values = values_of_all_subsets(gradient)
    value, chosen, members = exact_vertex(
        gradient, np.empty((4, 5), np.float32), np.empty((16, 5), np.float32), np.empty(16, np.float32)
    )
    assert value == pytest.approx(min(values.values()), rel=1e-5)
    assert values[chosen, members] == pytest.approx(value, rel=1e-5)


def test_exact_vertex_of_a_positive_gradient_is_empty() -> None:
    gradient = np.abs(random_tensor(0))
    room = np.empty((4, 5), np.float32), np.empty((16, 5), np.float32), np.empty(16, np.float32)
    found = exact_vertex(gradient, *room)
    assert [float(part) for part in found] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("seed", range(5))
def test_likely_vertices_reach_values_that_their_subsets_have(seed: int) -> None:
    gradient = random_tensor(seed)
    values, members = np.empty(8, np.float32), np.empty(8, np.int64)
    total, pixel, column = (np.empty(shape, np.float32) for shape in ((4, 5), (5,), (5,)))
    likely_vertices(gradient, total, pixel, column, values, members)
    subsets = values_of_all_subsets(gradient)
    for chosen in range(1, 8):
        assert values[chosen] == pytest.approx(subsets[chosen, int(members[chosen])], rel=1e-4, abs=1e-5)


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


def test_residual_is_the_completion_minus_the_data_and_gives_the_objective() -> None:
    data, weight, start, radius = group_problem(6)
    residual = np.empty_like(data)
    objective, _ = complete_group(data, weight, start, radius, 1e-6, 50, residual)
    completion = data + residual
    assert objective == pytest.approx(float((weight * residual**2).sum()), rel=1e-4)
    assert completion.min() >= -1e-5
    assert completion.max() <= radius + 1e-5


def test_matching_finds_the_nearest_patches_with_the_reference_first() -> None:
    planes = np.random.default_rng(0).random((3, 12, 14)).astype(np.float32)
    rows, columns = np.array([0, 5]), np.array([2, 10])
    found = np.zeros((2, 2, 5, 2), np.int8)
    match_patches(planes, rows, columns, 4, 3, found)
    for (a, row), (b, column) in itertools.product(enumerate(rows), enumerate(columns)):
        reference = planes[:, row : row + 4, column : column + 4]
        errors = {}
        for dy, dx in itertools.product(range(-3, 4), repeat=2):
            if 0 <= row + dy <= 8 and 0 <= column + dx <= 10:
                patch = planes[:, row + dy : row + dy + 4, column + dx : column + dx + 4]
                errors[dy, dx] = float(((patch - reference) ** 2).sum())
        expected = sorted(errors, key=lambda offset: errors[offset])[:5]
        assert found[a, b].tolist() == [list(offset) for offset in expected]
        assert found[a, b, 0].tolist() == [0, 0]
