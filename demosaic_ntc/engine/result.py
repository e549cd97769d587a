"""What a restoration returns."""

from base64 import b64encode
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Planes
from demosaic_ntc.deadline import Deadline
from demosaic_ntc.engine.notebook_preview import preview
from demosaic_ntc.engine.sample_check import SampleCheck
from demosaic_ntc.engine.windowed import Windowed
from demosaic_ntc.html_repr import html_table


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
    median_gap: float  # of the proven gaps, as is the worst; infinite where none is proven
    worst_gap: float
    left: float = 0.0  # the share of the picture that was left to the first estimate

    @property
    def facts(self) -> dict[str, str]:
        """What is proven, in words."""
        share = self.certified / max(self.groups, 1)
        return {
            "groups completed": f"{self.groups:,}",
            "with a proven gap": f"{self.certified:,} ({share:.2%})",
            f"with a gap of at most {self.tolerance:.2g}": f"{self.within_tolerance:,}",
            "gap": f"median {self.median_gap:.2g}, largest {self.worst_gap:.2g}"
            if self.certified
            else "none proven",
            "left to the first estimate": f"{self.left:.0%} of the picture",
        }

    @classmethod
    def of(cls, gaps: NDArray[np.float32], tolerance: float, left: float = 0.0) -> "GroupCertificate":
        """Summarise the gaps of all groups; infinite where nothing is proven."""
        proven = gaps[np.isfinite(gaps)]
        return cls(
            groups=gaps.size,
            certified=proven.size,
            within_tolerance=int((proven <= tolerance).sum()),
            tolerance=tolerance,
            median_gap=float(np.median(proven)) if proven.size else inf,
            worst_gap=float(proven.max()) if proven.size else inf,
            left=left,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Restored:
    """A restored picture in the scale of its input; interpolations have no certificate."""

    image: NDArray[Any]
    certificate: GroupCertificate | None = None
    notices: tuple[str, ...] = ()  # what a user should know about the result
    error: NDArray[np.float32] | None = None  # standard deviation of the expected error, in the image's scale
    check: SampleCheck | None = None  # how well samples of a mosaic were predicted from others

    def __repr__(self) -> str:
        """Show what it is, not its pixels."""
        size = f"{'×'.join(map(str, self.image.shape))} {self.image.dtype}"
        proven = self.certificate
        groups = f", {proven.certified:,} of {proven.groups:,} groups certified" if proven else ""
        return f"Restored({size}{groups})"

    def _repr_png_(self) -> bytes | None:
        """Show the picture in a notebook."""
        return preview(self.image)

    def _repr_html_(self) -> str:
        """Show the picture in a notebook, with what is proven about it."""
        png = preview(self.image)
        picture = f'<img alt="" src="data:image/png;base64,{b64encode(png).decode()}">' if png else ""
        size = f"{'×'.join(map(str, self.image.shape))} {self.image.dtype}"
        proven = self.certificate.facts if self.certificate else {"certificate": "none"}
        checked = self.check.facts if self.check else {}
        notes = {f"note {number}": notice for number, notice in enumerate(self.notices, start=1)}
        return picture + html_table({"picture": size, **proven, **checked, **notes})


@dataclass(frozen=True, slots=True, eq=False)
class StoredPicture:
    """A restored picture with full scale 1 that takes few bytes per pixel and is read window by window."""

    planes: Windowed  # (channels, height, width)
    certificate: GroupCertificate | None
    variance: Planes  # the expected squared error, (channels, height, width), or empty
    notices: tuple[str, ...] = ()  # what a user should know about it
    check: SampleCheck | None = None  # how well samples were predicted from others


def out_of_time(deadline: Deadline) -> tuple[str, ...]:
    """What a user should know of a restoration that had not the time it needed."""
    if not deadline.has_cut:
        return ()
    return ("time ran out: what had not been restored by then is left at the first estimate",)
