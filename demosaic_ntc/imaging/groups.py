"""Groups of similar patches over a picture: references where work is wanted, cut into bands, added up.

Memory is bounded by the bands, and the seams are exact: see :mod:`demosaic_ntc.imaging.kernels.steps`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Offsets, Places, Planes, Sums
from demosaic_ntc.imaging.kernels.adding import write_errors, write_means
from demosaic_ntc.imaging.kernels.completing import complete_groups
from demosaic_ntc.imaging.kernels.matching import match_patches
from demosaic_ntc.imaging.kernels.passes import (
    GAUSSIAN,
    SHAPE_UNIT,
    Picture,
    add_shapes,
    restore_groups,
)
from demosaic_ntc.imaging.parallel import in_order
from demosaic_ntc.imaging.plan import Patches, Step
from demosaic_ntc.ntc.deadline import Deadline

Report = Callable[[float], None]

BAND_ROWS = 128  # rows of pixels whose reference patches are worked on together
_TILE = (32, 256)  # rows and columns of reference patches whose differences are computed together
_GAP = 16  # columns without references at which a tile is cut
_SAMPLES, _LEAST_SAMPLES = 1024, 64  # groups of a picture that tell the shape of its covariances
_RUN = 16  # of them that lie side by side, as these are quicker to match


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """References worked on together, the rows they can touch, and where the next band's begin."""

    references: Places
    top: int
    bottom: int
    next_top: int


def reference_positions(length: int, patches: Patches) -> Places:
    """Return where reference patches start along one direction; the last one ends at the border."""
    last = length - patches.size
    return np.unique(np.append(np.arange(0, last + 1, patches.stride), last)).astype(np.int64)


def references_in(wanted: Flags, patches: Patches) -> Places:
    """Return (row, column) of the reference patches that hold a wanted pixel, sorted by rows."""
    rows = reference_positions(wanted.shape[0], patches)
    columns = reference_positions(wanted.shape[1], patches)
    total = np.pad(wanted.cumsum(axis=0, dtype=np.int32).cumsum(axis=1), ((1, 0), (1, 0)))
    below, right = rows[:, None] + patches.size, columns + patches.size
    top, left = rows[:, None], columns
    count = total[below, right] - total[top, right] - total[below, left] + total[top, left]
    down, across = np.nonzero(count)
    return np.stack([rows[down], columns[across]], axis=1)


