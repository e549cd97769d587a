"""What a restoration returns, and what it reports on the way."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class GroupCertificate:
    """How many groups of patches were solved, how many to a proven gap, and the largest of those gaps."""

    groups: int
    certified: int
    worst_gap: float


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored picture in the scale of its input; interpolations have no certificate."""

    image: NDArray[np.float32]
    certificate: GroupCertificate | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a restoration: `done` of `total` units of `stage`."""

    stage: str
    done: int
    total: int


ReportProgress = Callable[[Progress], None]
