"""What a restoration returns."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Planes, Sums
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
from demosaic_ntc.engine.notebook_preview import preview
from demosaic_ntc.engine.tiles import WritableWindowed
from demosaic_ntc.html_repr import html_table
from demosaic_ntc.run import Deadline

_LEAST_SAMPLES = 1000  # fewer tell nothing
WHITE = 255  # full scale as people are told errors
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
        counts, values, squares = total[CHANNELS:].reshape(-1, 3).T.astype(np.float64)
        within = squares.sum() - (values**2 / np.maximum(counts, 1)).sum() / SQUARE_UNIT  # their channels
        deviation = float(np.sqrt(max(within, 0.0) / SQUARE_UNIT / counts.sum()))
        unexplained = float(plain / max(deviation, 1e-9))
        return cls(samples, float(ratio * expected), float(expected), float(ratio), unexplained)

    @property
    def facts(self) -> dict[str, str]:
        """What was found, in words."""
        error, expected = WHITE * self.error, WHITE * self.expected
        return {"left-out samples": f"predicted within {error:.1f} of {WHITE}, {expected:.1f} expected"}


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
            "this may not be a picture, or its width or `cfa` may be wrong",
        )
    return ()


CLOSE = 1.1  # the upper over the lower bound of a norm that counts as closely known


@dataclass(frozen=True, slots=True)
class NormCertificate:
    """What is proven about the completions of a restoration.

    Of every completed tensor: none of smaller norm than a lower bound explains its samples within the misfit
    allowed; the one that was found does, and its norm is the upper bound.
    """

    groups: int  # that were to be completed
    completed: int  # of them that were
    close: int  # of them with an upper bound of at most `CLOSE` times the lower one
    median_ratio: float  # of the upper to the lower bound; infinite where nothing was completed
    vertices: float  # in the mean, of a completion

    @property
    def share(self) -> float:
        """The share of closely known norms among all groups, 0 to 1."""
        return self.close / max(self.groups, 1)

    @property
    def facts(self) -> dict[str, str]:
        """What is proven, in words."""
        known = f"{self.close:,} ({self.share:.1%})"
        return {
            "groups completed": f"{self.completed:,} of {self.groups:,}",
            f"with the least norm known within {CLOSE - 1:.0%}": known,
            "upper over lower bound": f"median {self.median_ratio:.3g}" if self.completed else "none proven",
            "vertices per group": f"{self.vertices:.1f}",
        }

    @classmethod
    def of(cls, bounds: NDArray[np.float32]) -> "NormCertificate":
        """Summarise (groups, 3): lower and upper bounds, and numbers of vertices."""
        lower, upper, vertices = np.asarray(bounds, np.float64).T
        done = np.isfinite(upper)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(upper[done] > 0, upper[done] / lower[done], 1.0)
        return cls(
            groups=upper.size,
            completed=int(done.sum()),
            close=int((ratio <= CLOSE).sum()),
            median_ratio=float(np.median(ratio)) if ratio.size else inf,
            vertices=float(vertices[done].mean()) if ratio.size else 0.0,
        )


@dataclass(frozen=True, slots=True, eq=False)
class CopiedPixels:
    """Which pixels were copied from elsewhere in the picture, and where from: rows and columns."""

    targets: NDArray[np.int32]  # (pixels, 2)
    sources: NDArray[np.int32]  # (pixels, 2)

    @property
    def count(self) -> int:
        """How many pixels were copied."""
        return len(self.targets)

    def shift(self, step: tuple[int, int]) -> "CopiedPixels":
        """Return the same pixels as those of a picture in which this one begins at some row and column."""
        moved = np.array(step, np.int32)
        return CopiedPixels(self.targets + moved, self.sources + moved)

    def as_map(self, shape: tuple[int, ...]) -> NDArray[np.int32]:
        """Return the source of every pixel of a picture, (height, width, 2); −1 where there is none."""
        places = np.full((*shape[:2], 2), -1, np.int32)
        places[tuple(self.targets.T)] = self.sources
        return places


NOTHING_COPIED = CopiedPixels(np.zeros((0, 2), np.int32), np.zeros((0, 2), np.int32))


@dataclass(frozen=True, slots=True, repr=False)
class Restored:
    """A restored picture in the scale of its input; the methods of completion have a certificate."""

    image: NDArray[Any]
    certificate: NormCertificate | None = None
    notices: tuple[str, ...] = ()  # what a user should know about the result
    error: NDArray[np.float32] | None = None  # standard deviation of the expected error, in the image's scale
    check: SampleCheck | None = None  # how well samples of a mosaic were predicted from others
    copied: CopiedPixels | None = None  # what wide holes were filled with; nothing of it is certified

    def __repr__(self) -> str:
        """Show what it is, not its pixels."""
        size = f"{'×'.join(map(str, self.image.shape))} {self.image.dtype}"
        proven = self.certificate
        groups = f", {proven.completed:,} of {proven.groups:,} groups completed" if proven else ""
        return f"Restored({size}{groups})"

    def _repr_png_(self) -> bytes | None:
        """Show the picture in a notebook."""
        return preview(self.image)

    def _repr_html_(self) -> str:
        """Show the picture in a notebook, with what is proven about it."""
        png = preview(self.image)
        picture = f'<img alt="" src="data:image/png;base64,{b64encode(png).decode()}">' if png else ""
        size = f"{'×'.join(map(str, self.image.shape))} {self.image.dtype}"
        proven = self.certificate.facts if self.certificate else {}
        checked = self.check.facts if self.check else {}
        notes = {f"note {number}": notice for number, notice in enumerate(self.notices, start=1)}
        return picture + html_table({"picture": size, **proven, **checked, **notes})


@dataclass(frozen=True, slots=True, eq=False)
class StoredPicture:
    """A restored picture with full scale 1 that takes few bytes per pixel and is read window by window."""

    planes: WritableWindowed  # (channels, height, width)
    certificate: NormCertificate | None
    variance: Planes  # the expected squared error, (channels, height, width), or empty
    notices: tuple[str, ...] = ()  # what a user should know about it
    check: SampleCheck | None = None  # how well samples were predicted from others


def out_of_time(deadline: Deadline) -> tuple[str, ...]:
    """What a user should know of a restoration that ran out of time."""
    if not deadline.has_cut:
        return ()
    return ("time ran out: what had not been restored by then is left at the first estimate",)
