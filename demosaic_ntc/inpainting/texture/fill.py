"""Wide holes filled with texture, part by part: every pixel is copied from somewhere in the picture."""

from collections.abc import Iterator

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.engine.pass_tables import PLANS
from demosaic_ntc.engine.result import CopiedPixels
from demosaic_ntc.inpainting.region_inpainting import repair
from demosaic_ntc.inpainting.texture.blending import blend, measure_seams
from demosaic_ntc.inpainting.texture.kernels import NEVER, REACH, Places
from demosaic_ntc.inpainting.texture.label_kernels import best_labels, relabel
from demosaic_ntc.inpainting.texture.level import Level, make_pyramid
from demosaic_ntc.inpainting.texture.offsets import MOST_PIXELS, start_by_offsets
from demosaic_ntc.inpainting.texture.parts import WidePart, Widths, make_scene, region_of
from demosaic_ntc.inpainting.texture.synthesis import ROUNDS, Filled, blocks_of, refine, synthesise
from demosaic_ntc.run import Run

# Below the limit of "auto" what the engine tells is closer to the truth, and texture only loses. "texture" is
# for those who want it wherever there is room for any.
WIDTHS: dict[str, Widths] = {"auto": (12, 16), "texture": (2, 4)}

# Low frequencies are drawn to the engine's estimate, which is closer to the truth there; but where both are
# far apart the estimate is a mixture of colours that would show as a veil.
_DRAWN, _DRAWN_BLUR, _APART = 0.5, 10.0, 0.08  # how far, what they are blurred by in pixels, and what is far
_WORTH = 1.2  # how much dearer copies by offsets may be and still be taken: structure shows more than seams
_SWEEPS = 12  # over labels
_DATA = 0.5  # what a distance from the estimate counts, beside seams
_RIM = (0.0, 2.0)  # depths: the first is all the engine's, from the second on it is all texture


def fill_part(
    part: WidePart, planes: Planes, missing: Flags, allowed: Flags | None, run: Run
) -> CopiedPixels | None:
    """Fill a wide part of a picture in place; return what was copied, or nothing where nothing can be.

    ``planes`` are (channels, height, width) with what the engine made of all that is ``missing``. What may be
    copied is known, and ``allowed`` if that is given.
    """
    region = region_of(part, missing.shape, allowed)
    scene = make_scene(part, region, planes, missing, allowed)
    levels = [Level.of(each) for each in reversed(make_pyramid(scene))]  # the coarsest first
    made = _fill_levels(levels, len(planes), run) if levels[-1].is_source.any() else None
    if made is None:
        return None
    labels, values = made
    hole = levels[-1].hole[REACH:-REACH, REACH:-REACH]
    rows, columns = (np.argwhere(hole) + np.array([axis.start for axis in region])).T
    before, share = planes[:, rows, columns], _share_of_texture(hole)[hole]
    values = values.T + _draw_near(before - values.T, hole)
    planes[:, rows, columns] = before + share * (values - before)
    targets = np.stack([rows, columns], axis=1).astype(np.int32)
    return CopiedPixels(targets, targets + labels)


def _fill_levels(levels: list[Level], colours: int, run: Run) -> tuple[Places, Float32] | None:
    """Return labels and colours of a hole's pixels, from the start that fits best; None out of time."""
    finest, found = levels[-1], list[tuple[float, Places]]()
    values = np.ascontiguousarray(finest.values[..., :colours])
    for filled, worth in _fill_in_turn(levels, run):
        labels = choose_labels(filled, values, run)
        cost = filled.mean_cost + measure_seams(values, finest.hole, finest.shown, labels)
        found.append((cost / worth, labels))
        if run.deadline.is_over():
            return None
    _, labels = min(found, key=lambda each: each[0])
    return labels[finest.hole], blend(values, finest.hole, finest.shown, labels)


