"""Noisy mosaics as a part of a report: results are kept as they come, and none is made twice."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .crops import CropBox
from .data_table import DataTable
from .datasets import PictureSet, numbered
from .denoisers import Denoiser
from .drawing import Drawing
from .noise_benchmark import Job, Noise, Record, plan
from .noise_results import Store
from .noise_tables import NoiseSummary, estimate_table, mean_table, set_protocol, summarise
from .report_plan import cannot_run, described_methods, described_sets, revived_sets
from .running import finished, refusal_words, refused
from .viewer_page import Scene

SIGMAS = (5, 10, 20)

# The part of each picture that is measured, and which pictures of known sets: as much as time allows.
_BOX = CropBox(128, 128, 192, 192)
_IMAGES = {"kodak": "1,5,8,13,19,23", "mcmaster": "1,5,9,12,17,18"}
_FIRST = 6  # pictures of other sets


@dataclass(frozen=True, slots=True)
class NoisePart:
    """Which methods are compared on which pictures with which noise."""

    sets: tuple[PictureSet, ...]
    noises: tuple[Noise, ...]
    methods: tuple[Denoiser, ...]
    crop: int

    @property
    def jobs(self) -> list[Job]:
        """All that is to be known in the end."""
        return plan(self.sets, self.noises, self.methods, self.crop)

    def finished(self, store: Store) -> list[Record]:
        """The results that there are, under the names that set and picture have now."""
        return finished(self.jobs, store.get)

    def summaries(self, store: Store) -> list[list[NoiseSummary]]:
        """What was found on each set, noise by noise."""
        records = self.finished(store)
        return [summarise(each, self.noises, self.methods, records) for each in self.sets]


def some_of(each: PictureSet) -> PictureSet:
    """The usual pictures of a known set, or the first few."""
    usual = _IMAGES.get(each.name, "")
    enough = len(each.pictures) >= max((int(number) for number in usual.split(",") if number), default=0)
    return numbered(each, usual if usual and enough else f"1-{min(_FIRST, len(each.pictures))}")


def usual_box(sets: Iterable[PictureSet]) -> CropBox | None:
    """The part of all pictures that is measured; all of them where one is too small for that."""
    pictures = [picture for each in sets for picture in each.pictures]
    least = min(min(picture.width, picture.height) for picture in pictures)
    return _BOX if least >= _BOX.left + _BOX.width else None


def described(part: NoisePart) -> dict[str, Any]:
    """The part as JSON has it."""
    return {
        "crop": part.crop,
        "noises": [asdict(noise) for noise in part.noises],
        "methods": described_methods(part.methods),
        "sets": described_sets(part.sets),
    }


def revived(content: dict[str, Any]) -> NoisePart:
    """The part from its JSON form: enough for tables and pages, nothing can be run."""
    methods = tuple(Denoiser(**method, run=cannot_run) for method in content["methods"])
    noises = tuple(
        Noise(each["sigma"], each["poisson"], CropBox(**each["box"]) if each["box"] else None)
        for each in content["noises"]
    )
    return NoisePart(revived_sets(content["sets"]), noises, methods, content["crop"])


@dataclass(frozen=True, slots=True)
class NoiseView:
    """The results of a part."""

    part: NoisePart
    store: Store

    @property
    def tables(self) -> Iterator[DataTable]:
        """The means of each set, and how well noise was estimated."""
        records = self.part.finished(self.store)
        for each, summaries in zip(self.part.sets, self.part.summaries(self.store), strict=True):
            machines = [record.machine for record in records if record.set == each.name]
            conditions = set_protocol(each, self.part.noises, self.part.crop, machines)
            for table in (mean_table(summaries, conditions), estimate_table(summaries)):
                if table is not None:
                    yield table

    @property
    def drawings(self) -> Iterator[Drawing]:
        """None."""
        yield from ()

    @property
    def refused(self) -> list[str]:
        """What could not be run, and why."""
        return refusal_words(refused(self.part.jobs, self.store.reasons))

    @property
    def scenes(self) -> Iterator[Scene]:
        """None: there is nothing to look at."""
        yield from ()
