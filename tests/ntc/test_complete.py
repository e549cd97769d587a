"""The solver as a whole: certificates against brute force, invariances, limits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demosaic_ntc import Solution, Status, complete
from demosaic_ntc.errors import InputError, TooLarge
from demosaic_ntc.ntc.alternating import make_heuristic_oracles
from demosaic_ntc.ntc.atoms import ActiveSet, Vertex, constant_start, vertex_of
from demosaic_ntc.ntc.bcg import SolverProgress, StopRules, minimise, next_estimate
from demosaic_ntc.ntc.corrective import Descent, FullyCorrective, SimplexDescent
from demosaic_ntc.ntc.enumeration import Enumeration
from demosaic_ntc.ntc.oracle import OracleResult, WeakSeparation
from demosaic_ntc.ntc.problem import Problem
from demosaic_ntc.run import Deadline


@pytest.mark.parametrize("shape", [(6,), (4, 4), (3, 3, 3), (2, 3, 2, 2)])
@pytest.mark.parametrize("radius", [0.3, 0.7, 1.2])
def test_certificate_brackets_the_brute_force_optimum(
    instances: Any, shape: tuple[int, ...], radius: float
) -> None:
    index, value = instances.samples(shape, 30, 0, noise=0.1)
    optimum = instances.optimum(instances.observations(shape, 30, 0, noise=0.1), radius)
    solution = complete(shape, index, value, radius=radius)
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.gap <= 1e-6 * np.mean(value**2)
    assert solution.certificate.lower_bound <= optimum + 1e-9
    assert solution.certificate.objective >= optimum - 1e-9


@pytest.mark.parametrize("oracle", ["auto", "exact", "gurobi", "highs"])
def test_every_exact_oracle_certifies_the_same_optimum(instances: Any, oracle: str) -> None:
    index, value = instances.samples((5, 4, 3), 60, 1)
    reference = complete((5, 4, 3), index, value, radius=0.5, oracle="exact")
    solution = complete((5, 4, 3), index, value, radius=0.5, oracle=oracle)
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.objective == pytest.approx(reference.certificate.objective, rel=1e-5)


def test_noisy_cube_is_certified_to_one_in_a_million(instances: Any) -> None:
    index, value = instances.samples((10, 10, 10), 500, 2, noise=0.02)
    solution = complete((10, 10, 10), index, value, radius=0.8)
    assert solution.status is Status.OPTIMAL
    assert solution.oracle_calls["enumeration"] >= 1
    assert solution.certificate.gap <= 1e-6 * np.mean(value**2)


def test_heuristic_alone_never_claims_a_noisy_optimum(instances: Any) -> None:
    index, value = instances.samples((5, 4, 3), 60, 1, noise=0.1)
    exact = complete((5, 4, 3), index, value, radius=0.3)
    guess = complete((5, 4, 3), index, value, radius=0.3, oracle="heuristic")
    assert guess.status is Status.HEURISTIC
    assert guess.certificate.lower_bound <= exact.certificate.objective


def test_noiseless_tensor_with_many_samples_is_recovered(instances: Any) -> None:
    index, value = instances.samples((6, 6, 6), 400, 3, noise=0.0)
    solution = complete((6, 6, 6), index, value, radius=1.0, gap=1e-10)
    np.testing.assert_allclose(solution.at(index), value, atol=1e-4)


@pytest.mark.parametrize("descent", [FullyCorrective, SimplexDescent])
def test_objective_never_rises(instances: Any, descent: type[Descent]) -> None:
    problem = Problem(instances.observations((5, 4, 3), 60, 4, noise=0.1), 0.5)
    observed = problem.observed
    seen: list[SolverProgress] = []
    outcome = minimise(
        constant_start(problem),
        WeakSeparation(make_heuristic_oracles(observed, 0), [Enumeration(observed)]),
        descent(),
        StopRules(1e-4 * observed.energy, 50_000, Deadline()),
        seen.append,
    )
    objectives = np.array([event.objective for event in seen])
    assert outcome.status is Status.OPTIMAL
    assert (np.diff(objectives) <= 1e-13).all()
    assert (np.diff([event.lower_bound for event in seen]) >= 0).all()


@pytest.mark.parametrize("oracle", ["exact", "gurobi", "highs"])
def test_both_descents_reach_the_same_optimum(instances: Any, oracle: str) -> None:
    index, value = instances.samples((4, 4, 3), 40, 5, noise=0.1)
    how: Any = {"radius": 0.5, "gap": 1e-4, "oracle": oracle}
    corrective, simplex = (
        complete((4, 4, 3), index, value, descent=descent, **how) for descent in ("corrective", "simplex")
    )
    assert (corrective.status, simplex.status) == (Status.OPTIMAL, Status.OPTIMAL)
    assert abs(corrective.certificate.objective - simplex.certificate.objective) <= 1e-4 * np.mean(value**2)
    exact = {"exact": "enumeration"}.get(oracle, oracle)
    assert simplex.oracle_calls[exact] > corrective.oracle_calls[exact] >= 1
    assert simplex.iterations > corrective.iterations


@pytest.mark.parametrize("radius", ["least", "auto"])
def test_simplex_descent_finds_the_least_radius_too(instances: Any, radius: str) -> None:
    index, value = instances.samples((4, 4, 3), 40, 5, noise=0.05)
    how: Any = {"radius": radius, "noise": 0.05, "gap": 1e-3}
    corrective, simplex = (
        complete((4, 4, 3), index, value, descent=descent, **how) for descent in ("corrective", "simplex")
    )
    assert simplex.status is Status.OPTIMAL
    assert simplex.radius == pytest.approx(corrective.radius, rel=4 * 1e-3**0.5)


def test_an_unknown_descent_is_refused() -> None:
    with pytest.raises(InputError, match="descent 'wolfe' is not known; choose one of corrective, simplex"):
        complete((2, 2), [[0, 0]], [1.0], descent="wolfe")


def combination(instances: Any, count: int = 4) -> ActiveSet:
    """Return a convex combination of random vertices."""
    problem = Problem(instances.observations((5, 4, 3), 60, 4, noise=0.1), 0.8)
    random = np.random.default_rng(count)
    factors = random.integers(0, 2, (count, 12), dtype=np.uint8)
    vertices = [vertex_of(problem.observed.slots, each | (random.random(12) < 0.5)) for each in factors]
    return ActiveSet(problem, vertices, random.dirichlet(np.ones(count)))


def along_the_simplex(active: ActiveSet, step: float) -> float:
    """Return the objective of the weights moved against the projected gradient, from the definition."""
    slopes = active.slopes
    weights = active.weights - step * (slopes - slopes.mean())
    point = np.zeros_like(active.point)
    for vertex, weight in zip(active.shelf.vertices, weights, strict=True):
        point[vertex.support] += weight
    return active.problem.objective(point)


@pytest.mark.parametrize("seed", range(12))
def test_simplex_descent_drops_a_vertex_wherever_the_border_is_no_higher(instances: Any, seed: int) -> None:
    active = combination(instances, 3 + seed)
    slopes, before = active.slopes, len(active)
    direction = slopes - slopes.mean()
    border = min(active.weights[direction > 0] / direction[direction > 0])
    here, there = active.problem.objective(active.point), along_the_simplex(active, border)
    steps = np.linspace(0, border, 2_001)
    lowest = min(along_the_simplex(active, step) for step in steps)
    SimplexDescent().descend(active)
    active.refresh()
    after = active.problem.objective(active.point)
    assert len(active) == (before - 1 if there <= here else before)
    assert after == pytest.approx(there if there <= here else lowest, rel=1e-5)


def test_a_step_towards_a_vertex_ends_at_the_best_point_and_knows_members(instances: Any) -> None:
    active = combination(instances)
    problem, observed = active.problem, active.problem.observed
    gradient = observed.weight * (problem.radius * active.point - observed.value)
    new = Enumeration(observed)(gradient, -np.inf).vertex
    objective, point, count = problem.objective, active.point.copy(), len(active)
    there = np.bincount(new.support, minlength=point.size)
    lowest = min(objective(point + step * (there - point)) for step in np.linspace(0, 1, 10_001))
    SimplexDescent().absorb(active, [new])
    active.refresh()
    assert objective(active.point) == pytest.approx(lowest, rel=1e-6)
    assert len(active) == count + 1
    again = ActiveSet(problem, active.shelf.vertices, np.array([*np.full(count, 0.99 / count), 0.01]))
    SimplexDescent().absorb(again, [vertex_of(observed.slots, new.factors.copy())])
    assert len(again) == count + 1
    assert again.weights[-1] > 0.01


NONE = Vertex(np.zeros(0, np.uint8), np.zeros(0, np.int32))


@pytest.mark.parametrize(
    ("value", "bound", "steady", "expected"),
    [
        (-1.0, -np.inf, True, 0.5),  # found: Φ stays
        (-4.0, -np.inf, True, 0.5),  # however good it is
        (-4.0, -np.inf, False, 2.0),  # but with full correction it grows
        (-0.1, -0.4, True, 0.2),  # proven that none exists: half of what was proven,
        (-0.1, -2.0, True, 0.25),  # or of Φ
        (-0.1, -np.inf, True, 0.1),  # nothing known: smaller by rule
    ],
)
def test_the_gap_estimate_follows_the_oracle(
    value: float, bound: float, steady: bool, expected: float
) -> None:
    found = OracleResult(NONE, value, bound)
    assert next_estimate(0.5, 0.0, found, False, 1e-6, steady=steady) == (expected, False)


def test_a_run_ends_where_the_last_question_stays_open() -> None:
    assert next_estimate(1e-6, 0.0, OracleResult(NONE, 0.0, -1e-3), True, 2e-6, steady=False)[1]
    assert next_estimate(1e-6, 0.0, OracleResult(NONE, 0.0), True, 2e-6, steady=True)[1]
    assert not next_estimate(1e-6, 0.0, OracleResult(NONE, 0.0, -1e-6), True, 2e-6, steady=True)[1]


class Refuting:
    """An exact oracle that notes what it was asked."""

    name = "refuting"

    def __init__(self, observed: Any) -> None:
        self._exact = Enumeration(observed)
        self.asked = 0

    def __call__(self, gradient: Any, target: float) -> OracleResult:
        self.asked += 1
        return self._exact(gradient, target)


@pytest.mark.parametrize(("descent", "most"), [(FullyCorrective, 2), (SimplexDescent, 100)])
def test_the_published_algorithm_asks_for_a_proof_at_every_level(
    instances: Any, descent: type[Descent], most: int
) -> None:
    problem = Problem(instances.observations((5, 4, 3), 60, 4, noise=0.1), 0.5)
    exact = Refuting(problem.observed)
    limits = StopRules(1e-4 * problem.observed.energy, 50_000, Deadline())
    separate = WeakSeparation(make_heuristic_oracles(problem.observed, 0), [exact])
    assert minimise(constant_start(problem), separate, descent(), limits).status is Status.OPTIMAL
    assert max(1, most // 20) <= exact.asked <= most


@given(st.permutations(range(3)))
@settings(max_examples=6, deadline=None)
def test_order_of_modes_does_not_change_the_optimum(order: list[int]) -> None:
    random = np.random.default_rng(0)
    index, value = random.integers(0, (5, 4, 3), (40, 3)), random.random(40)
    one = complete((5, 4, 3), index, value, radius=0.9)
    other = complete(tuple((5, 4, 3)[mode] for mode in order), index[:, order], value, radius=0.9)
    assert other.certificate.objective == pytest.approx(one.certificate.objective, abs=1e-6)


def test_repeated_samples_count_like_weights(instances: Any) -> None:
    index, value = instances.samples((4, 4, 3), 30, 6)
    times = np.random.default_rng(0).integers(1, 4, 30)
    weighted = complete((4, 4, 3), index, value, radius=0.5, weight=times.astype(float))
    repeated = complete((4, 4, 3), index.repeat(times, axis=0), value.repeat(times), radius=0.5)
    assert weighted.certificate.objective == pytest.approx(repeated.certificate.objective, rel=1e-9)


def test_same_seed_gives_the_same_solution(instances: Any) -> None:
    index, value = instances.samples((8, 8, 8), 100, 7)
    one, other = (complete((8, 8, 8), index, value, radius=1.0, seed=3) for _ in range(2))
    assert one.weights.tolist() == other.weights.tolist()
    assert all((a == b).all() for a, b in zip(one.vertices, other.vertices, strict=True))


# Nothing, or enough to be told from nothing beside the radius in double precision.
RESOLVED = st.one_of(st.just(0.0), st.floats(1e-6, 5))


@given(
    st.lists(RESOLVED, min_size=1, max_size=12),
    st.floats(0.05, 4.0),
    st.integers(0, 2**31),
)
@settings(max_examples=40, deadline=None)
@pytest.mark.slow
def test_any_solution_is_nonnegative_bounded_and_certified(
    values: list[float], radius: float, seed: int
) -> None:
    index = np.random.default_rng(seed).integers(0, 3, (len(values), 3))
    solution = complete((3, 3, 3), index, values, radius=radius)
    dense = solution.dense()
    assert solution.status is Status.OPTIMAL
    assert dense.min() >= 0.0
    assert dense.max() <= radius * (1 + 1e-12)
    assert solution.weights.sum() == pytest.approx(1.0)
    assert solution.certificate.objective == pytest.approx(
        np.mean((solution.at(index) - np.array(values)) ** 2), abs=1e-9
    )


def test_values_lost_in_the_rounding_of_the_radius_are_not_called_fitted() -> None:
    solution = complete((3, 3, 3), [[2, 1, 1], [0, 0, 0]], [0.0, 1e-30], radius=1.0, deadline=0.5)
    assert solution.status is not Status.OPTIMAL
    assert solution.certificate.objective == pytest.approx(5e-61)
    assert solution.certificate.lower_bound == 0.0


def test_values_above_the_radius_are_fitted_as_far_as_it_allows() -> None:
    solution = complete((2, 2), [[0, 0], [1, 1]], [5.0, 1.0], radius=2.0)
    np.testing.assert_allclose(solution.at([[0, 0], [1, 1]]), [2.0, 1.0], atol=1e-3)
    assert solution.certificate.objective == pytest.approx(4.5, rel=1e-4)


def test_all_zero_observations_give_the_zero_tensor() -> None:
    solution = complete((3, 3), [[0, 0], [1, 2]], [0.0, 0.0], radius=1.0)
    assert solution.status is Status.OPTIMAL
    assert solution.at([[0, 0], [1, 2]]).tolist() == [0.0, 0.0]


def test_deadline_returns_the_best_so_far_with_an_honest_gap(instances: Any) -> None:
    index, value = instances.samples((5, 5, 4), 80, 8, noise=0.1)
    optimum = complete((5, 5, 4), index, value, radius=0.4).certificate.objective
    hurried = complete((5, 5, 4), index, value, radius=0.4, deadline=1e-9)
    assert hurried.status is Status.TIME
    assert hurried.certificate.lower_bound <= optimum <= hurried.certificate.objective + 1e-12


@pytest.mark.slow
def test_automatic_radius_predicts_better_than_a_constant(instances: Any) -> None:
    index, value = instances.samples((12, 12, 12), 600, 9, noise=0.02)
    solution = complete((12, 12, 12), index[:500], value[:500], radius="auto", gap=1e-2)
    error = np.mean((solution.at(index[500:]) - value[500:]) ** 2)
    assert error < 0.5 * np.var(value[500:])


def test_dense_refuses_what_would_not_fit(instances: Any) -> None:
    index, value = instances.samples((10,) * 8, 50, 10)
    solution = complete((10,) * 8, index, value, radius=1.0, gap=1e-1)
    solution_of_1e12 = Solution(
        (10,) * 12, 1.0, np.ones(1), (np.ones((1, 10), np.uint8),) * 12, *_rest(solution)
    )
    with pytest.raises(TooLarge, match=r"7450.6 GiB"):
        solution_of_1e12.dense()


def _rest(solution: Solution) -> tuple[Any, ...]:
    return solution.status, solution.certificate, solution.iterations, solution.oracle_calls


def test_entries_outside_the_shape_are_refused() -> None:
    solution = complete((2, 2), [[0, 0]], [1.0], radius=1.0)
    with pytest.raises(InputError, match="leaves the shape"):
        solution.at([[0, 2]])
    with pytest.raises(InputError, match="whole numbers of shape"):
        solution.at([0, 1])
    assert solution.at(np.zeros((0, 2), int)).size == 0


def test_progress_is_reported_once_per_iteration(instances: Any) -> None:
    index, value = instances.samples((4, 4, 3), 30, 11)
    events: list[SolverProgress] = []
    solution = complete((4, 4, 3), index, value, radius=0.5, progress=events.append)
    assert [event.iteration for event in events] == list(range(solution.iterations + 1))
