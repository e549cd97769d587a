"""Means over whole sets, mask by mask, and what they say about our method."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .datasets import PictureSet
from .demosaic_summary import Gain, Line, SetSummary, cost_figures, gain
from .demosaicers import CONTROL, OURS
from .inpaint_benchmark import Record
from .inpainters import BASELINE, Inpainter


@dataclass(frozen=True, slots=True)
class MaskSummary:
    """All methods on one set under one mask."""

    mask: str
    share: float | None  # of the pixels that are missing; None before anything was measured
    results: SetSummary

    @property
    def over_baseline(self) -> Gain | None:
        """By how much ours is above the best of what people use."""
        return gain(self.results, OURS, BASELINE)

    @property
    def over_control(self) -> Gain | None:
        """What completion adds to the group mean."""
        return gain(self.results, OURS, CONTROL)


def summarise(
    each: PictureSet, masks: Iterable[str], methods: Sequence[Inpainter], records: Iterable[Record]
) -> list[MaskSummary]:
    """The lines of every method under every mask, on one set."""
    of_set = [record for record in records if record.set == each.name]
    summaries = []
    for mask in masks:
        of_mask = [record for record in of_set if record.mask == mask]
        lines = [_line(each, method, of_mask) for method in methods]
        shares = [record.missing_share for record in of_mask]
        share = sum(shares) / len(shares) if shares else None
        shown = tuple(line for line in lines if line.figures)
        summaries.append(MaskSummary(mask, share, SetSummary(each, shown)))
    return summaries


def _line(each: PictureSet, method: Inpainter, records: Iterable[Record]) -> Line:
    """What this run, or an earlier one, measured."""
    figures = {record.image: _figures(record) for record in records if record.method == method.name}
    return Line(method.name, method.role, figures, each.unmeasured(figures))


def _figures(record: Record) -> dict[str, float]:
    """The quantities that a table shows."""
    likeness = {"cpsnr": record.cpsnr, "psnr_missing": record.psnr_missing, "ssim": record.ssim}
    return likeness | cost_figures(record)
