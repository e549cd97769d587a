"""Groups of similar patches over a picture: references where work is wanted, cut into bands, added up.

Memory is bounded by the bands, and the seams are exact: see :mod:`demosaic_ntc.engine.kernels.aggregation`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Offsets, Places, Planes, Sums
from demosaic_ntc.engine.kernels.aggregation import write_errors, write_means
from demosaic_ntc.engine.kernels.completion import complete_groups
from demosaic_ntc.engine.kernels.group_pass import (
    GAUSSIAN,
    SHAPE_UNIT,
    KernelImage,
    add_shapes,
    restore_groups,
)
from demosaic_ntc.engine.kernels.left_out import CHANNELS, add_left_out
from demosaic_ntc.engine.kernels.matching import match_patches
from demosaic_ntc.engine.passes import ObservedPixels, PatchGrid, Step
from demosaic_ntc.engine.tiles import Windowed
from demosaic_ntc.run import Run

Shares = Callable[[Places], Float32]  # of the correction of means, for groups around places, (count, 2)

# Of a band, whose reference patches are worked on together: rows at most, and about how many pixels. Wide
# pictures have bands of fewer rows, for several wait in memory; none is lower than what bands share.
BAND_ROWS, _BAND_PIXELS = 64, 3 << 17
_TILE = (32, 256)  # rows and columns of reference patches whose differences are computed together
_GAP = 64  # columns without references at which a tile is cut: single ones take longer by themselves
_SAMPLES, _LEAST_SAMPLES = 1024, 64  # groups of a picture that tell the shape of its covariances
_CHECKED = 37  # one group in so many tells how well samples are predicted; a prime, in step with no stride
_RUN = 16  # of them that lie side by side, as these are quicker to match


def reference_positions(length: int, patches: PatchGrid) -> Places:
    """Return where reference patches start along one direction; the last one ends at the border."""
    last = length - patches.size
    return np.unique(np.append(np.arange(0, last + 1, patches.stride), last)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """The reference patches that hold a wanted pixel, as flags of all there are, which take few bytes."""

    rows: Places  # where they start
    columns: Places
    held: Flags  # (rows, columns)

    @classmethod
    def of(cls, wanted: Flags, patches: PatchGrid) -> "References":
        """Return those of a picture, given its wanted pixels."""
        rows, columns = (reference_positions(length, patches) for length in wanted.shape)
        tall = _any_within(wanted, rows, patches.size)
        held = _any_within(np.ascontiguousarray(tall.T), columns, patches.size)
        return cls(rows, columns, np.ascontiguousarray(held.T))

    @property
    def places(self) -> Places:
        """(row, column) of each, sorted by rows."""
        down, across = np.nonzero(self.held)
        return np.stack([self.rows[down], self.columns[across]], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """References worked on together, the rows they can touch, and where the next band's begin."""

    references: References
    count: int  # of them
    top: int
    bottom: int
    next_top: int


def count_references(wanted: Flags, patches: PatchGrid) -> int:
    """Return how many reference patches hold a wanted pixel."""
    return int(np.count_nonzero(References.of(wanted, patches).held))


def _any_within(flags: Flags, starts: Places, length: int) -> Flags:
    """Return whether any is set in each of some stretches of rows, (stretches, columns)."""
    found = flags[starts]
    for further in range(1, length):
        found |= flags[starts + further]
    return found


