"""How the objective falls and the proven bound rises while a tensor is completed."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from demosaic_ntc import complete
from demosaic_ntc.ntc.bcg import Progress

from ..data.paper_tables import Row
from .paper import instance
from .protocol import SOLVER_LAYERS, engine

GAP = 1e-6
_DRAWN = 400  # steps
#: A tensor with noise, where the optimum is not zero and must be proven, and one with more vertices.
ROWS = (Row(10, 3, 500, 0.02), Row(20, 3, 500))


@dataclass(frozen=True, slots=True)
class Step:
    """The bounds on the optimum after an iteration, and how many vertices the point is made of."""

    iteration: int
    objective: float
    lower_bound: float
    atoms: int


@dataclass(frozen=True, slots=True)
class Trace:
    """All iterations of one completion."""

    title: str
    code: str
    steps: tuple[Step, ...]

    def encoded(self) -> dict[str, Any]:
        """The trace as JSON has it."""
        return asdict(self)

    @classmethod
    def decoded(cls, content: dict[str, Any]) -> "Trace":
        """A trace from its JSON form."""
        return cls(content["title"], content["code"], tuple(Step(**step) for step in content["steps"]))


def traced(row: Row) -> Trace:
    """Complete the first tensor of a row and note every iteration."""
    steps: list[Step] = []

    def note(progress: Progress) -> None:
        steps.append(Step(progress.iteration, progress.objective, progress.lower_bound, progress.atoms))

    _, samples = instance(row, seed=0)
    complete(samples.shape, samples.index, samples.value, radius=1.0, gap=GAP, progress=note)
    return Trace(title(row), engine(SOLVER_LAYERS), thinned(steps))


def fresh(traces: Iterable[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """The traces of earlier runs that are of this code."""
    code = engine(SOLVER_LAYERS)
    return [trace for trace in traces or () if trace["code"] == code]


def thinned(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The first and the last step and so many between that a drawing looks the same."""
    stride = -(-len(steps) // _DRAWN)
    return (*steps[:-1:stride], steps[-1])


def title(row: Row) -> str:
    """A row in words."""
    noise = f", noise of deviation {row.noise:g}" if row.noise else ""
    return f"{row.size}^×{row.order}, {row.samples:,} samples{noise}"