def bands_of(references: Places, height: int, patches: Patches, band_rows: int = BAND_ROWS) -> list[Band]:
    """Cut references, sorted by rows, into bands, each taller than what neighbouring bands share."""
    tall = max(band_rows, 2 * patches.reach + 2 * patches.size)
    starts = np.flatnonzero(np.diff(references[:, 0] // tall, prepend=-1))
    parts = np.split(references, starts[1:])
    tops = [max(int(part[0, 0]) - patches.reach, 0) for part in parts] + [height]
    bottoms = [min(int(part[-1, 0]) + patches.reach + patches.size, height) for part in parts]
    return [
        Band(part, top, max(bottom, below), below) if below < height else Band(part, top, bottom, bottom)
        for part, top, bottom, below in zip(parts, tops, bottoms, tops[1:], strict=False)
    ]


def tiles_of_references(references: Places) -> Iterator[Places]:
    """Cut references into tiles that leave wide gaps out, each sorted by rows."""
    order = np.lexsort((references[:, 1], references[:, 0] // _TILE[0]))
    rows, columns = references[order].T
    steps = np.diff(rows // _TILE[0]), np.diff(columns // _TILE[1])
    apart = (steps[0] != 0) | (steps[1] != 0) | (np.diff(columns) > _GAP)
    for part in np.split(order, np.flatnonzero(apart) + 1):
        yield references[np.sort(part)]


def _runs(references: Places, wanted: int) -> list[Places]:
    """Return about so many of the references, or all, in runs that are spread evenly."""
    if wanted >= len(references):
        return [references]
    starts = np.linspace(0, len(references) - _RUN, -(-wanted // _RUN)).astype(np.int64)
    return [references[start : start + _RUN] for start in starts]


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """What the groups of a picture say about it; (channels, height, width), the squares of full scale 1."""

    planes: Planes  # the weighted means of what was said, the estimate where nothing was
    expected: Planes  # the mean of the expected squared errors; empty where errors are not wanted
    spread: Planes  # the variance of what was said; empty where errors are not wanted
    gaps: Float32  # (groups): certified, infinite where nothing is proven

    @classmethod
    def nothing(cls, estimate: Planes, errors: bool) -> "Said":
        """Return room for what will be said, given the estimate."""
        shape = estimate.shape if errors else (0, 0, 0)
        nothing = np.zeros(0, np.float32)
        return cls(estimate.copy(), np.zeros(shape, np.float32), np.zeros(shape, np.float32), nothing)

    def write(self, estimate: Planes, sums: Sums, rows: slice) -> None:
        """Write what the sums of some rows amount to."""
        write_means(sums, self.planes[:, rows])
        if self.spread.size:
            write_errors(
                sums, estimate[:, rows], self.planes[:, rows], self.expected[:, rows], self.spread[:, rows]
            )


class GroupPass:
    """One step over the groups of a picture."""

    def __init__(
        self, picture: Picture, confidence: Float32, step: Step, threads: int, errors: bool = False
    ) -> None:
        self._picture, self._confidence, self._step, self._threads = picture, confidence, step, threads
        self._errors = errors
        self._patches = step.patches.fitting(picture.planes.shape[1:])
        self._offsets = self._patches.offsets
        self._fading = step.fading(1)

    def restored(self, wanted: Flags, report: Report, deadline: Deadline, band_rows: int = BAND_ROWS) -> Said:
        """Restore all groups whose reference patch holds a wanted pixel, and return what they say.

        Bands that would begin after the deadline say nothing; their gaps are infinite.
        """
        references = references_in(wanted, self._patches)
        said = Said.nothing(self._picture.planes, self._errors)
        if not len(references):
            return said
        prior = self.prior(wanted, len(references))
        bands = bands_of(references, wanted.shape[0], self._patches, band_rows)
        carried, gaps = np.zeros((0, 0, 0, 0), np.int64), [np.zeros(0, np.float32)]
        done = in_order(lambda band: self._restore(band, prior, deadline), bands, self._threads)
        for number, (band, (sums, proven)) in enumerate(zip(bands, done, strict=True), 1):
            gaps.append(proven)
            shared = min(carried.shape[2], sums.shape[2])
            if shared:
                sums[:, :, :shared] += carried[:, :, :shared]
            finished = band.next_top - band.top
            said.write(self._picture.planes, sums[:, :, :finished], slice(band.top, band.next_top))
            carried = sums[:, :, finished:].copy()
            report(number / len(bands))
        return replace(said, gaps=np.concatenate(gaps))

    def prior(self, wanted: Flags, groups: int) -> Float32:
        """Return Q, (entry, entry): the mean shape of the covariances of groups all over the picture.

        Their sum is one of whole numbers, which no order of its terms can change.
        """
        entries = self._picture.planes.shape[0] * self._patches.size**2
        if self._step.does.predictor != GAUSSIAN:
            return np.zeros((0, 0), np.float32)
        everywhere = references_in(np.ones_like(wanted), self._patches)
        runs = _runs(everywhere, max(_LEAST_SAMPLES, min(groups, _SAMPLES)))
        total = sum(in_order(self._shapes, runs, self._threads), np.zeros((entries, entries), np.int64))
        lower = total * (SHAPE_UNIT / sum(map(len, runs)))
        return (lower + np.tril(lower, -1).T).astype(np.float32)

    def _shapes(self, references: Places) -> Sums:
        """Return the sum of the shapes of the covariances of some groups."""
        entries = self._picture.planes.shape[0] * self._patches.size**2
        total = np.zeros((entries, entries), np.int64)
        add_shapes(self._picture, references, self._match(references), self._patches.size, total)
        return total

    def _restore(self, band: Band, prior: Float32, deadline: Deadline) -> tuple[Sums, Float32]:
        """Match and restore the groups of a band; return their sums and their gaps."""
        channels, _, width = self._picture.planes.shape
        sums = np.zeros((4 if self._errors else 2, channels, band.bottom - band.top, width), np.int64)
        gaps = np.full(len(band.references), np.inf, np.float32)
        if deadline.passed():
            return sums, gaps
        done = 0
        for tile in tiles_of_references(band.references):
            self._restore_tile(tile, prior, band.top, sums, gaps[done : done + len(tile)])
            done += len(tile)
        return sums, gaps

    def _restore_tile(self, references: Places, prior: Float32, top: int, sums: Sums, gaps: Float32) -> None:
        """Match, predict and add up the groups of a tile; complete those whose prediction leaves too much."""
        size, does, found = self._patches.size, self._step.does, self._match(references)
        restore_groups(self._picture, references, found, size, does, self._fading, prior, top, sums, gaps)
        left = np.flatnonzero(np.isinf(gaps)) if does.vertices else np.zeros(0, np.int64)
        if left.size:
            rest, those, proven = references[left], found[left], gaps[left]
            complete_groups(self._picture, rest, those, size, does, self._fading, prior, top, sums, proven)
            gaps[left] = proven

    def _match(self, references: Places) -> Offsets:
        """Return the offsets of the patches of every reference's group."""
        found = np.empty((len(references), self._patches.count, 2), np.int8)
        match_patches(
            self._picture.planes, self._confidence, references, self._patches.size, self._offsets, found
        )
        return found
