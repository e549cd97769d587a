"""Parts of a damaged picture restored by themselves, to the bit as with the whole of it.

A region sees its margin and nothing else, so the others need not be computed. What a region takes from the
whole picture is the scale of its values and where regions begin: both are found from all of it here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import compress
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.engine.checks import result_type
from demosaic_ntc.engine.pass_tables import PLANS
from demosaic_ntc.engine.restore import Estimate
from demosaic_ntc.engine.tiles import Tile, overlap, within
from demosaic_ntc.inpainting.classification import depths
from demosaic_ntc.inpainting.grain_fill import Grain, find_grain
from demosaic_ntc.inpainting.inpaint import TOO_DEEP
from demosaic_ntc.inpainting.region_inpainting import repair
from demosaic_ntc.inpainting.regions import find_damaged_regions
from demosaic_ntc.inpainting.scaling import LEAST_CONTRAST, Scale, extremes_of, planes_of
from demosaic_ntc.inpainting.texture.parts import WidePart, region_of
from demosaic_ntc.inpainting.wide_holes import WideFill, fill_wide
from demosaic_ntc.run import Progress, ReportProgress, Run

_GLANCE = 8  # every n-th row and column


@dataclass(frozen=True, slots=True)
class RestoredBox:
    """A restored box of a picture."""

    rows: slice
    columns: slice
    image: NDArray[Any]  # (height, width) or (height, width, channels) of the box, in the picture's type
    error: Float32  # of the same shape: the standard deviation expected of each entry, in the same scale
    too_deep: int  # pixels farther inside holes than anything can be told from around them, and not copied
    copied: int = 0  # pixels that were copied from elsewhere in the picture


def inpaint_parts(
    image: NDArray[Any],
    missing: Flags,
    wanted: Flags,
    *,
    quality: str = "normal",
    grain: str = "off",
    threads: int = 1,
    progress: ReportProgress | None = None,
    fill: str = "smooth",
    source: Flags | None = None,
) -> Iterator[RestoredBox]:
    """Yield the regions of a picture that hold wanted pixels, restored as `inpaint` restores them.

    ``image`` is (height, width) or (height, width, channels), with finite known entries from zero up;
    ``missing``, ``wanted`` and ``source`` are (height, width). What is wanted is missing, too. Where a region
    sees nothing that is known, which takes holes of a thousand pixels, all of the picture is its margin.
    """
    run = Run.start(threads, progress, want_error=True)
    holes = np.broadcast_to(missing, planes_of(image).shape)
    scale = _scale(planes_of(image), holes, run)
    noisy = find_grain(planes_of(image), holes, scale) if grain == "auto" else None
    whole = _Whole(image, holes, scale, quality, noisy)
    regions = list(find_damaged_regions(missing))
    asked = [wanted[region.core].any() for region in regions]
    wide = WideFill(fill, source)
    parts = [part for part in wide.find_parts(missing) if _is_met(part, list(compress(regions, asked)))]
    late = [any(_is_met(part, [region]) for part in parts) for region in regions]
    first = [
        region for region, is_asked, waits in zip(regions, asked, late, strict=True) if is_asked and not waits
    ]
    last = list(compress(regions, late))
    estimates = _restore(whole, first + last, run)
    for region in first:
        yield whole.finish(region, next(estimates))
    made, copied = list(estimates), np.zeros(missing.shape if parts else (0, 0), np.bool_)
    for part in parts:
        _copy_texture(whole, wide, part, last, made, copied, run)
    for region, estimate, is_asked in zip(last, made, compress(asked, late), strict=True):
        if is_asked:
            yield whole.finish(region, estimate, copied)


def _restore(whole: "_Whole", regions: list[Tile], run: Run) -> Iterator[Estimate[Planes]]:
    """Yield what the engine makes of regions."""
    missing = whole.holes[0]
    count = _Count([int(np.count_nonzero(missing[region.core])) for region in regions], run.progress)
    # Steps between kernels keep one thread busy: several regions at a time fill the others.
    at_once = max(min(run.threads, len(regions)), 1)

    def restore(number: int) -> Estimate[Planes]:
        own = replace(run, threads=run.threads // at_once, progress=count.of(number))
        return whole.restore(_widen_view(regions[number], missing), own)

    return replace(run, threads=at_once).map(restore, range(len(regions)))


def _copy_texture(
    whole: "_Whole",
    wide: WideFill,
    part: WidePart,
    regions: list[Tile],
    made: list[Estimate[Planes]],
    copied: Flags,
    run: Run,
) -> None:
    """Copy texture into a wide part of regions that the engine has restored; flag what was copied."""
    missing = whole.holes[0]
    view = region_of(part, missing.shape, wide.source)
    planes = whole.read(view, run)
    variance = np.zeros_like(planes)
    shared = [
        (overlap(region.core, view), region, estimate) for region, estimate in zip(regions, made, strict=True)
    ]
    here = [
        (box, within(box, view), within(box, region.core), estimate)
        for box, region, estimate in shared
        if box
    ]
    for _, there, inner, estimate in here:
        planes[:, *there], variance[:, *there] = estimate.planes[:, *inner], estimate.variance[:, *inner]
    own = WidePart(within(part.box, view), part.flags)
    source = None if wide.source is None else wide.source[view]
    found = fill_wide([own], planes, variance, missing[view], source, run)
    if found is not None:
        copied[view][tuple(found.targets.T)] = True
    for _, there, inner, estimate in here:
        estimate.planes[:, *inner], estimate.variance[:, *inner] = planes[:, *there], variance[:, *there]


def _is_met(part: WidePart, regions: list[Tile]) -> bool:
    """Tell whether the box of a wide part, or what is looked at beside it, meets any region."""
    return any(overlap(part.box, region.core) is not None for region in regions)


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


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """The picture, and how its parts are restored."""

    image: NDArray[Any]
    holes: Flags  # (channels, height, width), the same for all channels
    scale: Scale
    quality: str
    grain: Grain | None

    def read(self, box: tuple[slice, slice], run: Run) -> Planes:
        """Return the engine's values of a box, zero where they are missing."""
        place = (slice(None), *box)
        return self.scale.planes(planes_of(self.image)[place], self.holes[place], run)

    def restore(self, region: Tile, run: Run) -> Estimate[Planes]:
        """Restore one region."""
        known = np.logical_not(self.holes[:, *region.seen], order="C")
        inner = Tile(region.inner, (slice(0, known.shape[1]), slice(0, known.shape[2])), region.inner)
        planes, grain = self.read(region.seen, run), self.grain and self.grain.at(*region.seen)
        made, _ = repair(planes, known, PLANS[self.quality], run, None, [inner], grain)
        return Estimate(*(planes[:, *region.inner].copy() for planes in (made.planes, made.variance)))

    def finish(self, region: Tile, made: Estimate[Planes], copied: Flags | None = None) -> RestoredBox:
        """Return a restored region in the picture's type."""
        box, scale, hole = self.image[region.core].copy(), self.scale, self.holes[0][region.core]
        for channel, plane in zip(planes_of(box), made.planes, strict=True):
            channel[hole] = scale.values(plane[hole], box.dtype)
        kind = result_type(scale.width)
        error = np.moveaxis(np.sqrt(made.variance).astype(kind) * kind(scale.width), 0, 2)
        deep = depths(self.holes[0][region.seen])[region.inner] > TOO_DEEP
        by_texture = np.zeros_like(hole) if copied is None else copied[region.core]
        counts = (int(np.count_nonzero(flags)) for flags in (deep & ~by_texture, by_texture))
        return RestoredBox(*region.core, box, error.reshape(box.shape), *counts)


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
