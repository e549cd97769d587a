"""Expected errors measured against true ones on pictures whose truth is known.

Of each picture some entries are kept, those of a colour array or those that a mask leaves; the others are
restored and compared with the truth as they are, not rounded: that is what the error bars are about.

Entries are sorted by the expected error. A picture gives a histogram over narrow classes of it, sixteen to
the octave; histograms add up, so no picture is held longer than it takes to count it. Bins of equal numbers
of entries are cut from the sum; a class that lies across a cut is shared in proportion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from demosaic_ntc import Restored, demosaic, inpaint
from demosaic_ntc.arrays import Flags
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError, Unsupported

from .. import split_names
from ..data.masks import check_mask, make_mask
from ..data.sets import ImageSet, check_crop
from ..methods.method import OURS, Effort, Method
from ..report.gallery import Gallery
from ..report.plots import TOLERANCE, Drawing, reliability
from ..report.tables import Cell, DataTable, figure
from .benchmark import Benchmark, Options
from .case import Case, Measurement, Row, refusal_words
from .metrics import Bytes, crop_border
from .protocol import list_machines, machine, versions
from .results import Results

Sums = NDArray[np.float64]  # (3, CLASSES): entries, sums of squares of expected and of true errors, of 255

#: The least share of the squared error in a bin that is judged.
LEAST_SHARE = 0.01
BINS = 10

# Classes of the expected error, in code values of 8 bit: from 2^-12 to 2^8, the outermost with all beyond.
_PER_OCTAVE, _LOWEST, _HIGHEST = 16, -12, 8
CLASSES = _PER_OCTAVE * (_HIGHEST - _LOWEST)

# Of the sums that are kept: more than anybody reads, less than a double has.
_DIGITS = 7
_NAMES = ("counts", "expected", "true")

# Columns of a table, by quantity: title and format.
_COLUMNS = {
    "expected": ("expected RMSE", ".3g"),
    "true": ("true RMSE", ".3g"),
    "ratio": ("true / expected", ".2f"),
    "share": ("share of squared error", ".1%"),
}


def ours_with_errors(effort: Effort) -> Method:
    """Our methods, as they tell their errors: what is restored, and which entries were known."""
    how: Any = {"quality": effort.quality, "threads": effort.threads, "error": True}

    def run(truth: Bytes, task: str) -> tuple[Restored, Flags]:
        if _is_array(task):
            cfa = Cfa.parse(task)
            return demosaic(cfa.sample(truth), cfa, white=255.0, **how), cfa.masks(truth.shape[:2])
        missing = make_mask(task, (truth.shape[0], truth.shape[1]), 0)
        damaged = np.where(missing[..., None], 0, truth).astype(np.float32)
        return inpaint(damaged, missing, **how), np.broadcast_to(~missing[..., None], truth.shape)

    return Method(OURS, effort.words, "ours", run)


def _is_array(task: str) -> bool:
    """Whether a task is a colour array."""
    try:
        Cfa.parse(task)
    except InputError:
        return False
    return True


def check_task(mask: str) -> str:
    """A mask under which errors can be measured."""
    if mask.startswith("irregular") and ":" in mask:
        raise InputError(f"{mask}: error bars are measured under drawn masks; give such as random:50")
    check_mask(mask)
    return mask


@dataclass(frozen=True)
class ErrorBenchmark(Benchmark):
    """Which tasks, arrays and masks, are done on which pictures."""

    name = "errors"
    keys = ("task", "method", "settings", "crop", "sha256")

    tasks: tuple[str, ...] = ()
    crop: int = 10

    @classmethod
    def of(cls, sets: Sequence[ImageSet] = (), **options: Any) -> Self:
        asked = Options(**options)
        tasks = (Cfa.parse(asked.cfa or "RGGB").name, *map(check_task, split_names(asked.masks)))
        check_crop(sets, asked.crop)
        method = ours_with_errors(Effort(asked.quality, asked.threads))
        return cls(tuple(sets), (method,), tasks, asked.crop)

    @property
    def work(self) -> Sequence[str]:
        return self.tasks

    def measure(self, case: Case, loaded: Bytes) -> Measurement:
        """Restore one picture and count its restored entries by what was expected of them."""
        restored, known = case.method.run(loaded, case.task)
        if restored.error is None:
            raise Unsupported("the method does not know its errors; leave it out")
        counted, truth = ~crop_border(known, self.crop), crop_border(loaded, self.crop).astype(np.float32)
        true = (crop_border(restored.image, self.crop) - truth)[counted].astype(np.float32)
        found = histogram(crop_border(restored.error, self.crop)[counted], true)
        return Measurement(_trim_histogram(found) | {"machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
        told = {f"method {m.name}, {task}": m.settings for m in self.methods for task in self.tasks}
        return {
            "tasks": f"{', '.join(self.tasks)}: 8-bit RGB, gamma-encoded as the files are, no noise, sampled "
            "by a colour array or damaged by a mask (seed 0)",
            "entries": "those restored, of all pictures together; left out are measured and known ones, and "
            f"{self.crop} pixels on each side",
            "bins": f"{BINS} of as many entries each, by expected error (classes of a sixteenth octave)",
            "errors": "root mean squares, in code values of 8 bit; results are compared as they are, not "
            "rounded",
            "expected": "the standard deviation that the method gives for every pixel and channel",
            "versions": versions(),
            **told,
        }

    def calibrate(self, results: Results) -> dict[str, pd.DataFrame]:
        """The bins of each task that has results, over all pictures together."""
        rows = {task: results.frame[results.frame["task"] == task].to_dict("records") for task in self.tasks}
        return {
            task: bins_of(np.sum([sum_entries(row) for row in found], axis=0))
            for task, found in rows.items()
            if found
        }

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """Expected and true error of each task, bin by bin."""
        wanted = sum(len(each.pictures) for each in self.sets)
        columns = ("bin", *(title for title, _ in _COLUMNS.values()))
        for task, bins in self.calibrate(results).items():
            frame = results.frame[results.frame["task"] == task]
            number = f"{len(frame)}" if len(frame) == wanted else f"{len(frame)} of {wanted}"
            where = f"{task}, pictures of {', '.join(dict.fromkeys(frame['set']))}: {number}"
            note = f"{where}; {_judge(bins)}; measured on {list_machines(frame['machine'])}"
            rows = tuple(
                (Cell(str(n)), *(figure(row[name], form) for name, (_, form) in _COLUMNS.items()))
                for n, row in enumerate(bins.to_dict("records"), start=1)
            )
            title, notes = f"Expected and true errors, {task}", (note, *refusal_words(results.refusals))
            yield DataTable(title, columns, rows, notes)

    def drawings(self, results: Results, gallery: Gallery) -> Iterator[Drawing]:
        """True errors against expected ones."""
        if found := self.calibrate(results):
            caption = (
                "true against expected error of ten bins of as many restored entries each; the band is "
                f"±{TOLERANCE:.0%}, hollow points hold less than {LEAST_SHARE:.0%} of the squared error"
            )
            yield Drawing("reliability", "Expected and true errors", caption, reliability(found))


def histogram(expected: NDArray[np.float32], true: NDArray[np.float32]) -> Sums:
    """Entries with these expected errors (from 0 up) and true errors, one axis each, by class."""
    with np.errstate(divide="ignore"):
        place = (np.log2(expected.astype(np.float64)) - _LOWEST) * _PER_OCTAVE
    number = np.clip(place, 0, CLASSES - 1).astype(np.intp)
    weights = (np.ones(expected.shape), *(np.square(each, dtype=np.float64) for each in (expected, true)))
    return np.stack([np.bincount(number, each, minlength=CLASSES) for each in weights])


def _trim_histogram(found: Sums) -> Row:
    """A histogram without the classes that have no entries at either end."""
    filled = np.flatnonzero(found[0])
    first, last = (int(filled[0]), int(filled[-1]) + 1) if filled.size else (0, 0)
    columns = [[float(f"{value:.{_DIGITS}g}") for value in column[first:last]] for column in found]
    return {"first": first} | dict(zip(_NAMES, columns, strict=True))


def sum_entries(row: Row) -> Sums:
    """The entries of a result, all classes of them."""
    after = CLASSES - row["first"] - len(row["counts"])
    return np.pad(np.array([row[name] for name in _NAMES], np.float64), ((0, 0), (row["first"], after)))


def bins_of(sums: Sums, number: int = BINS) -> pd.DataFrame:
    """Entries in bins of one size, from the smallest expected errors to the largest; none without entries.

    Of each its entries, the root mean squares of expected and of true errors, their ratio, the share of all
    squared errors, whether that is enough to be judged, and whether the true error is as expected.
    """
    if not sums[0].any():
        return pd.DataFrame(columns=["entries", "expected", "true", "share", "ratio", "counts", "agrees"])
    whole = np.pad(sums.cumsum(axis=1), ((0, 0), (1, 0)))
    cuts = np.linspace(0, whole[0, -1], number + 1)
    entries, expected, true = np.maximum([np.diff(np.interp(cuts, whole[0], each)) for each in whole], 0)
    share = true / sums[2].sum() if sums[2].any() else 0.0
    found = {"entries": entries, "expected": np.sqrt(expected / entries), "true": np.sqrt(true / entries)}
    return judge_bins(pd.DataFrame(found | {"share": share}))


def judge_bins(bins: pd.DataFrame) -> pd.DataFrame:
    """Bins with the ratio of true to expected errors, NaN where none is expected, and what to think of it."""
    ratio = bins["true"] / bins["expected"].where(bins["expected"] > 0)
    agrees = (ratio - 1).abs() <= TOLERANCE
    return bins.assign(ratio=ratio, counts=bins["share"] >= LEAST_SHARE, agrees=agrees)


def _judge(bins: pd.DataFrame) -> str:
    """How many bins that hold enough of the squared error agree, and the extremes of their ratios."""
    counted = bins[bins["counts"]]
    ratios = counted["ratio"].dropna()
    extremes = f" (ratios {ratios.min():.2f} to {ratios.max():.2f})" if len(ratios) else ""
    return (
        f"the true error is within {TOLERANCE:.0%} of the expected one in {counted['agrees'].sum()} of the "
        f"{len(counted)} bins with at least {LEAST_SHARE:.0%} of the squared error{extremes}"
    )
