"""Inpainting as a part of a report: results and some of the pictures are kept as they come."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from .crops import CropBox
from .data_table import DataTable
from .datasets import Picture, PictureSet, numbered
from .drawing import Drawing
from .gallery import Gallery, small_copy, truth_key
from .inpaint_benchmark import Damage, Job, Record, plan
from .inpaint_protocol import set_protocol
from .inpaint_results import Store
from .inpaint_summary import MaskSummary, summarise
from .inpaint_tables import gain_table, mean_tables
from .inpainters import Inpainter
from .report_plan import cannot_run, described_methods, described_sets, revived_sets
from .report_plots import mask_gains
from .report_running import Showing
from .running import Refusal, refusal_words
from .viewer_page import Scene, Version

# The part of each picture that is damaged, and how many pictures of a set are: as much as time allows.
_BOX, _IMAGES = CropBox(128, 128, 256, 256), 8
METHODS = ("ntc", "ntc-best", "ntc-fast", "predict-only", "biharmonic", "telea", "ns")

TRUTH, DAMAGED = "truth", "damaged"


@dataclass(frozen=True, slots=True)
class InpaintPart:
    """Which methods are compared on which pictures under which masks."""

    sets: tuple[PictureSet, ...]
    damages: tuple[Damage, ...]
    methods: tuple[Inpainter, ...]

    @property
    def jobs(self) -> list[Job]:
        """All that is to be known in the end."""
        return plan(self.sets, self.damages, self.methods)

    @property
    def looked_at(self) -> list[tuple[str, Picture, Damage]]:
        """What is shown: of each set every mask once, each on another picture."""
        return [
            (each.name, each.pictures[number % len(each.pictures)], damage)
            for each in self.sets
            for number, damage in enumerate(self.damages)
        ]

    def finished(self, store: Store) -> list[Record]:
        """The results that there are, under the names that set and picture have now.

        They are found by a mask's name: what a mask's file held is known to the run alone that read it.
        """
        kept = {(r.method, r.settings, r.mask, r.place, r.sha256): r for r in store}
        found = [(job, kept.get(_found_by(job))) for job in self.jobs]
        return [replace(r, set=job.set, image=job.picture.name) for job, r in found if r is not None]

    def refused(self, store: Store) -> list[Refusal]:
        """What has no result, and why; found as results are."""
        kept = {(k.method, k.settings, k.mask, k.place, k.sha256): why for k, why in store.reasons.items()}
        found = [(job, kept.get(_found_by(job))) for job in self.jobs]
        return [Refusal(job, why) for job, why in found if why is not None]


def some_of(each: PictureSet, numbers: str | None) -> PictureSet:
    """The pictures of a set with these numbers, or the first few."""
    return numbered(each, numbers or f"1-{min(_IMAGES, len(each.pictures))}")


def damages(sets: Iterable[PictureSet], masks: Iterable[str]) -> tuple[Damage, ...]:
    """Every mask, on the same part of all pictures, or on all of them where one is too small for that."""
    pictures = [picture for each in sets for picture in each.pictures]
    least = min(min(picture.width, picture.height) for picture in pictures)
    box = _BOX if least >= _BOX.left + _BOX.width else None
    return tuple(Damage(mask, 0, box) for mask in masks)


def showing(part: InpaintPart, gallery: Gallery) -> Showing:
    """Some of the repaired pictures are shown."""
    chosen = {(name, picture.sha256, damage.mask) for name, picture, damage in part.looked_at}

    def box(job: Job) -> CropBox | None:
        is_shown = (job.set, job.picture.sha256, job.damage.mask) in chosen
        return gallery.box(job.picture, job.damage.box) if is_shown else None

    return Showing(gallery, box)


def keep_truths(part: InpaintPart, gallery: Gallery) -> dict[str, Any]:
    """Keep what is shown of truth and damage; returns each scene's size, place and thumbnail."""
    shown = {}
    for name, picture, damage in part.looked_at:
        box = gallery.box(picture, damage.box)
        truth = damage.part(picture.pixels())
        damaged = np.where(damage.missing(truth)[..., None], np.uint8(255), truth)
        gallery.keep_once(truth_key(picture, damage.place), truth, box)
        gallery.keep_once(_damaged_key(picture, damage), damaged, box)
        left, top = (damage.box.left, damage.box.top) if damage.box else (0, 0)
        place = replace(box, left=box.left + left, top=box.top + top).share((picture.height, picture.width))
        about = {"width": box.width, "height": box.height, "box": place, "thumbnail": small_copy(picture)}
        shown[_scene_key(name, picture, damage)] = about
    return shown


