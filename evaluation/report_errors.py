"""Expected errors as a part of a report: results are kept as they come, and none is made twice."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .data_table import DataTable
from .datasets import PictureSet
from .drawing import Drawing
from .error_benchmark import Estimator, Job, Record, plan
from .error_bins import LEAST_SHARE, TOLERANCE
from .error_results import Store
from .error_tables import Calibration, calibration_table, calibrations
from .report_plan import cannot_run, described_sets, revived_sets
from .report_plots import reliability
from .running import finished, refusal_words, refused
from .viewer_page import Scene

#: What is taken away from pictures for inpainting, beside the mosaics.
MASKS = ("random:50",)


@dataclass(frozen=True, slots=True)
class ErrorPart:
    """Which tasks are done on which pictures."""

    sets: tuple[PictureSet, ...]
    methods: tuple[Estimator, ...]
    crop: int

    @property
    def jobs(self) -> list[Job]:
        """All that is to be known in the end."""
        return plan(self.sets, self.methods, self.crop)

    def finished(self, store: Store) -> list[Record]:
        """The results that there are, under the names that set and picture have now."""
        return finished(self.jobs, store.get)

    def calibrations(self, store: Store) -> list[Calibration]:
        """What was found, task by task."""
        wanted = sum(len(each.pictures) for each in self.sets)
        return calibrations(self.finished(store), self.methods, wanted)


def described(part: ErrorPart) -> dict[str, Any]:
    """The part as JSON has it."""
    methods = [{"task": m.task, "name": m.name, "settings": m.settings} for m in part.methods]
    return {"crop": part.crop, "methods": methods, "sets": described_sets(part.sets)}


def revived(content: dict[str, Any]) -> ErrorPart:
    """The part from its JSON form: enough for tables and pages, nothing can be run."""
    methods = tuple(Estimator(**method, run=cannot_run) for method in content["methods"])
    return ErrorPart(revived_sets(content["sets"]), methods, content["crop"])


@dataclass(frozen=True, slots=True)
class ErrorView:
    """The results of a part."""

    part: ErrorPart
    store: Store

    @property
    def tables(self) -> Iterator[DataTable]:
        """Expected and true errors of each task."""
        yield from map(calibration_table, self.part.calibrations(self.store))

    @property
    def drawings(self) -> Iterator[Drawing]:
        """True errors against expected ones."""
        found = self.part.calibrations(self.store)
        if found:
            caption = (
                "true against expected error of ten bins of as many restored entries each; the band is "
                f"±{TOLERANCE:.0%}, hollow points hold less than {LEAST_SHARE:.0%} of the squared error"
            )
            yield Drawing("reliability", "Expected and true errors", caption, reliability(found))

    @property
    def refused(self) -> list[str]:
        """What could not be run, and why."""
        return refusal_words(refused(self.part.jobs, self.store.reasons))

    @property
    def scenes(self) -> Iterator[Scene]:
        """None: there is nothing to look at."""
        yield from ()
