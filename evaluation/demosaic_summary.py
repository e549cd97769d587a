"""Means over whole sets, and what they say about our method.

A mean over a part of a set would look like a mean over the set, so there is none: it is None until every
picture of the folder has its figure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .datasets import PictureSet
from .demosaic_benchmark import Record
from .demosaicers import CONTROL, OURS, Demosaicer, Role
from .reference import CROP, Figures, Reference
from .running import Costly, Refusal, per_megapixel

MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Line:
    """The figures of one method on one set, by picture and then by quantity, and the pictures it refused."""

    method: str
    role: Role | Literal["reference"]
    figures: Mapping[str, Mapping[str, float]]
    missing: tuple[str, ...]
    refused: tuple[str, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether the method was tried on a picture."""
        return bool(self.figures or self.refused)

    def mean(self, quantity: str) -> float | None:
        """The mean over the whole set; None if a picture or the quantity is missing."""
        values = self._values(quantity)
        return sum(values) / len(values) if values else None

    def most(self, quantity: str) -> float | None:
        """The largest value over the whole set; None if a picture or the quantity is missing."""
        return max(self._values(quantity), default=None)

    def lowest(self) -> tuple[str, float] | None:
        """The picture on which the method is worst, and its CPSNR; None if a picture is missing."""
        if not self._values("cpsnr"):
            return None
        name = min(self.figures, key=lambda image: self.figures[image]["cpsnr"])
        return name, self.figures[name]["cpsnr"]

    def certified(self) -> tuple[int, int] | None:
        """How many groups have a proven gap, of how many; None if the method proves nothing."""
        proven, groups = self._values("certified"), self._values("groups")
        return (round(sum(proven)), round(sum(groups))) if groups else None

    def _values(self, quantity: str) -> list[float]:
        """The quantity on each picture; nothing if a picture is missing."""
        values = [figures[quantity] for figures in self.figures.values() if quantity in figures]
        return values if len(values) == len(self.figures) and not self.missing else []


@dataclass(frozen=True, slots=True)
class SetSummary:
    """All methods on one set."""

    set: PictureSet
    lines: tuple[Line, ...]

    def line(self, method: str) -> Line | None:
        """The measured line of a method."""
        return next((line for line in self.lines if line.method == method and line.role != "reference"), None)


@dataclass(frozen=True, slots=True)
class Gain:
    """By how many decibels one method is above another: over the set, and on single pictures."""

    mean: float | None
    helped: int
    compared: int
    lowest: tuple[str, float]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The picture on which a method compares worst with the best peer on that picture."""

    method: str
    image: str
    cpsnr: float
    peer: str
    peer_cpsnr: float


def summarise(
    sets: Iterable[PictureSet],
    methods: Sequence[Demosaicer],
    records: Iterable[Record],
    reference: Reference,
    crop: int,
    refusals: Iterable[Refusal] = (),
) -> list[SetSummary]:
    """Lines for every method on every set, and for those of the reference."""
    records, refusals = list(records), list(refusals)
    summaries = []
    for each in sets:
        of_set = [record for record in records if record.set == each.name]
        measured = [_measured(each, method, of_set, refusals) for method in methods]
        known = reference.get(each.name, {})
        published = [_published(each, name, figures, crop) for name, figures in known.items()]
        shown = [line for line in (*measured, *published) if line.is_shown]
        summaries.append(SetSummary(each, tuple(shown)))
    return summaries


def gain(summary: SetSummary, method: str = OURS, control: str = CONTROL) -> Gain | None:
    """What a method adds to its control; None unless both were measured on a picture."""
    ours, theirs = summary.line(method), summary.line(control)
    if ours is None or theirs is None:
        return None
    differences = {
        image: figures["cpsnr"] - theirs.figures[image]["cpsnr"]
        for image, figures in ours.figures.items()
        if image in theirs.figures
    }
    if not differences:
        return None
    lowest = min(differences.items(), key=lambda item: item[1])
    helped = sum(difference > 0 for difference in differences.values())
    is_whole = not ours.missing and not theirs.missing
    mean = sum(differences.values()) / len(differences) if is_whole else None
    return Gain(mean, helped, len(differences), lowest)


def shortfalls(summary: SetSummary) -> list[Shortfall]:
    """For each of our methods the picture on which it compares worst with the best peer of the run."""
    peers = [line for line in summary.lines if line.role == "peer"]
    ours = [line for line in summary.lines if line.role == "ours"]
    found = []
    for line in ours:
        candidates = [
            Shortfall(line.method, image, figures["cpsnr"], *best)
            for image, figures in line.figures.items()
            if (best := best_on(image, peers)) is not None
        ]
        if candidates:
            found.append(min(candidates, key=lambda each: each.cpsnr - each.peer_cpsnr))
    return found


def best_on(image: str, lines: Iterable[Line]) -> tuple[str, float] | None:
    """The method that is best on a picture, and its CPSNR."""
    figures = [(line.method, line.figures[image]["cpsnr"]) for line in lines if image in line.figures]
    return max(figures, key=lambda item: item[1], default=None)


def refused_by(method: str, each: PictureSet, refusals: Iterable[Refusal]) -> tuple[str, ...]:
    """The pictures of a set that a method refused."""
    jobs = [refusal.job for refusal in refusals]
    return tuple(job.picture.name for job in jobs if (job.set, job.method.name) == (each.name, method))


def _measured(
    each: PictureSet, method: Demosaicer, records: Iterable[Record], refusals: Iterable[Refusal]
) -> Line:
    """What this run, or an earlier one, measured."""
    figures = {record.image: _figures(record) for record in records if record.method == method.name}
    refused = refused_by(method.name, each, refusals)
    return Line(method.name, method.role, figures, each.unmeasured(figures), refused)


def _published(each: PictureSet, method: str, known: Mapping[str, Figures], crop: int) -> Line:
    """What a reference has; its crop is one, so only with that crop there is a CPSNR inside the crop."""
    used = [picture.name for picture in each.pictures if picture.name in known]
    figures: dict[str, dict[str, float]] = {}
    for image in used:
        its = known[image]
        inside = {0: its.cpsnr_crop0, CROP: its.cpsnr_crop10}.get(crop)
        figures[image] = {"cpsnr_crop0": its.cpsnr_crop0, "cpu_s_per_mp": its.cpu_s_per_mp}
        if inside is not None:
            figures[image]["cpsnr"] = inside
    return Line(method, "reference", figures, each.unmeasured(figures))


def _figures(record: Record) -> dict[str, float]:
    """The quantities that a table shows."""
    return {
        "cpsnr": record.cpsnr,
        "cpsnr_crop0": record.cpsnr_crop0,
        "psnr_red": record.psnr_red,
        "psnr_green": record.psnr_green,
        "psnr_blue": record.psnr_blue,
        "ssim": record.ssim,
        "nmse": record.nmse,
    } | cost_figures(record)


def cost_figures(record: Costly) -> dict[str, float]:
    """What a result took, and what it proved if it proved anything."""
    figures = per_megapixel(record) | {"mib": record.peak_bytes / MIB}
    if record.groups is not None and record.certified is not None and record.worst_gap is not None:
        figures |= {"groups": record.groups, "certified": record.certified, "worst_gap": record.worst_gap}
    return figures
