"""The integer program of eq. (intprog) as an oracle, solved by Gurobi or by HiGHS.

Over the observed cells, with one binary θ per observed slice and one φ in [0, 1] per cell,

    minimise ⟨c, φ⟩   subject to   φ_u ≤ θ_{u_k} for every mode k       where c_u < 0,
                                    φ_u ≥ 1 − p + Σ_k θ_{u_k}            where c_u > 0.

The side left out is the one that minimisation never violates. Both solvers stop early on both sides:
as soon as an incumbent meets the target, and as soon as the bound proves that none will.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import LicenceMissing, ModelTooLarge, SolverError
from demosaic_ntc.ntc.atoms import Vertex, vertex_of
from demosaic_ntc.ntc.oracle import NOTHING, OracleResult
from demosaic_ntc.ntc.problem import Bits, Observations
from demosaic_ntc.run import Deadline

if TYPE_CHECKING:
    from scipy import sparse

GUROBI_NO_LICENCE, GUROBI_SIZE_LIMIT = 10009, 10010
GUROBI_FREE_SIZE = 2000  # rows, and columns, that the licence inside the wheel covers
HIGHS_CELLS = 2_000  # up to which HiGHS finds a bound within seconds
OPTIMALITY = 1e-9  # relative gap at which a solver may call itself done


@dataclass(frozen=True, slots=True)
class MixedIntegerProgram:
    """minimise cost · (θ, φ) subject to matrix · (θ, φ) ≤ upper, 0 ≤ all ≤ 1, the first θ binary."""

    cost: Float64
    matrix: "sparse.csr_matrix"
    upper: Float64
    binaries: int


def separation_program(slots: np.ndarray[Any, Any], binaries: int, cost: Float64) -> MixedIntegerProgram:
    """Write the separation problem for a cost per cell as an integer program."""
    from scipy import sparse  # noqa: PLC0415 (slow to load; integer programs are the last resort)

    cells, modes = slots.shape
    phi = binaries + np.arange(cells)
    down, up = np.flatnonzero(cost < 0), np.flatnonzero(cost > 0)
    # φ_u − θ_{u_k} ≤ 0 for each mode; then Σ θ − φ_u ≤ p − 1.
    first = np.repeat(phi[down], modes)
    rows = np.arange(first.size)
    low, high = np.ones(first.size), np.full(first.size, -1.0)
    more = first.size + np.repeat(np.arange(up.size), modes)
    last = first.size + np.arange(up.size)
    matrix = sparse.csr_matrix(
        (
            np.concatenate([low, high, np.ones(more.size), np.full(up.size, -1.0)]),
            (
                np.concatenate([rows, rows, more, last]),
                np.concatenate([first, slots[down].ravel(), slots[up].ravel(), phi[up]]),
            ),
        ),
        shape=(first.size + up.size, binaries + cells),
    )
    upper = np.concatenate([np.zeros(first.size), np.full(up.size, modes - 1.0)])
    return MixedIntegerProgram(np.concatenate([np.zeros(binaries), cost]), matrix, upper, binaries)


UNLIMITED = Deadline()
Solver = Callable[[MixedIntegerProgram, float, float | None], tuple[Float64, float]]


class IntegerProgram:
    """An oracle that hands the separation problem to an integer-programming solver."""

    def __init__(
        self, name: str, solve: Solver, observed: Observations, deadline: Deadline, seconds: float
    ) -> None:
        """Answer until the deadline, and for so many seconds in all."""
        self.name = name
        self.only_bounds = False  # whether its vertices, which depend on the machine's speed, are kept back
        self._solve = solve
        self._slots = observed.slots
        used, packed = np.unique(self._slots, return_inverse=True)
        self._used = used
        self._packed = packed.reshape(self._slots.shape)
        self._length = int(observed.offsets[-1])
        self._deadline = deadline
        self._seconds = seconds  # left

    def __call__(self, gradient: Float64, target: float) -> OracleResult:
        """Return the solver's incumbent and the bound it proved; nothing when its time is used up."""
        seconds = min(self._deadline.remaining, self._seconds)
        if seconds <= 0:
            return NOTHING
        scale = float(np.abs(gradient).max()) or 1.0  # coefficients of order one suit the tolerances
        program = separation_program(self._packed, self._used.size, gradient / scale)
        started = self._deadline.clock()
        limit = seconds if math.isfinite(seconds) else None
        binaries, bound = self._solve(program, target / scale, limit)
        self._seconds -= self._deadline.clock() - started
        vertex = self._vertex(np.zeros_like(binaries) if self.only_bounds else binaries)
        return OracleResult(vertex, float(gradient[vertex.support].sum()), bound * scale)

    def _vertex(self, binaries: Float64) -> Vertex:
        factors: Bits = np.zeros(self._length, np.uint8)
        factors[self._used] = binaries > 0.5
        return vertex_of(self._slots, factors)


@contextmanager
def _explain_missing_package(name: str) -> Iterator[None]:
    """Say what to do where what is imported inside is missing."""
    try:
        yield
    except ImportError:
        raise LicenceMissing(
            f"{name} is not installed; pip install {name}, or choose oracle='auto'"
        ) from None


