"""Where the engine's time goes: CPU seconds by stage, taken around its functions while it works.

The engine reads no clock, so its functions are wrapped from outside for the time of a measurement. Every
thread has its own clock and its own stack: what a stage calls that is a stage of its own counts there, unless
the caller takes all, as trials do, which are made of guesses.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock, local
from time import process_time, thread_time
from typing import Any

from demosaic_ntc.imaging import groups, restore
from demosaic_ntc.imaging.first_guess import any_array, blend, kiku2014, refine, zhang_wu2005
from demosaic_ntc.imaging.mosaics import calm, first_estimate
from demosaic_ntc.imaging.mosaics.stored import Stored

REST = "rest"

Place = tuple[Any, str]  # a module or class, and the name of a function in it

#: The functions of every stage; those of the stages in TAKES_ALL count what they call as their own.
STAGES: dict[str, tuple[Place, ...]] = {
    "guesses": (
        (zhang_wu2005, "zhang_wu2005"),
        (kiku2014, "kiku2014"),
        (any_array, "smooth_difference"),
        (any_array, "iterated_residual"),
    ),
    "refinements": ((refine, "refined"),),
    "trials": ((blend, "_miss"),),
    "blending": ((first_estimate, "apart"), (first_estimate, "local_error"), (first_estimate, "_blend")),
    "calm places": ((calm, "_settled"),),
    "prior": ((groups.GroupPass, "_shapes"),),
    "matching": ((groups, "match_patches"),),
    "prediction": ((groups, "restore_groups"),),
    "completion": ((groups, "complete_groups"),),
    "adding": (
        (groups, "write_means"),
        (groups, "write_errors"),
        (restore, "take_over"),
        (restore, "draw_to_measured"),
    ),
    "storing": ((Stored, "__getitem__"), (Stored, "__setitem__")),
}
TAKES_ALL = ("trials", "calm places", "prior")


@dataclass(slots=True)
class StageClock:
    """Adds up the CPU seconds of stages, whatever thread they run in."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    _threads: local = field(default_factory=local)
    _lock: Any = field(default_factory=Lock)

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose time is counted for a stage."""

        @wraps(function)
        def counted(*arguments: Any, **options: Any) -> Any:
            stack = self._stack()
            if stack and stack[-1][0] in TAKES_ALL:
                return function(*arguments, **options)
            start = thread_time()
            stack.append([stage, 0.0])
            try:
                return function(*arguments, **options)
            finally:
                self._count(stack, thread_time() - start)

        return counted

    def _stack(self) -> list[list[Any]]:
        """What this thread is at: stages, and the seconds of those within them."""
        if not hasattr(self._threads, "stack"):
            self._threads.stack = []
        stack: list[list[Any]] = self._threads.stack
        return stack

    def _count(self, stack: list[list[Any]], seconds: float) -> None:
        """Count the innermost stage, without what was within it."""
        stage, inner = stack.pop()
        if stack:
            stack[-1][1] += seconds
        with self._lock:
            self.seconds[stage] += seconds - inner


@contextmanager
def clocked() -> Iterator[StageClock]:
    """Count the stages of whatever the engine does inside."""
    clock = StageClock()
    replaced: list[tuple[Any, str, Any]] = []
    try:
        for stage, places in STAGES.items():
            for owner, name in places:
                replaced.append((owner, name, getattr(owner, name)))
                setattr(owner, name, clock.timed(stage, getattr(owner, name)))
        yield clock
    finally:
        for owner, name, function in replaced:
            setattr(owner, name, function)


def stage_seconds(work: Callable[[], Any]) -> dict[str, float]:
    """Do some work; return the CPU seconds of its stages, and of the rest."""
    start = process_time()
    with clocked() as clock:
        work()
    total = process_time() - start
    return {**clock.seconds, REST: max(total - sum(clock.seconds.values()), 0.0)}
