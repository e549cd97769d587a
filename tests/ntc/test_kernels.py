"""Compiled kernels against their plain numpy twins, on random inputs."""

import itertools

import numpy as np
import pytest

from demosaic_ntc.arrays import Float64
from demosaic_ntc.ntc.atoms import vertices_of_starts
from demosaic_ntc.ntc.kernels.alternating import Words, alternate, products_behind
from demosaic_ntc.ntc.kernels.corrective import (
    affine_fit,
    append_product_row,
    correct_weights,
    remove_from_cholesky,
)
from demosaic_ntc.ntc.kernels.faces import redraw_undecided
from demosaic_ntc.ntc.kernels.search import branch_and_bound, enumerate_subsets
from demosaic_ntc.ntc.kernels.supports import (
    combine,
    inner_products,
    keep_rows_and_columns,
    sums_over_supports,
    support_of,
)
from demosaic_ntc.ntc.problem import Bits, Observations, observe

EVERY = np.uint64(2**64 - 1)


def some_cells(seed: int, shape: tuple[int, ...] = (4, 5, 3)) -> tuple[Observations, Float64]:
    random = np.random.default_rng(seed)
    index = np.stack([random.integers(0, size, 40) for size in shape], axis=1)
    observed = observe(shape, index, random.random(40))
    return observed, random.normal(size=observed.value.size)


def value_of(observed: Observations, cost: Float64, factors: Bits) -> float:
    return float(cost @ np.prod(factors[observed.slots], axis=1))


def test_support_is_where_all_factors_are_one() -> None:
    observed, _ = some_cells(0)
    factors = np.random.default_rng(1).integers(0, 2, 12).astype(np.uint8)
    expected = np.flatnonzero(np.prod(factors[observed.slots], axis=1))
    assert support_of(observed.slots, factors).tolist() == expected.tolist()


@pytest.mark.parametrize("shape", [(4, 5, 3), (12,), (3, 2, 3, 4)])
def test_supports_of_starts_are_those_of_their_factors(shape: tuple[int, ...]) -> None:
    observed, _ = some_cells(4, shape)
    words = np.random.default_rng(5).integers(0, 2**64, 12, dtype=np.uint64)
    words[-1] |= np.uint64(1) << np.uint64(63)
    chosen = np.array([63, 0, 17], np.uint64)
    vertices = vertices_of_starts(observed.columns, words, chosen)
    for start, vertex in zip([63, 0, 17], vertices, strict=True):
        assert vertex.factors.tolist() == unpacked(words)[:, start].tolist()
        assert vertex.support.tolist() == support_of(observed.slots, vertex.factors).tolist()
    assert any(vertex.support.size for vertex in vertices)


def test_sums_and_combinations_over_packed_supports() -> None:
    flat = np.array([0, 2, 1, 2, 3], np.int32)
    start, length = np.array([0, 2]), np.array([2, 3])
    assert sums_over_supports(np.array([1.0, 10, 100, 1000]), flat, start, length, 2).tolist() == [101, 1110]
    point = np.full(4, 7.0)
    combine(np.array([0.25, 0.75]), flat, start, length, point)
    assert point.tolist() == [0.25, 0.75, 1.0, 0.75]


def one_start(observed: Observations, cost: Float64, factors: Bits) -> tuple[Bits, float]:
    """Alternate over the modes in plain numpy until nothing changes; undecided slices stay."""
    factors = factors.copy()
    while True:
        before = factors.copy()
        for mode in range(len(observed.shape)):
            others = np.delete(observed.slots, mode, axis=1)
            gains = np.bincount(
                observed.slots[:, mode], cost * np.prod(factors[others], axis=1), minlength=factors.size
            )
            mine = slice(observed.offsets[mode], observed.offsets[mode + 1])
            factors[mine] = np.where(gains[mine] == 0, factors[mine], gains[mine] < 0)
        if (factors == before).all():
            return factors, value_of(observed, cost, factors)


