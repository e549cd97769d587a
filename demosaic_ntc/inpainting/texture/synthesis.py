"""Texture for a hole, scale by scale: patches are searched and vote on the pixels they cover, in turns.

Wexler, Shechtman, Irani 2007, doi:10.1109/TPAMI.2007.60; with channels that describe texture: Newson,
Almansa, Fradet, Gousseau, Pérez 2014, doi:10.1137/140954933. Sources are searched exhaustively at coarse
scales and by trees of patches' low frequencies at finer ones, where those of neighbours are tried as well.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.inpainting.texture.descriptors import describe_patches, most_telling
from demosaic_ntc.inpainting.texture.kernels import NEVER, REACH, Places, search_all, search_candidates, vote
from demosaic_ntc.inpainting.texture.level import Level, places_of
from demosaic_ntc.run import Run

ROUNDS = (10, 8, 5, 3, 2)  # from the coarsest scale on
_ALL = 1_500_000  # pairs of patches that are compared one by one
_IN_TREE = 40_000  # patches that are searched by a tree
_NEAREST = 4  # patches that are taken from a tree
_SPREAD = 0.35  # of the mean cost: what patches may be worse and still count
_BLOCK = 512  # targets that a thread takes at once
_FAR = np.array([1e-3, 2e-4])  # price of a step of a hole's side, down and across


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A level with its hole filled, and the source of every patch that covers some of it."""

    level: Level
    values: Float32  # (height, width, channels)
    field: Places  # (height, width, 2): the source of each target; negative elsewhere
    cost: Float64  # (height, width); `NEVER` elsewhere

    @property
    def mean_cost(self) -> float:
        """The mean cost of its patches."""
        found = self.cost[self.cost < NEVER]
        return float(found.mean()) if found.size else NEVER


def price_of(level: Level) -> Float64:
    """Return what a squared step to a source costs, down and across."""
    side = max(np.ptp(level.pixels, axis=0)) + 1
    return _FAR / float(side) ** 2


def synthesise(start: Filled, rounds: int, run: Run) -> Filled:
    """Search and vote a number of times."""
    level, filled = start.level, start
    many = len(level.targets) * int(np.count_nonzero(level.is_source)) > _ALL
    trees = _Trees(level) if many else None
    for number in range(rounds):
        if run.deadline.is_over():
            break
        if trees is None:
            best, cost = _search_everywhere(level, filled.values, run)
        else:
            best, cost = _search_near(filled, trees.find(filled.values, number), run)
        filled = vote_on(level, filled.values, *spread_out(level, level.targets, best, cost), run)
    return filled


def _search_everywhere(level: Level, values: Float32, run: Run) -> tuple[Places, Float64]:
    """Return the best of all sources for each target, and its cost."""
    targets, sources, price = level.targets, level.sources, price_of(level)
    best, cost = np.empty((len(targets), 2), np.int32), np.empty(len(targets))

    def search(part: slice) -> None:
        search_all(values, level.weight, targets[part], sources, price, best[part], cost[part])

    run.do(search, blocks_of(len(targets), 32))
    return best, cost


def _search_near(filled: Filled, further: Places, run: Run) -> tuple[Places, Float64]:
    """Return the best of each target's own source, its neighbours' and further ones."""
    level, targets = filled.level, filled.level.targets
    best, cost, price = np.empty((len(targets), 2), np.int32), np.empty(len(targets)), price_of(level)

    def search(part: slice) -> None:
        search_candidates(
            filled.values,
            level.weight,
            level.is_source,
            targets[part],
            filled.field,
            further[part],
            price,
            best[part],
            cost[part],
        )

    run.do(search, blocks_of(len(targets)))
    return best, cost


