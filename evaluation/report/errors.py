"""What the benchmark of expected errors found, as tables and sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from ..measure.bins import LEAST_SHARE, TOLERANCE, Bin, Histogram, bins_of
from ..measure.case import refusal_words
from ..measure.errors import ErrorPart, histogram
from ..measure.protocol import measured_on
from ..measure.results import Results
from .drawing import Drawing
from .gallery import Gallery
from .plots import reliability
from .tables import Cell, DataTable, figure

_COLUMNS = ("bin", "expected RMSE", "true RMSE", "true / expected", "share of squared error")


@dataclass(frozen=True, slots=True)
class Calibration:
    """The restored entries of all pictures together, sorted by expected error into bins of one size."""

    task: str
    sets: tuple[str, ...]
    pictures: int
    wanted: int  # pictures that were to be measured
    bins: tuple[Bin, ...]
    machines: tuple[str, ...]

    @property
    def conclusion(self) -> str:
        """Whether the errors are as expected, where that matters."""
        number = str(self.pictures) if self.pictures == self.wanted else f"{self.pictures} of {self.wanted}"
        where = f"{self.task}, pictures of {', '.join(self.sets)}: {number}"
        judged = _judged([each for each in self.bins if each.counts])
        return f"{where}; {judged}; measured on {measured_on(self.machines)}"


def calibrations(results: Results) -> list[Calibration]:
    """What was found for each task, over all pictures together; nothing for one without results."""
    part, found = cast(ErrorPart, results.part), []
    wanted = sum(len(each.pictures) for each in part.sets)
    for task in part.tasks:
        rows = results.frame[results.frame["task"] == task].to_dict("records")
        if rows:
            sets, machines = (tuple(dict.fromkeys(row[name] for row in rows)) for name in ("set", "machine"))
            bins = bins_of(Histogram.total(map(histogram, rows)))
            found.append(Calibration(task, sets, len(rows), wanted, tuple(bins), machines))
    return found


def tables(results: Results, *, details: bool = False) -> Iterator[DataTable]:
    """Expected and true error of each task, bin by bin."""
    for found in calibrations(results):
        rows = tuple(
            (
                Cell(str(number)),
                figure(each.expected, ".3g"),
                figure(each.true, ".3g"),
                figure(each.ratio, ".2f"),
                figure(each.share, ".1%"),
            )
            for number, each in enumerate(found.bins, start=1)
        )
        notes = (found.conclusion, *refusal_words(results.refusals))
        yield DataTable(f"Expected and true errors, {found.task}", _COLUMNS, rows, notes)


def _judged(bins: Sequence[Bin]) -> str:
    """How many bins that hold enough of the squared error agree, and the extremes of their ratios."""
    agreeing = sum(each.agrees for each in bins)
    ratios = [each.ratio for each in bins if each.ratio is not None]
    extremes = f" (ratios {min(ratios):.2f} to {max(ratios):.2f})" if ratios else ""
    return (
        f"the true error is within {TOLERANCE:.0%} of the expected one in {agreeing} of the {len(bins)} bins "
        f"with at least {LEAST_SHARE:.0%} of the squared error{extremes}"
    )


def drawings(results: Results, _: Gallery) -> Iterator[Drawing]:
    """True errors against expected ones."""
    if found := calibrations(results):
        caption = (
            "true against expected error of ten bins of as many restored entries each; the band is "
            f"±{TOLERANCE:.0%}, hollow points hold less than {LEAST_SHARE:.0%} of the squared error"
        )
        points = {each.task: each.bins for each in found}
        yield Drawing("reliability", "Expected and true errors", caption, reliability(points))