@pytest.mark.parametrize("seed", range(3))
def test_alternation_from_64_starts_equals_64_alternations(seed: int) -> None:
    observed, cost = some_cells(seed)
    words = np.random.default_rng(seed).integers(0, 2**64, 12, dtype=np.uint64)
    starts = ((words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).astype(np.uint8)
    values = alternate(observed.columns, observed.offsets, cost, words, EVERY, 60)
    ends = ((words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).astype(np.uint8)
    for start in range(64):
        factors, value = one_start(observed, cost, starts[:, start])
        assert ends[:, start].tolist() == factors.tolist()
        assert values[start] == pytest.approx(value, abs=1e-12)


def test_no_single_flip_improves_what_alternation_reached() -> None:
    observed, cost = some_cells(7)
    words = np.random.default_rng(8).integers(0, 2**64, 12, dtype=np.uint64)
    values = alternate(observed.columns, observed.offsets, cost, words, EVERY, 60)
    for start in range(64):
        factors = ((words >> np.uint64(start)) & np.uint64(1)).astype(np.uint8)
        assert value_of(observed, cost, factors) == pytest.approx(values[start])
        for slot in range(12):
            flipped = factors.copy()
            flipped[slot] ^= 1
            assert value_of(observed, cost, flipped) >= values[start] - 1e-12


def test_cholesky_follows_rows_that_come_and_go() -> None:
    points = np.random.default_rng(0).normal(size=(7, 9))
    gram = points @ points.T
    factor = np.zeros((8, 8))
    for row in range(7):
        append_product_row(gram[row] + 1, gram[row, row] + 1, factor, row)
    np.testing.assert_allclose(np.tril(factor[:7, :7]), np.linalg.cholesky(gram + 1))
    remove_from_cholesky(factor, 7, 2)
    kept = [0, 1, 3, 4, 5, 6]
    lower = np.tril(factor[:6, :6])
    np.testing.assert_allclose(lower @ lower.T, (gram + 1)[np.ix_(kept, kept)])


@pytest.mark.parametrize("sizes", [(3, 4), (2, 3, 4), (1, 5), (2, 2, 2, 3)])
def test_gray_code_enumeration_equals_plain_enumeration(sizes: tuple[int, ...]) -> None:
    tensor = np.random.default_rng(3).normal(size=sizes)
    lowest = 0.0
    for choice in itertools.product(*(itertools.product((0, 1), repeat=size) for size in sizes[:-1])):
        part = tensor
        for bits in choice:
            part = np.tensordot(np.array(bits), part, axes=1)
        lowest = min(lowest, float(np.minimum(part, 0).sum()))
    widths = np.array([np.prod(sizes[level + 1 :]) for level in range(len(sizes) - 1)], np.int64)
    masks = np.zeros(len(sizes) - 1, np.int64)
    value, complete = enumerate_subsets(tensor.ravel(), np.array(sizes[:-1]), widths, -np.inf, masks)
    assert complete
    assert value == pytest.approx(lowest)


@pytest.mark.parametrize("seed", range(8))
def test_branch_and_bound_finds_the_minimum_and_proves_it(seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(8, 9))
    subsets = np.array(list(itertools.product((0, 1), repeat=8)))
    lowest = np.minimum(subsets @ matrix, 0).sum(axis=1).min()
    rows = np.zeros(8, np.uint8)
    value, bound, _ = branch_and_bound(matrix, -np.inf, 0.0, 10**6, rows)
    assert value == pytest.approx(lowest)
    assert bound == pytest.approx(lowest)
    assert np.minimum(rows @ matrix, 0).sum() == pytest.approx(lowest)


@pytest.mark.parametrize("nodes", [1, 3, 10, 30])
def test_branch_and_bound_without_enough_nodes_still_bounds_the_minimum(nodes: int) -> None:
    matrix = np.random.default_rng(11).normal(size=(8, 9))
    subsets = np.array(list(itertools.product((0, 1), repeat=8)))
    lowest = np.minimum(subsets @ matrix, 0).sum(axis=1).min()
    _, bound, _ = branch_and_bound(matrix, -np.inf, 0.0, nodes, np.zeros(8, np.uint8))
    assert -np.inf < bound <= lowest + 1e-12


def test_branch_and_bound_asked_for_less_than_there_is_proves_that() -> None:
    matrix = np.random.default_rng(12).normal(size=(8, 9))
    subsets = np.array(list(itertools.product((0, 1), repeat=8)))
    lowest = np.minimum(subsets @ matrix, 0).sum(axis=1).min()
    target = lowest - 1.0
    full = branch_and_bound(matrix, -np.inf, 0.0, 10**6, np.zeros(8, np.uint8))
    value, bound, left = branch_and_bound(matrix, target, 0.0, 10**6, np.zeros(8, np.uint8))
    assert value > target
    assert target <= bound <= lowest
    assert left >= full[2]


def test_only_living_starts_move() -> None:
    observed, cost = some_cells(1)
    words = np.random.default_rng(2).integers(0, 2**64, 12, dtype=np.uint64)
    before, alive = words.copy(), np.uint64(0b1010)
    alternate(observed.columns, observed.offsets, cost, words, alive, 60)
    assert ((words ^ before) & ~alive == 0).all()
    assert ((words ^ before) & alive != 0).any()


def test_products_behind_a_mode_are_those_of_the_modes_after_it() -> None:
    observed, _ = some_cells(2)
    words = np.random.default_rng(3).integers(0, 2**64, 12, dtype=np.uint64)
    behind = np.empty(observed.columns.shape, np.uint64)
    products_behind(observed.columns, words, behind)
    for mode in range(3):
        rest = words[observed.columns[mode + 1 :]]
        assert (behind[mode] == np.bitwise_and.reduce(rest, axis=0)).all()


def test_appended_rows_make_the_factor_of_the_matrix() -> None:
    points = np.random.default_rng(4).normal(size=(5, 8))
    matrix, factor = points @ points.T, np.zeros((5, 5))
    for row in range(5):
        append_product_row(matrix[row, :row].copy(), matrix[row, row], factor, row)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix))


