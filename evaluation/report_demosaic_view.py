"""What a report shows of demosaicing: tables, drawings and pictures."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .data_table import DataTable
from .datasets import Picture
from .demosaic_results import Store
from .demosaic_summary import SetSummary
from .demosaic_tables import findings, mean_table, picture_table
from .demosaicers import OURS
from .drawing import Drawing
from .gallery import Gallery, truth_key
from .pictures import Bytes
from .report_demosaic import DemosaicPart
from .report_plots import error_maps, gains, gains_of, quality_and_time
from .running import refusal_words
from .viewer_page import Scene, Version

TRUTH = "truth"


@dataclass(frozen=True, slots=True)
class DemosaicView:
    """The results and pictures of a part."""

    part: DemosaicPart
    store: Store
    gallery: Gallery
    shown: dict[str, Any]  # by checksum: size, place and thumbnail of what is shown of a picture

    @property
    def sets(self) -> list[SetSummary]:
        """All methods, set by set."""
        return self.part.summaries(self.store)

    @property
    def tables(self) -> Iterator[DataTable]:
        """The means of every set, then every picture."""
        for summary in self.sets:
            conditions = self.part.conditions(summary.set, self.store)
            refused = [r for r in self.part.refused(self.store) if r.job.set == summary.set.name]
            told = (conditions, *findings(summary), *refusal_words(refused))
            means = mean_table(summary, self.part.crop, ". ".join(told))
            yield from [means] if means else []
        yield from (picture_table(summary, self.part.crop) for summary in self.sets if summary.lines)

    @property
    def refused(self) -> list[str]:
        """What could not be run, and why."""
        return refusal_words(self.part.refused(self.store))

    @property
    def drawings(self) -> Iterator[Drawing]:
        """What quality costs, what is gained, and what is wrong."""
        whole = [summary for summary in self.sets if any(not line.missing for line in summary.lines)]
        if whole:
            caption = "mean CPSNR against CPU seconds per megapixel; blue ours, green its parts, grey peers"
            yield Drawing("quality-and-time", "Quality against time", caption, quality_and_time(whole))
        gained = [summary for summary in self.sets if gains_of(summary, OURS)]
        if gained:
            caption = f"{OURS} against the best peer of the run on each picture"
            yield Drawing("gains", "Gains by picture", caption, gains(gained, OURS))
        if rows := [row for summary in gained for row in self._errors(summary)]:
            caption = "of each set the picture with the largest and with the smallest gain over the best peer"
            yield Drawing("errors", "Errors", caption, error_maps(rows), kind="png")

    def _errors(self, summary: SetSummary) -> Iterator[tuple[str, Bytes, list[tuple[str, Bytes]]]]:
        """Truth, ours and the best peer where we gain most and least."""
        by_gain = sorted(gains_of(summary, OURS).items(), key=lambda item: item[1])
        for name in dict.fromkeys((by_gain[-1][0], by_gain[0][0])):
            picture = next(picture for picture in summary.set.pictures if picture.name == name)
            truth = self.gallery.pixels(truth_key(picture))
            versions = [
                (version.name, pixels)
                for version, key in self._versions(picture)[:2]
                if (pixels := self.gallery.pixels(key)) is not None
            ]
            if truth is not None:
                yield name, truth, versions

    @property
    def scenes(self) -> Iterator[Scene]:
        """Every picture in all versions: ours and the best peer first, then the truth."""
        for each in self.part.sets:
            for picture in each.pictures:
                versions = [version for version, _ in self._versions(picture)]
                truth, about = self.gallery.source(truth_key(picture)), self.shown.get(picture.sha256)
                if truth is None or about is None or not versions:
                    continue
                yield Scene(
                    f"{each.name} {picture.name}",
                    about["width"],
                    about["height"],
                    (*versions[:2], Version(TRUTH, truth), *versions[2:]),
                    about["thumbnail"],
                    None if self.gallery.whole else tuple(about["box"]),
                    TRUTH,
                )

    def _versions(self, picture: Picture) -> list[tuple[Version, object]]:
        """A picture by each method, with its key: the first one, the best peer on it, then the others."""
        jobs = [job for job in self.part.jobs if job.picture.sha256 == picture.sha256]
        found = [(job, self.store.get(job.key), self.gallery.source(job.key)) for job in jobs]
        known = [(job, record.cpsnr, source) for job, record, source in found if record and source]
        peers = [entry for entry in known if entry[0].method.role == "peer"]
        best = max(peers, key=lambda entry: entry[1], default=None)
        known[1:] = sorted(known[1:], key=lambda entry: entry is not best)
        return [
            (Version(job.method.name, source, f"{cpsnr:.2f} dB"), job.key) for job, cpsnr, source in known
        ]
