"""Groups of similar patches around holes: only patches that touch a hole are looked at."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.first_guess.fill import Flags, Planes
from demosaic_ntc.imaging.groups import Patches, reference_positions
from demosaic_ntc.imaging.kernels.hole_pass import HolePass, fill_groups
from demosaic_ntc.imaging.kernels.matching import match_trusted
from demosaic_ntc.imaging.kernels.steps import Sums, write_means
from demosaic_ntc.imaging.parallel import in_order
from demosaic_ntc.ntc.deadline import Deadline

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

_TILE = (32, 256)  # rows and columns of reference patches whose differences are computed together
_GAP = 16  # columns without references at which a tile is cut


@dataclass(frozen=True, slots=True)
class Trusts:
    """How far the entries of a picture are to be trusted."""

    matching: Floats  # (height, width), when patches are compared
    fitting: Planes  # (channels, height, width), when groups are fitted


class _Sums:
    """What the groups add up to: whole numbers, one set to a thread, as their order does not matter."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._idle: list[tuple[Sums, Sums]] = []

    @contextmanager
    def taken(self) -> Iterator[tuple[Sums, Sums]]:
        """Lend values and weights that no other thread has."""
        try:
            mine = self._idle.pop()
        except IndexError:
            mine = np.zeros(self._shape, np.int64), np.zeros(self._shape[1:], np.int64)
        yield mine
        self._idle.append(mine)

    def write_means_to(self, planes: Planes) -> None:
        """Write the weighted means of all that was added, where anything was."""
        if self._idle:
            values, weights = (functools.reduce(np.add, parts) for parts in zip(*self._idle, strict=True))
            write_means(values, weights, planes)


def restore_around(
    planes: Planes,
    trusts: Trusts,
    wanted: Flags,
    patches: Patches,
    settings: HolePass,
    threads: int,
    report: Callable[[float], None],
    deadline: Deadline,
) -> tuple[Planes, Floats]:
    """Restore all groups whose reference patch holds a wanted pixel.

    Returns the planes of what the groups say, unchanged where none says anything, and their certified gaps.
    Groups of tiles that would begin after the deadline say nothing; their gaps are infinite.
    """
    size = min(patches.size, *planes.shape[1:])
    patches = replace(patches, size=size, stride=min(patches.stride, size))
    tiles = list(_tiles(_references(wanted, patches)))
    offsets, sums, gaps = search_offsets(patches), _Sums(planes.shape), []

    def work(references: Places) -> Floats:
        if deadline.passed():
            return np.full(len(references), np.inf, np.float32)
        with sums.taken() as mine:
            return _fill(planes, trusts, references, patches, offsets, settings, mine)

    for done, proven in enumerate(in_order(work, tiles, threads), 1):
        gaps.append(proven)
        report(done / len(tiles))
    restored = planes.copy()
    sums.write_means_to(restored)
    return restored, np.concatenate(gaps)


def search_offsets(patches: Patches) -> Places:
    """Return where fellows are looked for: everywhere nearby, at every second row and column further out."""
    steps = np.arange(-patches.reach, patches.reach + 1)
    dy, dx = np.meshgrid(steps, steps, indexing="ij")
    near = np.maximum(abs(dy), abs(dx)) <= patches.dense
    kept = (near | ((dy % 2 == 0) & (dx % 2 == 0))) & ((dy != 0) | (dx != 0))
    return np.stack([dy[kept], dx[kept]], axis=1).astype(np.int64)


def _references(wanted: Flags, patches: Patches) -> Places:
    """Return (row, column) of the reference patches that hold a wanted pixel."""
    rows = reference_positions(wanted.shape[0], patches)
    columns = reference_positions(wanted.shape[1], patches)
    total = np.pad(wanted.cumsum(axis=0, dtype=np.int32).cumsum(axis=1), ((1, 0), (1, 0)))
    below, right = rows[:, None] + patches.size, columns + patches.size
    top, left = rows[:, None], columns
    count = total[below, right] - total[top, right] - total[below, left] + total[top, left]
    down, across = np.nonzero(count)
    return np.stack([rows[down], columns[across]], axis=1)


def _tiles(references: Places) -> Iterator[Places]:
    """Cut the references into tiles that leave wide gaps out, each sorted by rows."""
    order = np.lexsort((references[:, 1], references[:, 0] // _TILE[0]))
    rows, columns = references[order].T
    steps = np.diff(rows // _TILE[0]), np.diff(columns // _TILE[1])
    apart = (steps[0] != 0) | (steps[1] != 0) | (np.diff(columns) > _GAP)
    for part in np.split(order, np.flatnonzero(apart) + 1):
        if part.size:
            yield references[np.sort(part)]


def _fill(
    planes: Planes,
    trusts: Trusts,
    references: Places,
    patches: Patches,
    offsets: Places,
    settings: HolePass,
    sums: tuple[Sums, Sums],
) -> Floats:
    """Match and restore the groups of one tile, add them up, and return their gaps."""
    rows, columns = np.ascontiguousarray(references.T)
    found = np.empty((len(rows), patches.count, 2), np.int8)
    match_trusted(planes, trusts.matching, rows, columns, patches.size, offsets, found)
    gaps = np.full(len(rows), np.inf, np.float32)
    fill_groups(planes, trusts.fitting, rows, columns, found, patches.size, settings, *sums, gaps)
    return gaps