def described(part: InpaintPart) -> dict[str, Any]:
    """The part as JSON has it."""
    return {
        "damages": [asdict(damage) for damage in part.damages],
        "methods": described_methods(part.methods),
        "sets": described_sets(part.sets),
    }


def revived(content: dict[str, Any]) -> InpaintPart:
    """The part from its JSON form: enough for tables and pages, nothing can be run."""
    damages = (
        Damage(each["mask"], each["seed"], CropBox(**each["box"]) if each["box"] else None)
        for each in content["damages"]
    )
    methods = tuple(Inpainter(**method, run=cannot_run) for method in content["methods"])
    return InpaintPart(revived_sets(content["sets"]), tuple(damages), methods)


@dataclass(frozen=True, slots=True)
class InpaintView:
    """The results and pictures of a part."""

    part: InpaintPart
    store: Store
    gallery: Gallery
    shown: dict[str, Any]  # by scene: size, place and thumbnail

    def _masks(self, each: PictureSet) -> list[MaskSummary]:
        """All methods on one set, mask by mask."""
        masks = [damage.mask for damage in self.part.damages]
        results, refusals = self.part.finished(self.store), self.part.refused(self.store)
        return summarise(each, masks, self.part.methods, results, refusals)

    @property
    def refused(self) -> list[str]:
        """What could not be run, and why."""
        return refusal_words(self.part.refused(self.store))

    @property
    def tables(self) -> Iterator[DataTable]:
        """The means of every set, and what is gained."""
        records = self.part.finished(self.store)
        for each in self.part.sets:
            summaries = self._masks(each)
            machines = [record.machine for record in records if record.set == each.name]
            refused = [r for r in self.part.refused(self.store) if r.job.set == each.name]
            told = (set_protocol(each, self.part.damages, machines), *refusal_words(refused))
            means = mean_tables(summaries, ". ".join(told))
            for table in (*means, gain_table(summaries)):
                if table is not None:
                    yield replace(table, title=f"Inpainting {table.title}")

    @property
    def drawings(self) -> Iterator[Drawing]:
        """What is gained, mask by mask."""
        for each in self.part.sets:
            summaries = self._masks(each)
            if any(summary.over_baseline for summary in summaries):
                caption = f"{each.name}: mean gains of ntc, mask by mask"
                name = f"inpaint-gains-{each.name.replace(' ', '-')}"
                yield Drawing(name, f"Inpainting {each.name}: gains", caption, mask_gains(summaries))

    @property
    def scenes(self) -> Iterator[Scene]:
        """Every mask on a picture in all versions, the damage first."""
        for name, picture, damage in self.part.looked_at:
            about = self.shown.get(_scene_key(name, picture, damage))
            truth = self.gallery.source(truth_key(picture, damage.place))
            damaged = self.gallery.source(_damaged_key(picture, damage))
            versions = self._versions(name, picture, damage)
            if about is None or truth is None or damaged is None or not versions:
                continue
            yield Scene(
                f"{picture.name}, {damage.mask}",
                about["width"],
                about["height"],
                (Version(DAMAGED, damaged), *versions[:1], Version(TRUTH, truth), *versions[1:]),
                about["thumbnail"],
                tuple(about["box"]),
                TRUTH,
            )

    def _versions(self, name: str, picture: Picture, damage: Damage) -> list[Version]:
        """A picture by each method."""
        records = [
            record
            for record in self.part.finished(self.store)
            if (record.set, record.image, record.mask) == (name, picture.name, damage.mask)
        ]
        found = [(record, self.gallery.source(record.key)) for record in records]
        return [Version(r.method, source, f"{r.cpsnr:.2f} dB") for r, source in found if source]


def _found_by(job: Job) -> tuple[str, str, str, str, str]:
    """What the result of a job is found by."""
    method, damage = job.method, job.damage
    return method.name, method.settings, damage.mask, damage.place, job.picture.sha256


def _damaged_key(picture: Picture, damage: Damage) -> str:
    """What a damaged picture is kept under."""
    return f"damaged {picture.sha256} {damage.mask} {damage.seed} {damage.place}"


def _scene_key(name: str, picture: Picture, damage: Damage) -> str:
    """What is known about a scene is found under its set, picture and mask."""
    return f"{name} {picture.name} {damage.mask}"
