"""Completions of least norm: oracles against all vertices, bounds against exact solves of tiny tensors."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls

from demosaic_ntc import complete
from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.engine.kernels.face_mean import average_face, empty_draws
from demosaic_ntc.engine.kernels.least_norm import Bounds, Tensor, empty_tensor, find_least_norm
from demosaic_ntc.engine.kernels.vertex_oracles import (
    empty_search,
    find_columns,
    find_exact,
    find_likely,
)
from demosaic_ntc.engine.kernels.vertex_set import (
    VertexSet,
    append_vertex,
    correct_weights,
    count_bits,
    empty_vertex_set,
    write_residual,
)

Shape = tuple[int, int, int]
SHAPES: list[Shape] = [(1, 2, 3), (2, 2, 2), (3, 2, 3), (2, 3, 2)]


def samples_of(seed: int, shape: Shape, share: float = 0.6) -> tuple[Float64, Flags]:
    """Draw a nonnegative tensor of small rank, and which entries of it are samples."""
    random = np.random.default_rng(seed)
    parts = [np.einsum("i,j,k", *(random.random(length) for length in shape)) for _ in range(2)]
    return sum(parts, np.zeros(shape)), random.random(shape) < share


def tensor_of(value: Float64, shown: Flags) -> Tensor:
    tensor = empty_tensor(*value.shape)
    tensor.value[:] = np.where(shown, value, 0)
    bits = np.uint64(1) << np.arange(value.shape[2], dtype=np.uint64)
    tensor.mask[:] = (shown * bits).sum(axis=2, dtype=np.uint64)
    return tensor


def all_vertices(shape: Shape) -> Float64:
    """Return every 0-1 tensor of rank one, and zero, as rows."""
    choices = (product((0, 1), repeat=length) for length in shape)
    return np.unique([np.einsum("i,j,k", *choice).ravel() for choice in product(*choices)], axis=0)


def expand(active: VertexSet, vertex: int, shape: Shape) -> Float64:
    """Return a vertex as a tensor."""
    words = (int(active.channels[vertex]), int(active.rows[vertex]), int(active.columns[vertex]))
    bits = [[(word >> i) & 1 for i in range(length)] for word, length in zip(words, shape, strict=True)]
    return np.asarray(np.einsum("i,j,k", *(np.array(own, float) for own in bits)))


def solve(tensor: Tensor, misfit: float, ratio: float = 1.02, most: int = 60) -> tuple[Bounds, VertexSet]:
    active = empty_vertex_set(most)
    return find_least_norm(tensor, misfit, ratio, empty_search(*tensor.value.shape), active), active


def least_norm(value: Float64, shown: Flags, misfit: float) -> float:
    """Return the least norm that explains samples, by bisection over all vertices of a tiny tensor."""
    vertices = all_vertices(value.shape)[:, shown.ravel()].T
    target, heavy, low, high = value[shown], 1e4, 0.0, 20.0
    for _ in range(45):
        middle = (low + high) / 2
        system = np.vstack([vertices, np.full(vertices.shape[1], heavy)])
        _, norm = nnls(system, np.append(target, heavy * middle), maxiter=10_000)
        low, high = (low, middle) if norm**2 <= misfit else (middle, high)
    return high


@pytest.mark.parametrize("word", [0, 1, 0b1011, 2**63, 2**64 - 1])
def test_bits_are_counted(word: int) -> None:
    assert count_bits(np.uint64(word)) == word.bit_count()


@pytest.mark.parametrize("shape", [(1, 3, 4), (3, 4, 5), (4, 2, 6)])
def test_the_exact_oracle_finds_the_best_of_all_vertices(shape: Shape) -> None:
    vertices = all_vertices(shape)
    for seed in range(8):
        values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
        search = empty_search(*shape)
        best = find_exact(values, search)
        assert best == pytest.approx(float((vertices @ values.ravel()).max()), rel=1e-5)
        subset = int(search.slope.argmax())
        members = int(search.members[subset])
        word = int(find_columns(values, subset + 1, members, search.gain))
        chosen = [
            np.array([(bits >> i) & 1 for i in range(length)], float)
            for bits, length in zip((subset + 1, members, word), shape, strict=True)
        ]
        assert np.einsum("ijk,i,j,k", values, *chosen) == pytest.approx(best, rel=1e-5)


def test_nothing_is_above_zero_where_nothing_is_positive() -> None:
    search = empty_search(2, 3, 4)
    values = np.full((2, 3, 4), -1, np.float32)
    assert find_exact(values, search) == find_likely(values, search) == 0


def test_alternation_is_never_above_the_best_and_often_there() -> None:
    shape, reached = (3, 5, 9), 0
    for seed in range(40):
        values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
        likely = find_likely(values, empty_search(*shape))
        best = find_exact(values, empty_search(*shape))
        assert 0 < likely <= best * (1 + 1e-5)
        reached += int(likely > 0.999 * best)
    assert reached > 15


def test_weights_are_those_of_the_least_norm_within_the_vertices() -> None:
    shape: Shape = (2, 3, 4)
    value, shown = samples_of(3, shape)
    tensor, active, count = tensor_of(value, shown), empty_vertex_set(20), 0
    for channels, rows, columns in ((3, 7, 15), (1, 5, 6), (2, 3, 9), (3, 4, 12)):
        count = append_vertex(tensor.value, tensor.mask, channels, rows, np.uint64(columns), active, count)
    assert append_vertex(tensor.value, tensor.mask, 3, 7, np.uint64(15), active, count) == count
    matrix = np.stack([expand(active, i, shape)[shown] for i in range(count)], axis=1)
    energy, slope = float((value[shown] ** 2).sum()), 0.05
    left, own, is_met = correct_weights(active, count, energy, 0.0, slope, False)
    assert (own, is_met) == (slope, False)
    kept = np.stack([expand(active, i, shape)[shown] for i in range(left)], axis=1)
    # min ½‖y − Va‖² + μ Σ a over a ≥ 0, as nonnegative least squares of a square system
    gram, overlap = matrix.T @ matrix, matrix.T @ value[shown] - slope
    root = np.linalg.cholesky(gram)
    expected, _ = nnls(root.T, np.linalg.solve(root, overlap))
    assert np.sort(active.weight[:left]) == pytest.approx(np.sort(expected[expected > 1e-9]), rel=1e-4)
    write_residual(tensor.value, tensor.mask, active, left, residual := np.empty_like(tensor.value))
    assert residual[shown] == pytest.approx(value[shown] - kept @ active.weight[:left], abs=1e-5)
    assert not residual[~shown].any()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [1e-3, 3e-2])
def test_bounds_enclose_the_least_norm(shape: Shape, share: float) -> None:
    for seed in range(6):
        value, shown = samples_of(seed, shape)
        if not shown.any():
            continue
        value = np.where(shown, value, 0)
        misfit = share * float((value**2).sum())
        bounds, active = solve(tensor_of(value, shown), misfit)
        exact = least_norm(value, shown, misfit)
        assert bounds.lower <= exact * (1 + 1e-3)
        assert bounds.upper >= exact * (1 - 1e-3)
        assert bounds.upper <= 1.02 * bounds.lower + 1e-9
        fit = sum(active.weight[i] * expand(active, i, shape) for i in range(bounds.vertices))
        assert np.square((value - fit)[shown]).sum() <= misfit * (1 + 1e-3)
        assert active.weight[: bounds.vertices].sum() == pytest.approx(bounds.upper, rel=1e-6)
        assert (active.weight[: bounds.vertices] >= 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_groups_agree_with_the_solver_for_tensors_of_any_size(seed: int) -> None:
    value, shown = samples_of(seed, (3, 8, 16), 1 / 3)
    value += 0.2 * np.random.default_rng(seed).random(value.shape)
    samples = value[shown]
    bounds, _ = solve(tensor_of(value, shown), 1e-3 * float((samples**2).sum()), 1.05, 140)
    other = complete(value.shape, np.argwhere(shown), samples, radius="least", gap=1e-3, oracle="exact")
    assert other.least is not None
    assert bounds.upper <= 1.05 * bounds.lower
    assert bounds.lower <= other.least.upper * (1 + 1e-6)
    assert other.least.lower <= bounds.upper * (1 + 1e-6)
    assert bounds.upper == pytest.approx(other.least.upper, rel=0.1)


def test_what_a_misfit_explains_altogether_takes_no_vertex() -> None:
    value, shown = samples_of(0, (2, 3, 4))
    bounds, _ = solve(tensor_of(value, shown), 2 * float((value**2).sum()))
    assert tuple(bounds) == (0, 0, 0)


def test_without_room_for_the_vertices_nothing_is_claimed() -> None:
    value = np.random.default_rng(0).random((3, 6, 9))
    bounds, _ = solve(tensor_of(value, np.ones(value.shape, np.bool_)), 1e-9, most=4)
    assert bounds.upper == np.inf
    assert 0 < bounds.lower < np.inf


def with_the_same_samples(vertex: Float64, shown: Flags) -> Float64:
    """Return the mean over all vertices that agree with one at the samples."""
    rows = all_vertices(vertex.shape)
    same = rows[(rows[:, shown.ravel()] == vertex[shown]).all(axis=1)]
    return np.asarray(same.mean(axis=0)).reshape(vertex.shape)


def face_of(value: Float64, shown: Flags) -> tuple[NDArray[np.float32], VertexSet, int]:
    tensor, mean = tensor_of(value, shown), np.empty(value.shape, np.float32)
    bounds, active = solve(tensor, 1e-3 * float((tensor.value**2).sum()))
    average_face(tensor.mask, active, bounds.vertices, empty_draws(*value.shape), mean)
    return mean, active, bounds.vertices


def test_the_mean_over_the_face_keeps_the_samples() -> None:
    shape: Shape = (3, 6, 9)
    value, shown = samples_of(5, shape, 0.4)
    mean, active, count = face_of(value, shown)
    fit = sum(active.weight[i] * expand(active, i, shape) for i in range(count))
    assert mean[shown] == pytest.approx(np.asarray(fit)[shown], abs=1e-5)
    again, _, _ = face_of(value, shown)
    assert np.array_equal(mean, again), "draws are the same every time"
    assert not np.allclose(mean, fit, atol=1e-3)


def test_undecided_slices_are_drawn_from_all_vertices_with_the_same_samples() -> None:
    shape: Shape = (2, 3, 4)
    shown = np.zeros(shape, np.bool_)
    shown[0, :, :2] = True  # nothing is known of the second channel, nor of the last columns
    value = np.einsum("i,j,k", [1.0, 0], [1.0, 1, 0], [1.0, 0, 0, 0])
    mean, active, count = face_of(value, shown)
    expected = sum(
        active.weight[i] * with_the_same_samples(expand(active, i, shape), shown) for i in range(count)
    )
    assert mean == pytest.approx(np.asarray(expected), abs=0.2)
    assert mean[1, 0, 0] == pytest.approx(0.5, abs=0.2)
