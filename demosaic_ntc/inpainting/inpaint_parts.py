"""Parts of a damaged picture restored by themselves, to the bit as with the whole of it.

A region sees its margin and nothing else, so the others need not be computed. What a region takes from the
whole picture is the scale of its values and where regions begin: both are found from all of it here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.engine.checks import result_type
from demosaic_ntc.engine.pass_tables import PLANS
from demosaic_ntc.engine.tiles import Tile
from demosaic_ntc.inpainting.classification import depths
from demosaic_ntc.inpainting.inpaint import TOO_DEEP
from demosaic_ntc.inpainting.region_inpainting import repair
from demosaic_ntc.inpainting.regions import find_damaged_regions
from demosaic_ntc.inpainting.scaling import LEAST_CONTRAST, Scale, extremes_of, planes_of
from demosaic_ntc.run import Progress, ReportProgress, Run

_GLANCE = 8  # every n-th row and column


@dataclass(frozen=True, slots=True)
class RestoredBox:
    """A restored box of a picture."""

    rows: slice
    columns: slice
    image: NDArray[Any]  # (height, width) or (height, width, channels) of the box, in the picture's type
    error: Float32  # of the same shape: the standard deviation expected of each entry, in the same scale
    gaps: Float32  # of its groups, proven; infinite where nothing is
    too_deep: int  # pixels farther inside holes than anything can be told from around them


def inpaint_parts(
    image: NDArray[Any],
    missing: Flags,
    wanted: Flags,
    *,
    quality: str = "normal",
    threads: int = 1,
    progress: ReportProgress | None = None,
) -> Iterator[RestoredBox]:
    """Yield the regions of a picture that hold wanted pixels, restored as `inpaint` restores them.

    ``image`` is (height, width) or (height, width, channels), with finite known entries from zero up;
    ``missing`` and ``wanted`` are (height, width). What is wanted is missing, too. Where a region sees
    nothing that is known, which takes holes of a thousand pixels, all of the picture is its margin.
    """
    run = Run.start(threads, progress, want_error=True)
    channels = planes_of(image)
    holes = np.broadcast_to(missing, channels.shape)
    scale = _scale(channels, holes, run)
    regions = [region for region in find_damaged_regions(missing) if wanted[region.core].any()]
    count = _Count([int(np.count_nonzero(missing[region.core])) for region in regions], run.progress)
    # Steps between kernels keep one thread busy: several regions at a time fill the others.
    at_once = max(min(run.threads, len(regions)), 1)

    def restore(number: int) -> RestoredBox:
        own = replace(run, threads=run.threads // at_once, progress=count.of(number))
        return _part(image, holes, scale, _widen_view(regions[number], missing), quality, own)

    yield from replace(run, threads=at_once).map(restore, range(len(regions)))


def _scale(channels: NDArray[Any], holes: Flags, run: Run) -> Scale:
    """The scale of all known values, by a glance where more of them could not change it.

    Further values only widen the range. So full scale is that of the type as soon as one of them needs all of
    its bits, and nothing is stretched as soon as they differ enough.
    """
    shown = channels[:, ::_GLANCE, ::_GLANCE][~holes[:, ::_GLANCE, ::_GLANCE]]
    if channels.dtype.kind == "u" and channels.itemsize <= 2 and shown.size:
        white, low, high = float(np.iinfo(channels.dtype).max), float(shown.min()), float(shown.max())
        needs_all = channels.itemsize == 1 or high > white / 2
        if needs_all and high - low >= white * LEAST_CONTRAST:
            return Scale(0.0, white, white)
    return Scale.of(extremes_of(channels, holes, run))


def _widen_view(region: Tile, missing: Flags) -> Tile:
    """The region, seeing all of the picture if it sees nothing known otherwise."""
    if not missing[region.seen].all():
        return region
    height, width = missing.shape
    return Tile(region.core, (slice(0, height), slice(0, width)), region.core)


def _part(
    image: NDArray[Any], holes: Flags, scale: Scale, region: Tile, quality: str, run: Run
) -> RestoredBox:
    """Restore one region."""
    seen = (slice(None), *region.seen)
    known = np.logical_not(holes[seen], order="C")
    planes = scale.planes(planes_of(image)[seen], holes[seen], run)
    inner = Tile(region.inner, (slice(0, known.shape[1]), slice(0, known.shape[2])), region.inner)
    made, gaps = repair(planes, known, PLANS[quality], run, None, [inner])
    box = image[region.core].copy()
    hole, here = holes[0][region.core], (slice(None), *region.inner)
    for channel, plane in zip(planes_of(box), made.planes[here], strict=True):
        channel[hole] = scale.values(plane[hole], image.dtype)
    kind = result_type(scale.width)
    error = np.moveaxis(np.sqrt(made.variance[here]).astype(kind) * kind(scale.width), 0, 2)
    deep = depths(holes[0][region.seen])[region.inner] > TOO_DEEP
    return RestoredBox(*region.core, box, error.reshape(box.shape), gaps, int(np.count_nonzero(deep)))


class _Count:
    """How many pixels of all regions are done, told as one, whichever thread has done them."""

    def __init__(self, sizes: list[int], progress: ReportProgress) -> None:
        self._total, self._progress = sum(sizes), progress
        self._done = [0] * len(sizes)
        self._lock = Lock()

    def of(self, number: int) -> ReportProgress:
        """How a region reports its own pixels."""

        def report(step: Progress) -> None:
            with self._lock:
                self._done[number] = step.done
                self._progress(Progress(step.stage, sum(self._done), self._total))

        return report
