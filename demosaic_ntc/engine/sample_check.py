"""How well samples of a mosaic are predicted from others: a check that can fail."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demosaic_ntc.arrays import Sums
from demosaic_ntc.engine.kernels.left_out import (
    CHANNELS,
    COUNT,
    PRECISION,
    PRECISION_UNIT,
    RATIO,
    RATIO_UNIT,
    SQUARE,
    SQUARE_UNIT,
)

_LEAST_SAMPLES = 1000  # fewer tell nothing
_WHITE = 255
_SUSPICIOUS = 1.5  # times what is expected
_UNPREDICTABLE = 0.8  # of the spread of samples


@dataclass(frozen=True, slots=True)
class SampleCheck:
    """Samples left out and predicted by patches that did not measure them, with full scale 1.

    Errors are those of the mean of the samples at a spot of similar patches, weighted by the inverse of the
    variance that is expected of each: even places count most.
    """

    samples: int
    error: float  # the root of the weighted mean square
    expected: float  # what it would be if samples and estimates differed by chance alone
    ratio: float  # of the two
    unexplained: float  # the error of single samples over their standard deviation

    @classmethod
    def of(cls, sums: Sequence[Sums]) -> "SampleCheck | None":
        """Return what sums amount to, see `add_left_out`; nothing where samples are few."""
        samples = sum(int(each[CHANNELS::3].sum()) for each in sums)
        if samples < _LEAST_SAMPLES:
            return None
        total = np.sum(sums, axis=0)
        ratio = np.sqrt(total[RATIO] / RATIO_UNIT / total[COUNT])
        expected = np.sqrt(total[COUNT] * PRECISION_UNIT / total[PRECISION])
        plain = np.sqrt(total[SQUARE] / SQUARE_UNIT / samples)
        unexplained = float(plain / max(_deviation(total[CHANNELS:]), 1e-9))
        return cls(samples, float(ratio * expected), float(expected), float(ratio), unexplained)

    @property
    def facts(self) -> dict[str, str]:
        """What was found, in words."""
        return {"left-out samples": str(self)}

    def as_json(self) -> dict[str, Any]:
        """Return it as an object for JSON; errors are shares of full scale."""
        return {
            "samples": self.samples,
            "error": self.error,
            "expected": self.expected,
            "ratio": self.ratio,
            "unexplained": self.unexplained,
        }

    def __str__(self) -> str:
        """Say it in a line."""
        error, expected = _WHITE * self.error, _WHITE * self.expected
        return f"left-out samples predicted within {error:.1f} of {_WHITE}, {expected:.1f} expected"


def _deviation(channels: Sums) -> float:
    """Return the standard deviation of samples about the mean of their channel."""
    counts, values, squares = channels.reshape(-1, 3).T.astype(np.float64)
    within = squares.sum() - (values**2 / np.maximum(counts, 1)).sum() / SQUARE_UNIT
    return float(np.sqrt(max(within, 0.0) / SQUARE_UNIT / counts.sum()))


def notices_of(check: SampleCheck | None) -> tuple[str, ...]:
    """Return what a user should know: that samples are not as a picture's would be."""
    if check is None:
        return ()
    if check.ratio > _SUSPICIOUS:
        return (
            f"samples deviate {check.ratio:.1f} times as far as expected from what others tell of their "
            "colour; the colour array may be wrong, try another `cfa`",
        )
    if check.unexplained > _UNPREDICTABLE:
        return (
            "samples hardly follow from those around them; if they are noisy give their `noise`, else "
            "this may be no picture, or its width or `cfa` may be wrong",
        )
    return ()
