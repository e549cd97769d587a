"""Groups of similar patches around holes: only patches that touch a hole are looked at."""

from collections.abc import Callable, Iterator
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


@dataclass(frozen=True, slots=True)
class _Filled:
    """What the groups of one tile add to the picture, and where."""

    top: int
    left: int
    values: Sums
    weights: Sums
    gaps: Floats


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
    _, height, width = planes.shape
    size = min(patches.size, height, width)
    patches = replace(patches, size=size, stride=min(patches.stride, size))
    tiles = list(_tiles(_references(wanted, patches)))
    offsets = search_offsets(patches)
    sums = np.zeros(planes.shape, np.int64), np.zeros((height, width), np.int64)
    gaps = []

    def work(references: Places) -> _Filled:
        if deadline.passed():
            return _nothing(planes, references)
        return _fill(planes, trusts, references, patches, offsets, settings)

    for done, filled in enumerate(in_order(work, tiles, threads), 1):
        rows = slice(filled.top, filled.top + filled.weights.shape[0])
        columns = slice(filled.left, filled.left + filled.weights.shape[1])
        sums[0][:, rows, columns] += filled.values
        sums[1][rows, columns] += filled.weights
        gaps.append(filled.gaps)
        report(done / len(tiles))
    restored = planes.copy()
    write_means(*sums, restored)
    return restored, np.concatenate(gaps)


def _nothing(planes: Planes, references: Places) -> _Filled:
    """Return what groups add for which there is no time."""
    values = np.zeros((planes.shape[0], 0, 0), np.int64)
    return _Filled(0, 0, values, values[0], np.full(len(references), np.inf, np.float32))


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
) -> _Filled:
    """Match and restore the groups of one tile."""
    rows, columns = np.ascontiguousarray(references.T)
    found = np.empty((len(rows), patches.count, 2), np.int8)
    match_trusted(planes, trusts.matching, rows, columns, patches.size, offsets, found)
    _, height, width = planes.shape
    top, left = max(int(rows.min()) - patches.reach, 0), max(int(columns.min()) - patches.reach, 0)
    bottom = min(int(rows.max()) + patches.reach + patches.size, height)
    right = min(int(columns.max()) + patches.reach + patches.size, width)
    values = np.zeros((planes.shape[0], bottom - top, right - left), np.int64)
    weights = np.zeros(values.shape[1:], np.int64)
    gaps = np.full(len(rows), np.inf, np.float32)
    fill_groups(
        planes,
        trusts.fitting,
        rows,
        columns,
        found,
        patches.size,
        settings,
        top,
        left,
        values,
        weights,
        gaps,
    )
    return _Filled(top, left, values, weights, gaps)
