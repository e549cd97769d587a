"""What a restoration returns, and what it reports on the way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class GroupCertificate:
    """How far from optimal the completions of a restoration are at most.

    Gaps are mean squared errors with full scale 1, proven by an exact oracle or by the free bound: the
    objective of a group exceeds the best that its polytope allows by no more than its gap.
    """

    groups: int  # completed in the last pass
    certified: int  # of them with a proven gap
    within_tolerance: int  # of them with a proven gap of at most the tolerance
    tolerance: float
    median_gap: float  # of the proven gaps, as is the worst
    worst_gap: float

    @classmethod
    def of(cls, gaps: NDArray[np.float32], tolerance: float) -> "GroupCertificate":
        """Summarise the gaps of all groups; infinite where nothing is proven."""
        proven = gaps[np.isfinite(gaps)]
        return cls(
            groups=gaps.size,
            certified=proven.size,
            within_tolerance=int((proven <= tolerance).sum()),
            tolerance=tolerance,
            median_gap=float(np.median(proven)) if proven.size else 0.0,
            worst_gap=float(proven.max(initial=0.0)),
        )


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored picture in the scale of its input; interpolations have no certificate."""

    image: NDArray[Any]
    certificate: GroupCertificate | None = None
    notices: tuple[str, ...] = ()  # what a user should know about the result


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a restoration: `done` of `total` units of `stage`."""

    stage: str
    done: int
    total: int


ReportProgress = Callable[[Progress], None]
