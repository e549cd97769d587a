"""Restoration by groups of similar patches: the picture cut into bands, each pass over all of them.

A group is the patches most like a reference patch, as a tensor (channel, patch, pixel): what one patch does
not show, another does. Each pass regresses every channel on the two others (the guide), adds the weighted
mean over the patches of what that leaves, and completes the rest by nonnegative tensor completion.

Memory is bounded by the bands, and the seams are exact: see :mod:`demosaic_ntc.imaging.kernels.steps`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.kernels.matching import Offsets, Planes, match_patches
from demosaic_ntc.imaging.kernels.mosaic_pass import PassSettings, Scene, restore_groups
from demosaic_ntc.imaging.kernels.steps import Sums, write_means
from demosaic_ntc.imaging.parallel import in_order
from demosaic_ntc.ntc.deadline import Deadline

Floats = NDArray[np.float32]
Report = Callable[[int, int], None]
Result = TypeVar("Result")

NEVER = Deadline()
BAND_ROWS = 128  # rows of pixels whose reference patches are worked on together


@dataclass(frozen=True, slots=True)
class Patches:
    """How groups are formed."""

    size: int = 4
    stride: int = 3
    count: int = 8  # patches in a group
    reach: int = 12  # of the search, in each direction
    dense: int = 4  # how far out a search around holes looks at every place


@dataclass(frozen=True, slots=True)
class Band:
    """Reference rows worked on together, the rows they can touch, and where the next band's begin."""

    rows: NDArray[np.int64]
    top: int
    bottom: int
    next_top: int


def reference_positions(length: int, patches: Patches) -> NDArray[np.int64]:
    """Return where reference patches start along one direction; the last one ends at the border."""
    last = length - patches.size
    return np.unique(np.append(np.arange(0, last + 1, patches.stride), last)).astype(np.int64)


def bands_of(height: int, patches: Patches, band_rows: int) -> list[Band]:
    """Cut the reference rows into bands, each taller than what neighbouring bands share."""
    rows = reference_positions(height, patches)
    per_band = max(band_rows, 2 * patches.reach + 2 * patches.size) // patches.stride + 1
    parts = [rows[start : start + per_band] for start in range(0, len(rows), per_band)]
    tops = [max(int(part[0]) - patches.reach, 0) for part in parts] + [height]
    bottoms = [min(int(part[-1]) + patches.reach + patches.size, height) for part in parts]
    return [
        Band(part, top, bottom, below)
        for part, top, bottom, below in zip(parts, tops, bottoms, tops[1:], strict=False)
    ]


class GroupRestoration:
    """The groups of one picture, matched once and restored by any number of passes."""

    def __init__(self, scene: Scene, patches: Patches, threads: int, band_rows: int = BAND_ROWS) -> None:
        self._patches = patches
        self._threads = threads
        self._bands = bands_of(scene.mosaic.shape[0], patches, band_rows)
        self._columns = reference_positions(scene.mosaic.shape[1], patches)
        self._found: dict[int, Offsets] = {}

    def match(self, scene: Scene, report: Report) -> None:
        """Find the patches of every group in the scene's estimate."""
        matches = self._in_order(lambda band: self._match(scene.planes, band), report)
        self._found = dict(zip((int(band.rows[0]) for band in self._bands), matches, strict=True))

    def restored(
        self, scene: Scene, settings: PassSettings, report: Report, deadline: Deadline = NEVER
    ) -> tuple[Planes, Floats]:
        """Run one pass; return the planes of the new estimate and the certified gap of every group.

        Bands begun after the deadline stop at the mean; their gaps are infinite.
        """
        planes = np.empty_like(scene.planes)
        gaps: list[Floats] = []
        carried: tuple[Sums, Sums] | None = None
        hurried = settings._replace(vertices=0)
        done = self._in_order(
            lambda band: self._restore(scene, band, hurried if deadline.passed() else settings), report
        )
        for band, (values, weights, band_gaps) in zip(self._bands, done, strict=True):
            gaps.append(band_gaps)
            if carried:
                shared = carried[1].shape[0]
                values[:, :shared] += carried[0]
                weights[:shared] += carried[1]
            finished = band.next_top - band.top
            write_means(values[:, :finished], weights[:finished], planes[:, band.top : band.next_top])
            carried = values[:, finished:].copy(), weights[finished:].copy()
        return planes, np.concatenate(gaps)

    def _match(self, planes: Planes, band: Band) -> Offsets:
        patches = self._patches
        found = np.zeros((len(band.rows), len(self._columns), patches.count, 2), np.int8)
        match_patches(planes, band.rows, self._columns, patches.size, patches.reach, found)
        return found

    def _restore(self, scene: Scene, band: Band, settings: PassSettings) -> tuple[Sums, Sums, Floats]:
        height, width = band.bottom - band.top, scene.mosaic.shape[1]
        values, weights = np.zeros((3, height, width), np.int64), np.zeros((height, width), np.int64)
        found = self._found[int(band.rows[0])]
        gaps = np.full(found.shape[:2], np.inf, np.float32)
        restore_groups(
            scene,
            band.rows,
            self._columns,
            found,
            self._patches.size,
            settings,
            band.top,
            values,
            weights,
            gaps,
        )
        return values, weights, gaps

    def _in_order(self, work: Callable[[Band], Result], report: Report) -> Iterator[Result]:
        """Work on the bands, from top to bottom."""
        for done, result in enumerate(in_order(work, self._bands, self._threads), 1):
            report(done, len(self._bands))
            yield result