def _fill_in_turn(levels: list[Level], run: Run) -> Iterator[tuple[Filled, float]]:
    """Yield the finest level filled from each start, and what the start is worth."""
    yield _descend_levels(start_smoothly(levels[0], run), levels, run), 1.0
    number = max((n for n, level in enumerate(levels) if len(level.pixels) <= MOST_PIXELS), default=0)
    shifted = start_by_offsets(levels[number], start_smoothly(levels[number], run).values)
    if shifted is not None:
        yield _descend_levels(shifted, levels[number:], run), _WORTH


def start_smoothly(level: Level, run: Run) -> Filled:
    """Return a level whose hole is filled by the engine."""
    inner = (slice(REACH, -REACH), slice(REACH, -REACH))
    known = (level.weight[inner] > 0) & ~level.hole[inner]
    planes = np.ascontiguousarray(np.moveaxis(level.values[inner], 2, 0))
    planes[:, ~known] = 0
    shown = np.ascontiguousarray(np.broadcast_to(known, planes.shape))
    made, _ = repair(planes, shown, PLANS["fast"], Run(threads=run.threads, deadline=run.deadline))
    values = level.values.copy()
    values[inner] = np.moveaxis(made.planes, 0, 2)
    filled = np.ascontiguousarray(np.where(level.hole[..., None], values, level.values), np.float32)
    nowhere = np.full((*level.hole.shape, 2), -1, np.int32)  # nothing says where they came from
    return Filled(level, filled, nowhere, np.full(level.hole.shape, NEVER))


def _descend_levels(start: Filled, levels: list[Level], run: Run) -> Filled:
    """Return the finest level filled, from a start at the coarsest."""
    filled = start
    for number, level in enumerate(levels):
        if number > 0:
            filled = refine(filled, level, run)
        filled = synthesise(filled, ROUNDS[min(number, len(ROUNDS) - 1)], run)
    return filled


def choose_labels(filled: Filled, values: Float32, run: Run) -> Places:
    """Return for every pixel the way to the one it is copied from, (height, width, 2); zero outside the hole.

    ``values`` are the channels of the level that are compared.
    """
    level = filled.level
    labels = np.zeros((*level.hole.shape, 2), np.int32)
    first = np.zeros((len(level.pixels), 2), np.int32)
    best_labels(filled.field, filled.cost, level.pixels, first)
    labels[tuple(level.pixels.T)] = first
    estimate = np.ascontiguousarray(filled.values[..., : values.shape[2]])
    dark = level.pixels.sum(axis=1) % 2
    halves = [np.ascontiguousarray(level.pixels[dark == parity]) for parity in (0, 1)]
    for sweep in range(2 * _SWEEPS):
        labels = _sweep(values, estimate, level, labels, halves[sweep % 2], run)
    return labels


def _sweep(
    values: Float32, estimate: Float32, level: Level, labels: Places, pixels: Places, run: Run
) -> Places:
    """Return labels that are better at every second pixel, like one colour of a chessboard."""
    chosen = np.empty((len(pixels), 2), np.int32)

    def choose(part: slice) -> None:
        flags = (level.hole, level.shown, level.source)
        relabel(values, estimate, *flags, labels, _DATA, pixels[part], chosen[part])

    run.do(choose, blocks_of(len(pixels), 2048))
    moved = labels.copy()
    moved[tuple(pixels.T)] = chosen
    return moved


def _draw_near(gaps: Float32, hole: Flags) -> Float32:
    """Return what to add to a hole's pixels, (channels, pixels), that are some gaps off; zero outside."""
    low = np.empty_like(gaps)
    for gap, result in zip(gaps, low, strict=True):
        plane = np.zeros(hole.shape, np.float32)
        plane[hole] = gap
        result[:] = gaussian_filter(plane, _DRAWN_BLUR, mode="constant")[hole]
    share = _DRAWN / (1 + (low**2).mean(axis=0) / _APART**2)
    return np.asarray(share * low, np.float32)


def _share_of_texture(hole: Flags) -> Float32:
    """Return how much of each pixel is texture: less at the rim."""
    first, last = _RIM
    depth = distance_transform_edt(np.pad(hole, 1, mode="edge"))[1:-1, 1:-1]
    return np.asarray(np.clip((depth - first) / (last - first), 0, 1), np.float32)
