"""The only clock of this layer: injected, so that the mathematics can be tested without waiting."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment after which a computation should return what it has."""

    moment: float = math.inf
    clock: Callable[[], float] = field(default=time.monotonic)

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> "Deadline":
        """Return the deadline some seconds from now, or none at all."""
        return cls() if seconds is None else cls(clock() + seconds, clock)

    @property
    def remaining(self) -> float:
        """The seconds left; infinite without a deadline."""
        return math.inf if self.moment == math.inf else self.moment - self.clock()

    def passed(self) -> bool:
        """Return whether the moment is over."""
        return self.moment < math.inf and self.clock() >= self.moment