def gurobi(
    observed: Observations, deadline: Deadline = UNLIMITED, seconds: float = math.inf
) -> IntegerProgram:
    """Return the Gurobi oracle; a missing licence or package is told at once."""
    with _explain_missing_package("gurobipy"):
        import gurobipy  # noqa: PLC0415 (takes its time, and may be missing)
    environment = _gurobi_environment(gurobipy)

    def solve(program: MixedIntegerProgram, target: float, limit: float | None) -> tuple[Float64, float]:
        return _solve_with_gurobi(gurobipy, environment, program, target, limit)

    return IntegerProgram("gurobi", solve, observed, deadline, seconds)


def _gurobi_environment(package: Any) -> Any:
    try:
        environment = package.Env(empty=True)
        environment.setParam("OutputFlag", 0)
        environment.start()
    except package.GurobiError as error:
        raise _gurobi_failure(error) from None
    return environment


def _gurobi_failure(error: Any) -> SolverError:
    if error.errno == GUROBI_NO_LICENCE:
        return LicenceMissing(f"Gurobi has no valid licence ({error}); choose oracle='highs' or 'auto'")
    if error.errno == GUROBI_SIZE_LIMIT:
        return ModelTooLarge(
            "the model is larger than Gurobi's size-limited licence allows; choose oracle='highs' or 'auto'"
        )
    return SolverError(f"Gurobi failed ({error}); choose oracle='highs' or 'auto'")


def _solve_with_gurobi(
    package: Any, environment: Any, program: MixedIntegerProgram, target: float, seconds: float | None
) -> tuple[Float64, float]:
    with package.Model(env=environment) as model:
        kinds = np.array(["C"] * program.cost.size)
        kinds[: program.binaries] = "B"
        x = model.addMVar(program.cost.size, lb=0.0, ub=1.0, obj=program.cost, vtype=kinds)
        model.addConstr(program.matrix @ x <= program.upper)
        model.Params.MIPGap = model.Params.MIPGapAbs = OPTIMALITY
        model.Params.Threads = 1
        if math.isfinite(target):
            model.Params.BestObjStop = model.Params.BestBdStop = target
        if seconds is not None:
            model.Params.TimeLimit = seconds
        try:
            model.optimize()
        except package.GurobiError as error:
            raise _gurobi_failure(error) from None
        values = x.X if model.SolCount else np.zeros(program.cost.size)
        return values[: program.binaries], min(float(model.ObjBound), 0.0)


def highs(
    observed: Observations, deadline: Deadline = UNLIMITED, seconds: float = math.inf
) -> IntegerProgram:
    """Return the HiGHS oracle."""
    with _explain_missing_package("highspy"):
        import highspy  # noqa: PLC0415 (takes its time, and may be missing)

    def solve(program: MixedIntegerProgram, target: float, limit: float | None) -> tuple[Float64, float]:
        return _solve_with_highs(highspy, program, target, limit)

    return IntegerProgram("highs", solve, observed, deadline, seconds)


def _solve_with_highs(
    package: Any, program: MixedIntegerProgram, target: float, seconds: float | None
) -> tuple[Float64, float]:
    solver = package.Highs()
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", OPTIMALITY)
    solver.setOptionValue("mip_abs_gap", OPTIMALITY)
    if seconds is not None:
        solver.setOptionValue("time_limit", seconds)
    if math.isfinite(target):
        solver.setOptionValue("objective_target", target)
        solver.cbMipInterrupt += lambda event: (
            event.interrupt() if event.data_out.mip_dual_bound > target else None
        )
    if solver.passModel(_highs_model(package, program)) == package.HighsStatus.kError:
        raise SolverError("HiGHS refused the model; choose oracle='auto' and report this")
    solver.run()
    information = solver.getInfo()
    found = information.primal_solution_status == 2  # a feasible point
    values = np.array(solver.getSolution().col_value) if found else np.zeros(program.cost.size)
    return values[: program.binaries], min(float(information.mip_dual_bound), 0.0)


def _highs_model(package: Any, program: MixedIntegerProgram) -> Any:
    model = package.HighsLp()
    columns, rows = program.cost.size, program.upper.size
    model.num_col_, model.num_row_ = columns, rows
    model.col_cost_ = program.cost
    model.col_lower_, model.col_upper_ = np.zeros(columns), np.ones(columns)
    model.row_lower_, model.row_upper_ = np.full(rows, -package.kHighsInf), program.upper
    kinds = package.HighsVarType
    model.integrality_ = [kinds.kInteger] * program.binaries + [kinds.kContinuous] * (
        columns - program.binaries
    )
    matrix = program.matrix
    model.a_matrix_.format_ = package.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.indptr
    model.a_matrix_.index_ = matrix.indices
    model.a_matrix_.value_ = matrix.data
    return model


def best_available(observed: Observations, deadline: Deadline, seconds: float) -> IntegerProgram | None:
    """Return Gurobi where its licence holds and covers any separation problem of this size, else HiGHS.

    None where the problem is too large for HiGHS, too, or neither is installed.
    """
    cells, modes = observed.index.shape
    if max(cells + sum(observed.shape), cells * modes) <= GUROBI_FREE_SIZE:
        with suppress(SolverError):
            return gurobi(observed, deadline, seconds)
    if cells <= HIGHS_CELLS:
        with suppress(LicenceMissing):
            return highs(observed, deadline, seconds)
    return None
