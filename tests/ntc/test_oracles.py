"""The exact oracles against exhaustive search, and against Gurobi and HiGHS."""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from demosaic_ntc import complete
from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import LicenceMissing, ModelTooLarge, SolverError
from demosaic_ntc.ntc import integer
from demosaic_ntc.ntc.alternating import AlternatingMaximisation, make_heuristic_oracles
from demosaic_ntc.ntc.atoms import Vertex, vertex_of
from demosaic_ntc.ntc.enumeration import BranchAndBound, Enumeration
from demosaic_ntc.ntc.oracle import NOTHING, Oracle, OracleResult, VertexCache, WeakSeparation
from demosaic_ntc.ntc.problem import Observations
from demosaic_ntc.ntc.proving import separation
from demosaic_ntc.run import Deadline

EXACT: dict[str, Callable[[Observations], Oracle]] = {
    "enumeration": Enumeration,
    "branch-and-bound": BranchAndBound,
    "gurobi": integer.gurobi,
    "highs": integer.highs,
}


def gradient_for(observed: Observations, seed: int) -> Float64:
    return np.random.default_rng(seed).normal(size=observed.value.size)


@pytest.mark.parametrize("shape", [(7,), (4, 5), (3, 4, 5), (2, 3, 2, 3)])
@pytest.mark.parametrize("name", EXACT)
def test_exact_oracles_equal_exhaustive_search(instances: Any, name: str, shape: tuple[int, ...]) -> None:
    for seed in range(4):
        observed = instances.observations(shape, 40, seed)
        gradient = gradient_for(observed, seed)
        lowest = float((instances.vertices(observed) @ gradient).min())
        found = EXACT[name](observed)(gradient, -math.inf)
        assert found.value == pytest.approx(lowest, abs=1e-9)
        assert lowest - 1e-7 <= found.lower_bound <= lowest + 1e-12


@pytest.mark.parametrize("name", EXACT)
def test_exact_oracles_stop_at_a_target_that_can_be_met(instances: Any, name: str) -> None:
    observed = instances.observations((3, 4, 5), 40, 1)
    gradient = gradient_for(observed, 1)
    lowest = float((instances.vertices(observed) @ gradient).min())
    assert EXACT[name](observed)(gradient, 0.5 * lowest).value <= 0.5 * lowest


@pytest.mark.parametrize("name", EXACT)
def test_exact_oracles_prove_that_a_target_cannot_be_met(instances: Any, name: str) -> None:
    observed = instances.observations((3, 4, 5), 40, 2)
    gradient = gradient_for(observed, 2)
    lowest = float((instances.vertices(observed) @ gradient).min())
    target = lowest - 0.1
    found = EXACT[name](observed)(gradient, target)
    assert found.value >= lowest - 1e-9
    assert target - 1e-7 <= found.lower_bound <= lowest + 1e-12


def test_larger_instances_agree_between_enumeration_branching_and_gurobi(instances: Any) -> None:
    observed = instances.observations((10, 9, 3), 150, 3)
    gradient = gradient_for(observed, 3)
    values = [EXACT[name](observed)(gradient, -math.inf).value for name in EXACT if name != "highs"]
    assert values == pytest.approx([values[0]] * 3, abs=1e-9)


def test_alternation_never_claims_a_bound(instances: Any) -> None:
    observed = instances.observations((3, 4, 5), 40, 4)
    gradient = gradient_for(observed, 4)
    found = AlternatingMaximisation(observed, seed=0)(gradient, -math.inf)
    assert found.lower_bound == -math.inf
    assert found.value >= float((instances.vertices(observed) @ gradient).min()) - 1e-12


def test_memory_returns_its_best_vertex_and_forgets_the_oldest(instances: Any) -> None:
    observed = instances.observations((3, 4, 5), 40, 5)
    memory = VertexCache()
    assert memory(np.ones(observed.value.size), 0.0).value == math.inf
    ones = vertex_of(observed.slots, np.ones(12, np.uint8))
    half = vertex_of(observed.slots, np.array([1, 0, 0] + [1] * 9, np.uint8))
    memory.keep([ones, half])
    gradient = -np.ones(observed.value.size)
    assert memory(gradient, -math.inf).vertex is ones
    assert memory(gradient, gradient.sum()).vertex is ones  # met its target, so it was handed out
    assert memory(gradient, -math.inf).vertex is half


class Claiming:
    """An oracle whose claims are wrong."""

    name = "claiming"

    def __init__(self, vertex: Vertex, value: float, bound: float) -> None:
        self._found = OracleResult(vertex, value, bound)

    def __call__(self, gradient: Float64, target: float) -> OracleResult:
        return self._found


@pytest.mark.fault
@pytest.mark.parametrize(("value", "bound"), [(-100.0, -math.inf), (math.nan, -math.inf), (-40.0, 5.0)])
def test_wrong_claims_of_an_oracle_are_detected(instances: Any, value: float, bound: float) -> None:
    observed = instances.observations((3, 4, 5), 60, 6)
    ones = vertex_of(observed.slots, np.ones(12, np.uint8))
    gradient = np.full(observed.value.size, -40.0 / observed.value.size)
    oracle: Oracle = Claiming(ones, value, bound)
    with pytest.raises(SolverError, match="the claiming oracle claims"):
        WeakSeparation([oracle])(gradient, -1.0, prove=False)


