"""What the benchmark of expected errors found, as tables and sentences, with how it was made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .data_table import Cell, DataTable, figure
from .error_benchmark import Estimator, Record
from .error_bins import BINS, LEAST_SHARE, TOLERANCE, Bin, Histogram, bins_of
from .protocol import measured_on, versions

_PACKAGES = ("demosaic-ntc", "numpy", "numba")
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
    def counted(self) -> list[Bin]:
        """The bins that hold enough of the squared error to be judged."""
        return [each for each in self.bins if each.counts]


def calibrations(records: Iterable[Record], methods: Iterable[Estimator], wanted: int) -> list[Calibration]:
    """What was found for each task, over all pictures together; nothing for one without results."""
    records, found = list(records), []
    for method in methods:
        of_task = [each for each in records if (each.task, each.settings) == (method.task, method.settings)]
        if of_task:
            sets, machines = ({getattr(each, name): None for each in of_task} for name in ("set", "machine"))
            bins = bins_of(Histogram.total(each.histogram for each in of_task))
            found.append(
                Calibration(method.task, tuple(sets), len(of_task), wanted, tuple(bins), tuple(machines))
            )
    return found


def calibration_table(found: Calibration) -> DataTable:
    """Expected and true error, bin by bin."""
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
    return DataTable(f"Expected and true errors, {found.task}", conclusion(found), _COLUMNS, rows)


def conclusion(found: Calibration) -> str:
    """Whether the errors are as expected, where that matters."""
    number = str(found.pictures) if found.pictures == found.wanted else f"{found.pictures} of {found.wanted}"
    where = f"{found.task}, pictures of {', '.join(found.sets)}: {number}"
    return f"{where}; {_judged(found.counted)}; measured on {measured_on(found.machines)}"


def _judged(bins: Sequence[Bin]) -> str:
    """How many bins that hold enough of the squared error agree, and the extremes of their ratios."""
    agreeing = sum(each.agrees for each in bins)
    ratios = [each.ratio for each in bins if each.ratio is not None]
    extremes = f" (ratios {min(ratios):.2f} to {max(ratios):.2f})" if ratios else ""
    return (
        f"the true error is within {TOLERANCE:.0%} of the expected one in {agreeing} of the {len(bins)} bins "
        f"with at least {LEAST_SHARE:.0%} of the squared error{extremes}"
    )


def protocol(methods: Iterable[Estimator], crop: int) -> dict[str, str]:
    """How the figures are made, line by line."""
    methods = list(methods)
    return {
        "tasks": f"{', '.join(method.task for method in methods)}: 8-bit RGB, gamma-encoded as the files "
        "are, no noise, sampled by a colour array or damaged by a mask (seed 0)",
        "entries": "those restored, of all pictures together; left out are measured and known ones, and "
        f"{crop} pixels on each side",
        "bins": f"{BINS} of as many entries each, sorted by expected error (classes of a sixteenth octave)",
        "errors": "root mean squares, in code values of 8 bit; results are compared as they are, not rounded",
        "expected": "the standard deviation that the method gives for every pixel and channel",
        "versions": versions(_PACKAGES),
        **{f"method {method.name}, {method.task}": method.settings for method in methods},
    }
