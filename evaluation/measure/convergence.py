"""How the objective falls and the proven bound rises while a tensor is completed."""

from collections.abc import Iterable, Sequence
from typing import Any

from demosaic_ntc import complete
from demosaic_ntc.ntc.bcg import SolverProgress

from ..data.paper_tables import Row
from .paper import instance
from .protocol import SOLVER_LAYERS, engine

GAP = 1e-6
_DRAWN = 400  # steps
#: A tensor with noise, where the optimum is not zero and must be proven, and one with more vertices.
ROWS = (Row(10, 3, 500, 0.02), Row(20, 3, 500))

#: All iterations of one completion, as JSON has it: title, code, and steps with iteration, objective, lower
#: bound and the number of vertices that the point is made of.
Trace = dict[str, Any]


def trace_completion(row: Row) -> Trace:
    """Complete the first tensor of a row and note every iteration."""
    steps: list[dict[str, float]] = []

    def note(progress: SolverProgress) -> None:
        names = ("iteration", "objective", "lower_bound", "atoms")
        steps.append({name: getattr(progress, name) for name in names})

    _, samples = instance(row, seed=0)
    complete(samples.shape, samples.index, samples.value, radius=1.0, gap=GAP, progress=note)
    return {"title": title(row), "code": engine(SOLVER_LAYERS), "steps": thin(steps)}


def fresh(traces: Iterable[Trace] | None) -> list[Trace]:
    """The traces of earlier runs that are of this code."""
    code = engine(SOLVER_LAYERS)
    return [trace for trace in traces or () if trace["code"] == code]


def thin(steps: Sequence[Any]) -> list[Any]:
    """The first and the last step and so many between that a drawing looks the same."""
    return [*steps[: -1 : -(-len(steps) // _DRAWN)], steps[-1]]


def title(row: Row) -> str:
    """A row in words."""
    noise = f", noise of deviation {row.noise:g}" if row.noise else ""
    return f"{row.size}^×{row.order}, {row.samples:,} samples{noise}"