def test_kept_rows_and_columns_move_to_the_front() -> None:
    matrix = np.arange(36.0).reshape(6, 6)
    kept = np.array([1, 2, 5])
    expected = matrix[np.ix_(kept, kept)]
    keep_rows_and_columns(matrix, kept)
    assert matrix[:3, :3].tolist() == expected.tolist()


def nearest_by_support(products: Float64) -> float:
    """Minimise aᵀ Q a over the simplex in plain numpy: the best over all supports with positive weights."""
    best = np.inf
    for size in range(1, len(products) + 1):
        for support in map(list, itertools.combinations(range(len(products)), size)):
            part = products[np.ix_(support, support)]
            weights = np.linalg.lstsq(part + 1.0, np.ones(size), rcond=None)[0]
            weights /= weights.sum()
            if (weights >= -1e-12).all():
                best = min(best, float(weights @ part @ weights))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_corrected_weights_give_the_nearest_point_of_the_hull_of_what_remains(seed: int) -> None:
    random = np.random.default_rng(seed)
    vertices, value = random.integers(0, 2, (6, 9)).astype(float), random.random(9)
    radius, points = 0.8, 0.8 * vertices - value
    members, weights = np.arange(6), np.array([1.0, 0, 0, 0, 0, 0])
    overlap = vertices @ value
    count, sound = correct_weights(
        vertices @ vertices.T, overlap, radius, np.zeros((6, 6)), 0, members, weights
    )
    remaining = points[members[:count]]
    reached = weights[:count] @ remaining
    assert sound
    assert weights[:count].min() > 0
    assert weights[:count].sum() == pytest.approx(1.0)
    assert reached @ reached == pytest.approx(nearest_by_support(remaining @ remaining.T), rel=1e-9)
    assert reached @ reached <= points[0] @ points[0]


@pytest.mark.parametrize("radius", [0.3, 2.0])
def test_affine_fit_is_the_nearest_point_of_the_affine_hull_zero_included(radius: float) -> None:
    random = np.random.default_rng(9)
    vertices, value = random.integers(0, 2, (5, 9)).astype(float), random.random(9)
    vertices[1] = 0.0
    order = np.array([3, 1, 4, 0])
    factor = np.linalg.cholesky(vertices[order] @ vertices[order].T + 1.0)
    weights = affine_fit(factor, vertices @ value, order, radius, 4)
    residual = radius * (weights @ vertices[order]) - value
    slopes = vertices[order] @ residual
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(slopes, slopes[0], atol=1e-12)


def test_inner_products_are_those_of_the_vertices_at_the_cells() -> None:
    random = np.random.default_rng(5)
    vertices, weight, value = random.integers(0, 2, (4, 7)), random.random(7), random.random(7)
    supports = [np.flatnonzero(vertex).astype(np.int32) for vertex in vertices]
    length = np.array([support.size for support in supports])
    start, flat = np.concatenate(([0], np.cumsum(length)[:-1])), np.concatenate(supports)
    common, overlap, scratch = np.zeros((4, 4)), np.zeros(4), np.zeros(7)
    inner_products(weight, value, flat, start, length, 0, 2, scratch, common, overlap)
    inner_products(weight, value, flat, start, length, 2, 4, scratch, common, overlap)
    np.testing.assert_allclose(common, (vertices * weight) @ vertices.T)
    np.testing.assert_allclose(overlap, vertices @ (weight * value))
    assert not scratch.any()


def redraw_plainly(observed: Observations, factors: Bits, coins: Bits) -> Bits:
    """Redraw the undecided slices of one vertex, mode by mode, in plain numpy."""
    factors = factors.copy()
    for mode in range(len(observed.shape)):
        inside = np.prod(factors[np.delete(observed.slots, mode, axis=1)], axis=1) > 0
        decided = set(observed.slots[inside, mode].tolist())
        for slot in range(observed.offsets[mode], observed.offsets[mode + 1]):
            factors[slot] = factors[slot] if slot in decided else coins[slot]
    return factors


@pytest.mark.parametrize("seed", range(3))
def test_undecided_slices_are_redrawn_and_supports_stay(seed: int) -> None:
    observed, _ = some_cells(seed, shape=(9, 8, 7))
    random = np.random.default_rng(seed)
    words, coins = (random.integers(0, 2**64, 24, dtype=np.uint64) for _ in range(2))
    starts, drawn = unpacked(words), unpacked(coins)
    both, chances = np.stack([words, coins]), np.stack([coins, words])
    redraw_undecided(observed.columns, observed.offsets, both, chances)
    other = redraw_plainly(observed, drawn[:, 5], starts[:, 5])
    assert unpacked(both[1])[:, 5].tolist() == other.tolist()
    words = both[0]
    for start in range(64):
        expected = redraw_plainly(observed, starts[:, start], drawn[:, start])
        assert unpacked(words)[:, start].tolist() == expected.tolist()
        before, after = starts[:, start].copy(), expected.copy()
        assert support_of(observed.slots, before).tolist() == support_of(observed.slots, after).tolist()


def unpacked(words: Words) -> Bits:
    """Return the (slots, 64) bits of words."""
    return ((words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).astype(np.uint8)