class _Trees:
    """Sources of a level in a tree, by the low frequencies of their patches."""

    def __init__(self, level: Level) -> None:
        self._level, self._tree = level, None
        apart = int(np.ceil((np.count_nonzero(level.is_source) / _IN_TREE) ** 0.5))
        grid = np.zeros(level.hole.shape, np.bool_)
        grid[::apart, ::apart] = True
        self._sources = places_of(level.is_source & grid)
        if apart > 2 or not len(self._sources):
            return
        described = describe_patches(level.values)[tuple(self._sources.T)]
        self._numbers = most_telling(described)
        self._tree = cKDTree(described[:, self._numbers])

    def find(self, values: Float32, number: int) -> Places:
        """Return sources for each target, (targets, n, 2), from the first round on where it is worth it."""
        targets = self._level.targets
        if self._tree is None:
            return np.full((len(targets), 0, 2), -1, np.int32)
        (top, left), (bottom, right) = targets.min(axis=0) - REACH, targets.max(axis=0) + REACH + 1
        described = describe_patches(values[top:bottom, left:right])[tuple((targets - (top, left)).T)]
        near = min(_NEAREST, len(self._sources))
        _, found = self._tree.query(described[:, self._numbers], near)
        return np.asarray(self._sources[np.asarray(found).reshape(len(targets), near)])


def spread_out(level: Level, targets: Places, best: Places, cost: Float64) -> tuple[Places, Float64]:
    """Return sources and costs of targets as arrays of the level's size."""
    field = np.full((*level.hole.shape, 2), -1, np.int32)
    costs = np.full(level.hole.shape, NEVER)
    field[tuple(targets.T)], costs[tuple(targets.T)] = best, cost
    return field, costs


def vote_on(level: Level, values: Float32, field: Places, cost: Float64, run: Run) -> Filled:
    """Return a level whose hole has the means of what its patches say."""
    voted = np.empty((len(level.pixels), values.shape[2]), np.float32)
    finite = cost[cost < NEVER]
    spread = max(_SPREAD * float(finite.mean()), 1e-12) if finite.size else 1.0

    def count(part: slice) -> None:
        vote(values, field, cost, spread, level.pixels[part], voted[part])

    run.do(count, blocks_of(len(level.pixels)))
    made = values.copy()
    made[tuple(level.pixels.T)] = voted
    return Filled(level, made, field, cost)


def refine(coarse: Filled, level: Level, run: Run) -> Filled:
    """Return a level filled from the sources found at half its scale."""
    height, width = level.hole.shape
    rows, columns = (np.arange(size, dtype=np.int32) - REACH for size in (height, width))
    last = np.array(coarse.level.hole.shape) - 1
    place = np.ix_(np.clip(rows // 2 + REACH, 0, last[0]), np.clip(columns // 2 + REACH, 0, last[1]))
    inner = np.stack(np.meshgrid(rows % 2, columns % 2, indexing="ij"), axis=2)
    field = np.where(
        coarse.field[place][..., :1] >= 0, 2 * (coarse.field[place] - REACH) + inner + REACH, -1
    ).astype(np.int32)
    field[~_are_sources(field, level.is_source)] = -1
    field[~_flag(level.targets, (height, width))] = -1
    cost = np.where(field[..., 0] >= 0, coarse.cost[place], NEVER)
    values = np.where(level.hole[..., None], coarse.values[place], level.values)
    return vote_on(level, np.ascontiguousarray(values), field, cost, run)


def _flag(places: Places, shape: tuple[int, int]) -> Flags:
    """Return flags that are set at some places."""
    flags = np.zeros(shape, np.bool_)
    flags[tuple(places.T)] = True
    return flags


def _are_sources(field: Places, is_source: Flags) -> Flags:
    """Return which places are centres of patches that may be copied."""
    (height, width), (rows, columns) = is_source.shape, np.moveaxis(field, 2, 0)
    inside = (rows >= 0) & (columns >= 0) & (rows < height) & (columns < width)
    return np.asarray(inside & is_source[np.where(inside, rows, 0), np.where(inside, columns, 0)])


def blocks_of(count: int, size: int = _BLOCK) -> list[slice]:
    """Return parts of a list of places."""
    return [slice(first, first + size) for first in range(0, count, size)]
