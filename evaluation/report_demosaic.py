"""Demosaicing as a part of a report: results and pictures are kept as they come, and none is made twice."""

from dataclasses import dataclass
from typing import Any

from demosaic_ntc.imaging.cfa import Cfa

from .datasets import PictureSet
from .demosaic_benchmark import Job, Record, plan
from .demosaic_protocol import set_protocol
from .demosaic_results import Store
from .demosaic_summary import SetSummary, summarise
from .demosaicers import Demosaicer
from .gallery import Gallery, small_copy, truth_key
from .report_plan import cannot_run, described_methods, described_sets, revived_sets
from .report_running import Showing
from .running import Refusal, finished, refused

#: The methods of a report, ours and what it is made of first.
METHODS = (
    *("ntc", "ntc-best", "ntc-fast", "predict-only", "blend", "lmmse", "mlri", "menon", "malvar", "bilinear"),
    *("libraw-ahd", "libraw-dcb", "libraw-vng"),
)


@dataclass(frozen=True, slots=True)
class DemosaicPart:
    """Which methods are compared on which pictures."""

    sets: tuple[PictureSet, ...]
    methods: tuple[Demosaicer, ...]
    cfa: Cfa
    crop: int

    @property
    def jobs(self) -> list[Job]:
        """All that is to be known in the end."""
        return plan(self.sets, self.methods, self.cfa, self.crop)

    def finished(self, store: Store) -> list[Record]:
        """The results that there are, under the names that set and picture have now."""
        return finished(self.jobs, store.get)

    def refused(self, store: Store) -> list[Refusal]:
        """What has no result, and why."""
        return refused(self.jobs, store.reasons)

    def summaries(self, store: Store) -> list[SetSummary]:
        """All methods, set by set."""
        results = self.finished(store)
        return summarise(self.sets, self.methods, results, {}, self.crop, self.refused(store))

    def conditions(self, each: PictureSet, store: Store) -> str:
        """How the means of a set were made."""
        machines = [record.machine for record in self.finished(store) if record.set == each.name]
        return set_protocol(each, self.cfa, self.crop, machines)


def showing(gallery: Gallery) -> Showing:
    """Of every picture a part is shown, or all of it."""
    return Showing(gallery, lambda job: gallery.box(job.picture))


def keep_truths(part: DemosaicPart, gallery: Gallery) -> dict[str, Any]:
    """Keep what is shown of the truth; returns each picture's place and thumbnail, by checksum."""
    shown = {}
    for picture in (picture for each in part.sets for picture in each.pictures):
        box = gallery.box(picture)
        gallery.keep_once(truth_key(picture), picture.pixels(), box)
        place = box.share((picture.height, picture.width))
        small = small_copy(picture)
        shown[picture.sha256] = {"width": box.width, "height": box.height, "box": place, "thumbnail": small}
    return shown


def described(part: DemosaicPart) -> dict[str, Any]:
    """The part as JSON has it."""
    return {
        "cfa": part.cfa.rows,
        "crop": part.crop,
        "methods": described_methods(part.methods),
        "sets": described_sets(part.sets),
    }


def revived(content: dict[str, Any]) -> DemosaicPart:
    """The part from its JSON form: enough for tables and pages, nothing can be run."""
    return DemosaicPart(
        revived_sets(content["sets"]),
        tuple(Demosaicer(**method, run=cannot_run) for method in content["methods"]),
        Cfa.parse(content["cfa"]),
        content["crop"],
    )
