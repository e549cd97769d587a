"""What the stages of the engine cost on mosaics of benchmark pictures: CPU seconds on one thread.

The engine reads no clock, so its functions are wrapped from outside for the time of a measurement. Every
thread has its own clock and its own stack: what a stage calls that is a stage of its own counts there, unless
the caller takes all, as trials do, which are made of guesses.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock, local
from time import process_time, thread_time
from typing import Any, Self

import pandas as pd

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing import flat_regions, initial_estimate
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.demosaicing.interpolation import any_array, bayer, blend, refine
from demosaic_ntc.demosaicing.quantised_planes import QuantisedPlanes
from demosaic_ntc.engine import groups, restore
from demosaic_ntc.engine.checks import QUALITIES

from .. import split_names
from ..data.sets import ImageSet, select_numbered
from ..methods.method import Method, index_by_name, pick_methods
from ..report.tables import DataTable, rows_of
from .benchmark import Benchmark
from .case import Case, Measurement, refusal_words
from .metrics import Bytes
from .protocol import engine, list_machines, machine, versions
from .results import Results

CFA = Cfa.from_name("RGGB")
REST, TOTAL = "rest", "in all"
_WARM_UP = 64  # the side of the part that is worked on untimed

Place = tuple[Any, str]  # a module or class, and the name of a function in it

#: The functions of every stage; those of the stages in TAKES_ALL count what they call as their own.
STAGES: dict[str, tuple[Place, ...]] = {
    "guesses": (
        (bayer, "zhang_wu2005"),
        (bayer, "kiku2014"),
        (any_array, "smooth_difference"),
        (any_array, "interpolate_residuals"),
    ),
    "refinements": ((refine, "refine"),),
    "trials": ((blend, "_miss"),),
    "blending": (
        (initial_estimate, "apart"),
        (initial_estimate, "local_error"),
        (initial_estimate, "_blend"),
    ),
    "calm places": ((flat_regions, "_find_flat"),),
    "prior": ((groups.GroupPass, "_shapes"),),
    "matching": ((groups, "match_patches"),),
    "prediction": ((groups, "restore_groups"),),
    "completion": ((groups, "complete_groups"),),
    "adding": (
        (groups, "write_means"),
        (groups, "write_errors"),
        (restore, "relax_update"),
        (restore, "enforce_data_consistency"),
    ),
    "storing": ((QuantisedPlanes, "__getitem__"), (QuantisedPlanes, "__setitem__")),
}
TAKES_ALL = ("trials", "calm places", "prior")


@dataclass(frozen=True)
class SpeedBenchmark(Benchmark):
    """Which qualities are measured on which pictures."""

    name = "speed"
    keys = ("quality", "settings", "sha256")
    task_key = "quality"

    @classmethod
    def of(cls, sets: Sequence[ImageSet], qualities: str = "fast,normal", images: str | None = None) -> Self:
        def effort(name: Any) -> Method:
            how: Any = {"quality": name, "threads": 1}
            return Method(name, engine(), "ours", lambda mosaic: demosaic(mosaic, CFA, **how))

        chosen = pick_methods(index_by_name(map(effort, QUALITIES)), split_names(qualities))
        return cls(tuple(select_numbered(each, images) if images else each for each in sets), tuple(chosen))

    def warm_up(self, case: Case, loaded: Bytes) -> object:
        return case.method.run(CFA.sample(loaded[:_WARM_UP, :_WARM_UP]))

    def measure(self, case: Case, loaded: Bytes) -> Measurement:
        mosaic = CFA.sample(loaded)
        stages = stage_seconds(lambda: case.method.run(mosaic))
        return Measurement({"megapixels": mosaic.size / 1e6, "stages": stages, "machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
        return {
            "versions": versions(),
            "mosaics": "RGGB samples of the 8-bit pictures as they are, one thread; kernels are compiled "
            "before",
            "stages": "CPU seconds of their threads; trials, calm places and the prior with all that they "
            "call, prediction with what it adds up",
            **{f"quality {method.name}": method.settings for method in self.methods},
        }

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """A table for each set: stages down, qualities across."""
        for name, found in results.frame.groupby("set", sort=False):
            costs = stage_costs(found)
            rows = rows_of(costs.index, [costs[quality] for quality in costs], [".2f"] * len(costs.columns))
            counted = (found["quality"] == found["quality"].iloc[0]).sum()
            note = (
                f"Mean CPU seconds per megapixel over {counted} pictures, one thread. Measured on "
                f"{list_machines(found['machine'])}"
            )
            title, columns = f"Stages of the engine on {name}", ("stage", *map(str, costs.columns))
            yield DataTable(title, columns, tuple(rows), (note, *refusal_words(results.refusals)))


def stage_costs(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean CPU seconds per megapixel over pictures: stages down, qualities across."""
    stages = pd.DataFrame(list(frame["stages"]), index=frame["quality"]).fillna(0.0)
    stages = stages.reindex(columns=[*STAGES, REST], fill_value=0.0)
    stages[TOTAL] = stages.sum(axis=1)
    per_megapixel = stages.div(pd.to_numeric(frame["megapixels"]).to_numpy(), axis=0)
    return per_megapixel.groupby(level=0, sort=False).mean().T


@dataclass(slots=True)
class StageClock:
    """Adds up the CPU seconds of stages, whatever thread they run in."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    _threads: local = field(default_factory=local)  # what each is at: stages, and the seconds within them
    _lock: Any = field(default_factory=Lock)

    def time_stage(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose time is counted for a stage."""

        @wraps(function)
        def count(*arguments: Any, **options: Any) -> Any:
            stack: list[list[Any]] = self._threads.__dict__.setdefault("stack", [])
            if stack and stack[-1][0] in TAKES_ALL:
                return function(*arguments, **options)
            start = thread_time()
            stack.append([stage, 0.0])
            try:
                return function(*arguments, **options)
            finally:
                self._count(stack, thread_time() - start)

        return count

    def _count(self, stack: list[list[Any]], seconds: float) -> None:
        """Count the innermost stage, without what was within it."""
        stage, inner = stack.pop()
        if stack:
            stack[-1][1] += seconds
        with self._lock:
            self.seconds[stage] += seconds - inner


@contextmanager
def clock_stages() -> Iterator[StageClock]:
    """Count the stages of whatever the engine does inside."""
    clock = StageClock()
    replaced = [
        (owner, name, getattr(owner, name), stage)
        for stage, places in STAGES.items()
        for owner, name in places
    ]
    try:
        for owner, name, function, stage in replaced:
            setattr(owner, name, clock.time_stage(stage, function))
        yield clock
    finally:
        for owner, name, function, _ in replaced:
            setattr(owner, name, function)


def stage_seconds(work: Callable[[], Any]) -> dict[str, float]:
    """Do some work; return the CPU seconds of its stages, and of the rest."""
    start = process_time()
    with clock_stages() as clock:
        work()
    total = process_time() - start
    return {**clock.seconds, REST: max(total - sum(clock.seconds.values()), 0.0)}