@pytest.mark.fault
def test_a_bogus_gurobi_licence_is_explained(
    instances: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    licence = tmp_path / "gurobi.lic"
    licence.write_text("TYPE=BOGUS\n")
    monkeypatch.setenv("GRB_LICENSE_FILE", str(licence))
    with pytest.raises(LicenceMissing, match="choose oracle='highs' or 'auto'"):
        integer.gurobi(instances.observations((3, 3), 9, 0))


@pytest.mark.fault
def test_auto_goes_on_with_highs_where_gurobi_has_no_licence(
    instances: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("GRB_LICENSE_FILE", str(tmp_path / "missing.lic"))
    best = integer.best_available(instances.observations((3, 3), 9, 0), Deadline(), 1.0)
    assert best is not None
    assert best.name == "highs"


@pytest.mark.parametrize(
    ("samples", "name"), [(400, "gurobi"), (900, "highs"), (4_000, None)], ids=["small", "middle", "large"]
)
def test_auto_asks_the_integer_program_that_the_size_allows(
    instances: Any, samples: int, name: str | None
) -> None:
    observed = instances.observations((20, 20, 20), samples, 0)
    best = integer.best_available(observed, Deadline(), 1.0)
    assert (best and best.name) == name


class Clock:
    """A clock that a solver moves on."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_integer_program_keeps_to_its_seconds_and_to_the_deadline(instances: Any) -> None:
    observed, clock, limits = instances.observations((3, 3), 9, 0), Clock(), []

    def solve(program: Any, target: float, limit: float | None) -> tuple[Float64, float]:
        limits.append(limit)
        clock.now += 2.0
        return np.zeros(program.binaries), -1.0

    gradient = np.ones(observed.value.size)
    for deadline, expected in [(math.inf, [5.0, 3.0, 1.0]), (4.5, [4.5, 2.5, 0.5]), (2.0, [2.0])]:
        clock.now = 0.0
        oracle = integer.IntegerProgram("slow", solve, observed, Deadline(deadline, clock), 5.0)
        found = [oracle(gradient, 0.0) for _ in range(4)]
        assert limits == expected
        assert [each is NOTHING for each in found] == [False] * len(expected) + [True] * (4 - len(expected))
        limits.clear()


def test_a_program_that_is_cut_short_gives_bounds_alone(instances: Any) -> None:
    observed = instances.observations((3, 3), 9, 0)
    oracle = integer.highs(observed)
    whole = oracle(-observed.weight, -math.inf)
    oracle.only_bounds = True
    bound = oracle(-observed.weight, -math.inf)
    assert whole.value == pytest.approx(-1.0)
    assert (bound.value, bound.vertex.support.size) == (0.0, 0)
    assert bound.lower_bound == whole.lower_bound


@pytest.mark.parametrize(("size", "only_bounds"), [(12, False), (20, True)])
def test_auto_takes_vertices_of_programs_that_end_only(instances: Any, size: int, only_bounds: bool) -> None:
    observed = instances.observations((size,) * 3, 300, 0)
    program = separation("auto", observed, Deadline(), 0).proving[-1]
    assert isinstance(program, integer.IntegerProgram)
    assert program.only_bounds == only_bounds


def test_oracles_of_bounds_alone_are_left_out_where_none_is_wanted(instances: Any) -> None:
    observed = instances.observations((20, 20, 20), 300, 0)
    separate = separation("auto", observed, Deadline(), 0)
    separate(-observed.weight, -math.inf, prove=True, bound=False)
    assert "gurobi" not in separate.calls


def test_an_oracle_with_nothing_to_say_is_not_counted(instances: Any) -> None:
    observed = instances.observations((3, 4, 5), 60, 6)
    separate = WeakSeparation(make_heuristic_oracles(observed, 0))
    separate(-observed.weight, -math.inf, prove=False)
    assert dict(separate.calls) == {"alternating": 1}


@pytest.mark.fault
def test_models_beyond_the_free_licence_are_explained(instances: Any) -> None:
    index, value = instances.samples((20, 20, 20), 3000, 0)
    with pytest.raises(ModelTooLarge, match="choose oracle='highs' or 'auto'"):
        complete((20, 20, 20), index, value, radius=0.3, oracle="gurobi", gap=1e-2)


@pytest.mark.fault
def test_a_missing_package_is_explained(instances: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(LicenceMissing, match="highspy is not installed"):
        integer.highs(instances.observations((3, 3), 9, 0))


def test_exact_search_that_is_too_large_says_so(instances: Any) -> None:
    index, value = instances.samples((30, 30, 30), 200, 0)
    with pytest.raises(SolverError, match="too large for exact search"):
        complete((30, 30, 30), index, value, radius=1.0, oracle="exact")
