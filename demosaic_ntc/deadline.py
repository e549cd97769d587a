"""The only clock of this layer: injected, so that the mathematics can be tested without waiting.

It stands still while kernels are compiled, once on a machine.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from demosaic_ntc.jit.waiting import read_work_clock


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment after which a computation should return what it has."""

    moment: float = math.inf
    clock: Callable[[], float] = field(default=read_work_clock)
    _heeded: list[bool] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float] = read_work_clock) -> "Deadline":
        """Return the deadline some seconds from now, or none at all."""
        return cls() if seconds is None else cls(clock() + seconds, clock)

    @property
    def remaining(self) -> float:
        """The seconds left; infinite without a deadline."""
        return math.inf if self.moment == math.inf else self.moment - self.clock()

    def is_over(self) -> bool:
        """Return whether the moment is over."""
        over = self.moment < math.inf and self.clock() >= self.moment
        if over and not self._heeded:
            self._heeded.append(True)
        return over

    @property
    def has_cut(self) -> bool:
        """Whether somebody who asked was told that it is over: something was left undone."""
        return bool(self._heeded)