def bands_of(
    references: References, height: int, patches: PatchGrid, band_rows: int = BAND_ROWS
) -> list[Band]:
    """Cut references into bands, each taller than what neighbouring bands share."""
    tall, counts = max(band_rows, 2 * patches.reach + 2 * patches.size), references.held.sum(axis=1)
    held = np.flatnonzero(counts)
    rows = np.split(held, np.flatnonzero(np.diff(references.rows[held] // tall)) + 1)
    first, last = (references.rows[[part[end] for part in rows]] for end in (0, -1))
    tops = [*np.maximum(first - patches.reach, 0).tolist(), height]
    bottoms = np.minimum(last + patches.reach + patches.size, height).tolist()
    bands = []
    for part, top, bottom, below in zip(rows, tops, bottoms, tops[1:], strict=False):
        some = slice(part[0], part[-1] + 1)
        own = References(references.rows[some], references.columns, references.held[some])
        ends = (max(bottom, below), below) if below < height else (bottom, bottom)
        bands.append(Band(own, int(counts[some].sum()), top, *ends))
    return bands


def tiles_of_references(references: Places) -> Iterator[Places]:
    """Cut references into tiles that leave wide gaps out, each sorted by rows."""
    order = np.lexsort((references[:, 1], references[:, 0] // _TILE[0]))
    rows, columns = references[order].T
    steps = np.diff(rows // _TILE[0]), np.diff(columns // _TILE[1])
    apart = (steps[0] != 0) | (steps[1] != 0) | (np.diff(columns) > _GAP)
    for part in np.split(order, np.flatnonzero(apart) + 1):
        yield references[np.sort(part)]


def _runs(shape: tuple[int, ...], patches: PatchGrid, wanted: int) -> list[Places]:
    """Return about so many of the references of a height and a width, or all, in runs spread evenly."""
    rows, columns = (reference_positions(length, patches) for length in shape)
    total, run = (
        rows.size * columns.size,
        _RUN if wanted < rows.size * columns.size else rows.size * columns.size,
    )
    starts = np.linspace(0, total - run, -(-min(wanted, total) // run)).astype(np.int64)
    places = (np.arange(start, start + run) for start in starts)
    return [
        np.stack([rows[place // columns.size], columns[place % columns.size]], axis=1) for place in places
    ]


@dataclass(frozen=True, slots=True, eq=False)
class GroupInput:
    """A picture as far as it is known, wherever it is stored: what groups are formed of."""

    planes: Windowed  # the estimate, with what is known in its place
    known: ObservedPixels
    confidence: Float32  # (height, width): the trust in pixels when patches are compared; empty where alike

    def view(self, rows: slice, columns: slice) -> "GroupView":
        """Return a part of the picture as kernels want it."""
        part, known = np.ascontiguousarray, self.known
        picture = KernelImage(
            part(self.planes[:, rows, columns]),
            part(known.entries[rows, columns]),
            part(known.depth[rows, columns]),
            part(known.measured[:, rows, columns]),
            known.noise,
        )
        return GroupView(picture, part(self.confidence[rows, columns]), np.array([rows.start, columns.start]))


@dataclass(frozen=True, slots=True, eq=False)
class GroupView:
    """What groups see of a picture: a part of it, from a corner on."""

    picture: KernelImage
    confidence: Float32
    corner: Places  # (2)


@dataclass(frozen=True, slots=True, eq=False)
class GroupAggregate:
    """What groups say about some rows of a picture; (channels, rows, width), the squares of full scale 1."""

    rows: slice
    before: Planes  # the estimate
    planes: Planes  # the weighted means of what was said, the estimate where nothing was
    expected: Planes  # the mean of the expected squared errors; empty where errors are not wanted
    spread: Planes  # the variance of what was said; empty where errors are not wanted
    anything: Flags  # (rows, width): whether a patch said anything about a pixel, in all its channels
    measured: Planes = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))
    """What is measured there, as groups have read it; empty where they have not."""

    @classmethod
    def from_sums(cls, rows: slice, before: Planes, measured: Planes, sums: Sums) -> "GroupAggregate":
        """Return what sums amount to: one of them, or three where errors are wanted."""
        errors = np.zeros((2, *before.shape) if len(sums) > 1 else (2, 0, 0, 0), np.float32)
        means = cls(rows, before, before.copy(), errors[0], errors[1], sums[0, 0] != 0, measured)
        write_means(sums, means.planes)
        if means.spread.size:
            write_errors(sums, before, means.planes, means.expected, means.spread)
        return means


def whole_shares(places: Places) -> Float32:
    """Return the whole correction for all groups."""
    return np.ones(len(places), np.float32)


def unproven(groups: int) -> Float32:
    """Return what is proven of groups that were not completed, (groups, 3): that a norm is not negative.

    The columns are the lower and the upper bound of the least norm, and the number of vertices.
    """
    return np.tile(np.array([0.0, np.inf, 0.0], np.float32), (groups, 1))


class GroupPass:
    """One step over the groups of a picture."""

    def __init__(
        self, scene: GroupInput, step: Step, run: Run, shares: Shares = whole_shares, checked: bool = False
    ) -> None:
        self._scene, self._step, self._run, self._shares = scene, step, run, shares
        self._is_checked = checked
        self._patches = step.patches.fit_to(scene.planes.shape[1:])
        self._offsets = self._patches.offsets
        self._fading = step.compute_trust(1)
        self.left_out: list[Sums] = []  # see `add_left_out`, of some of the groups if these are checked
        self.bounds: list[Float32] = []  # (groups, 3) of the groups that were completed: see `unproven`

    def restore(self, wanted: Flags, band_rows: int = BAND_ROWS) -> Iterator[GroupAggregate]:
        """Restore all groups whose reference patch holds a wanted pixel; yield what they say, from the top.

        Rows that were yielded are not looked at again: they may be overwritten. Bands that would begin after
        the deadline say nothing: nothing is proven of them, and nothing is yielded below the first of them.
        """
        references, (height, width) = References.of(wanted, self._patches), wanted.shape
        count = int(np.count_nonzero(references.held))
        if not count:
            return
        prior = self.prior(count)
        bands = bands_of(references, height, self._patches, min(band_rows, _BAND_PIXELS // width))
        carried = np.zeros((0, 0, 0, 0), np.int64)
        done = self._run.map(lambda band: self._restore(band, prior), bands)
        for number, (band, (picture, sums, proven, spoke)) in enumerate(zip(bands, done, strict=True), 1):
            self.bounds.append(proven)
            shared = min(carried.shape[2], sums.shape[2])
            if shared:
                sums[:, :, :shared] += carried[:, :, :shared]
            finished = band.next_top - band.top
            rows, part = slice(band.top, band.next_top), np.ascontiguousarray
            before, measured = (part(own[:, :finished]) for own in (picture.planes, picture.measured))
            yield GroupAggregate.from_sums(rows, before, measured, part(sums[:, :, :finished]))
            carried = sums[:, :, finished:].copy()
            self._run.report(number / len(bands))
            if not spoke:
                if self._step.norm:
                    self.bounds += [unproven(rest.count) for rest in bands[number:]]
                return

    def prior(self, groups: int) -> Float32:
        """Return Q, (entry, entry): the mean shape of the covariances of groups all over the picture.

        Their sum is one of whole numbers, which no order of its terms can change.
        """
        entries = self._scene.planes.shape[0] * self._patches.size**2
        if self._step.does.predictor != GAUSSIAN:
            return np.zeros((0, 0), np.float32)
        samples = max(_LEAST_SAMPLES, min(groups, _SAMPLES))
        runs = _runs(self._scene.planes.shape[1:], self._patches, samples)
        total = sum(self._run.map(self._shapes, runs), np.zeros((entries, entries), np.int64))
        lower = total * (SHAPE_UNIT / sum(map(len, runs)))
        return (lower + np.tril(lower, -1).T).astype(np.float32)

    def _shapes(self, references: Places) -> Sums:
        """Return the sum of the shapes of the covariances of some groups."""
        entries = self._scene.planes.shape[0] * self._patches.size**2
        total, view = np.zeros((entries, entries), np.int64), self._around(references)
        found = self._match(view, references)
        add_shapes(view.picture, references - view.corner, found, self._patches.size, total)
        return total

    def _around(self, references: Places) -> GroupView:
        """Return what the groups of some references see."""
        first = np.maximum(references.min(axis=0) - self._patches.reach, 0)
        last = references.max(axis=0) + self._patches.reach + self._patches.size
        rows, columns = (slice(int(start), int(stop)) for start, stop in zip(first, last, strict=True))
        return self._scene.view(rows, columns)

    def _restore(self, band: Band, prior: Float32) -> tuple[KernelImage, Sums, Float32, bool]:
        """Match and restore the groups of a band until the deadline.

        Return what they see, their sums, what is proven of them, and whether any was restored.
        """
        channels, _, width = self._scene.planes.shape
        view = self._scene.view(slice(band.top, band.bottom), slice(0, width))
        sums = np.zeros((3 if self._run.want_error else 1, channels, band.bottom - band.top, width), np.int64)
        bounds, done = unproven(band.count if self._step.norm else 0), 0
        for tile in tiles_of_references(band.references.places):
            if self._run.deadline.is_over():
                break
            self._restore_tile(view, tile, prior, sums, bounds[done : done + len(tile)])
            done += len(tile)
        return view.picture, sums, bounds, done > 0

    def _restore_tile(
        self, view: GroupView, references: Places, prior: Float32, sums: Sums, bounds: Float32
    ) -> None:
        """Match the groups of a tile, predict or complete them, and add them up; sums start with the view."""
        size, does, found = self._patches.size, self._step.does, self._match(view, references)
        picture, places, shares = view.picture, references - view.corner, self._shares(references + size // 2)
        if self._step.norm is None:
            restore_groups(picture, places, found, size, does, self._fading, prior, 0, sums, shares)
        else:
            complete_groups(picture, places, found, size, does, self._step.norm, 0, sums, bounds)
        if self._is_checked:
            self._check(picture, places, found, references)

    def _check(self, picture: KernelImage, places: Places, found: Offsets, references: Places) -> None:
        """Add up how well patches predict samples that they lack, in groups that their place chooses."""
        chosen = np.flatnonzero((references @ np.array([7, 13])) % _CHECKED == 0)
        if chosen.size:
            sums = np.zeros(CHANNELS + 3 * len(picture.planes), np.int64)
            share, least = self._scene.known.noise_share, self._step.does.noise
            add_left_out(picture, places[chosen], found[chosen], self._patches.size, share, least, sums)
            self.left_out.append(sums)

    def _match(self, view: GroupView, references: Places) -> Offsets:
        """Return the offsets of the patches of every reference's group."""
        found, size = np.empty((len(references), self._patches.count, 2), np.int8), self._patches.size
        places = references - view.corner
        match_patches(view.picture.planes, view.confidence, places, size, self._offsets, found)
        return found
