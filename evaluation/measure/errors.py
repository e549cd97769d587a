"""Expected errors measured against true ones on pictures whose truth is known.

Of each picture some entries are kept, those of a colour array or those that a mask leaves; the others are
restored and compared with the truth as they are, not rounded: that is what the error bars are about.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc import Restored, demosaic, inpaint
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.imaging.cfa import Cfa

from ..data.masks import check_mask, make_mask
from ..methods.method import OURS, Effort, Method
from .bins import BINS, Histogram
from .case import Case, Measured, Row
from .likeness import Bytes
from .part import Part
from .protocol import machine, versions

Flags = NDArray[np.bool_]

# Of the sums that are kept: more than anybody reads, less than a double has.
_DIGITS = 7


def ours_with_errors(effort: Effort) -> Method:
    """Our methods, as they tell their errors: of the samples of an array, or of what a mask leaves."""

    def run(truth: Bytes, task: str) -> tuple[Restored, Flags]:
        work = _demosaiced if _is_array(task) else _inpainted
        return work(truth, task, effort)

    return Method(OURS, effort.words, "ours", run)


def _demosaiced(truth: Bytes, task: str, effort: Effort) -> tuple[Restored, Flags]:
    """What is restored of a mosaic, and what was known: height × width × 3."""
    cfa = Cfa.parse(task)
    mosaic = cfa.sample(truth)
    how = {"quality": effort.quality, "threads": effort.threads}
    return demosaic(mosaic, cfa, white=255.0, error=True, **how), cfa.masks(mosaic.shape)  # type: ignore[arg-type]


def _inpainted(truth: Bytes, task: str, effort: Effort) -> tuple[Restored, Flags]:
    """What is restored under a mask, and what was known: height × width × 3."""
    missing = make_mask(task, (truth.shape[0], truth.shape[1]), 0)
    damaged = np.where(missing[..., None], 0, truth).astype(np.float32)
    restored = inpaint(damaged, missing, quality=effort.quality, threads=effort.threads, error=True)
    return restored, np.broadcast_to(~missing[..., None], truth.shape)


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
class ErrorPart(Part):
    """Which tasks, arrays and masks, are done on which pictures."""

    name = "errors"
    keys = ("task", "method", "settings", "crop", "sha256")

    tasks: tuple[str, ...] = ()
    crop: int = 10

    @property
    def work(self) -> Sequence[str]:
        """The tasks."""
        return self.tasks

    def depends(self, method: Method, task: str) -> Row:
        """The task and the crop."""
        return {"task": task, "crop": self.crop}

    def measure(self, case: Case, loaded: Bytes) -> Measured:
        """Restore one picture and count its restored entries by what was expected of them."""
        restored, known = case.method.run(loaded, case.task)
        if restored.error is None:
            raise Unsupported("the method does not know its errors; leave it out")
        border = slice(self.crop, -self.crop or None)
        counted = ~known[border, border]
        expected = restored.error[border, border][counted]
        true = (restored.image[border, border] - loaded[border, border].astype(np.float32))[counted]
        return Measured(_kept(Histogram.of(expected, true.astype(np.float32))) | {"machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
        """How the figures are made."""
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


def _kept(found: Histogram) -> Row:
    """A histogram without the classes that have no entries at either end."""
    filled = np.flatnonzero(found.counts)
    first, last = (int(filled[0]), int(filled[-1]) + 1) if filled.size else (0, 0)
    columns = [[float(f"{value:.{_DIGITS}g}") for value in column[first:last]] for column in found.columns]
    return {"first": first} | dict(zip(("counts", "expected", "true"), columns, strict=True))


def histogram(row: Row) -> Histogram:
    """The entries of a result, all classes of them."""
    whole = Histogram.total([])
    for column, name in zip(whole.columns, ("counts", "expected", "true"), strict=True):
        column[row["first"] : row["first"] + len(row[name])] = row[name]
    return whole
