"""Means over whole sets, mask by mask, and what they say about our method."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from .datasets import PictureSet
from .demosaic_summary import Gain, Line, SetSummary, cost_figures, gain, refused_by
from .demosaicers import CONTROL, OURS
from .inpaint_benchmark import Job, Record
from .inpainters import BASELINE, Inpainter
from .running import Refusal


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
    each: PictureSet,
    masks: Iterable[str],
    methods: Sequence[Inpainter],
    records: Iterable[Record],
    refusals: Iterable[Refusal] = (),
) -> list[MaskSummary]:
    """The lines of every method under every mask, on one set."""
    refusals = list(refusals)
    of_set = [record for record in records if record.set == each.name]
    summaries = []
    for mask in masks:
        of_mask = [record for record in of_set if record.mask == mask]
        refused = [refusal for refusal in refusals if mask_of(refusal) == mask]
        lines = [_line(each, method, of_mask, refused) for method in methods]
        shares = [record.missing_share for record in of_mask]
        share = sum(shares) / len(shares) if shares else None
        shown = tuple(line for line in lines if line.is_shown)
        summaries.append(MaskSummary(mask, share, SetSummary(each, shown)))
    return summaries


def mask_of(refusal: Refusal) -> str:
    """The mask under which a method refused a picture."""
    job = cast(Job, refusal.job)
    return job.damage.mask


def _line(
    each: PictureSet, method: Inpainter, records: Iterable[Record], refusals: Iterable[Refusal]
) -> Line:
    """What this run, or an earlier one, measured."""
    figures = {record.image: _figures(record) for record in records if record.method == method.name}
    refused = refused_by(method.name, each, refusals)
    return Line(method.name, method.role, figures, each.unmeasured(figures), refused)


def _figures(record: Record) -> dict[str, float]:
    """The quantities that a table shows."""
    likeness = {"cpsnr": record.cpsnr, "psnr_missing": record.psnr_missing, "ssim": record.ssim}
    return likeness | cost_figures(record)
