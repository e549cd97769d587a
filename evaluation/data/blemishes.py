"""Dust, hairs and scratches drawn on clean pictures, soft, dark and light, and how strong each of them is.

Dark ones take light away, light ones add what is missing to white, in all colours alike. How strong a blemish
is, is told in standard deviations of the clean picture's luma around it, of which it hides nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, uniform_filter

from ..measure.metrics import PEAK

Opacity = NDArray[np.float64]  # (height, width), 0 to 1
Draw = Callable[[tuple[int, int], np.random.Generator], Opacity]

KINDS = ("dark spots", "light spots", "hairs", "scratches")

_PER_MEGAPIXEL = {"dark spots": 25, "light spots": 25, "hairs": 8, "scratches": 5}
_STRENGTH = (0.1, 0.9)  # the share of light taken away, or of what is missing to white added
_DIAMETER = (3.0, 40.0)  # pixels
_APART = 12  # pixels between blemishes
_TRIALS = 50  # places looked at before a blemish is left out
_AROUND = 16  # pixels around a blemish, at least, that tell how the picture varies there
_LEAST_DEVIATION = 1.0  # levels of 255: what a picture of eight bits can tell


@dataclass(frozen=True, slots=True)
class Blemish:
    """One of them: where it lies in the picture, and its pixels there."""

    kind: str
    box: tuple[slice, slice]
    core: NDArray[np.bool_]  # (height, width) of the box: at least half as opaque as it gets
    whole: NDArray[np.bool_]  # all that it changes
    deviations: float  # the change of luma in its core, in deviations of the luma around: the median


@dataclass(frozen=True, slots=True)
class BlemishedPicture:
    """A picture and what lies on it."""

    pixels: NDArray[np.uint8]  # (height, width, 3)
    blemishes: tuple[Blemish, ...]


def add_blemishes(clean: NDArray[np.uint8], generator: np.random.Generator) -> BlemishedPicture:
    """The picture with dust, hairs and scratches at places that do not touch."""
    pixels, taken = clean.astype(np.float64) / PEAK, np.zeros(clean.shape[:2], np.bool_)
    luma, drawn = clean.mean(axis=2), []
    for kind in _draw_kinds(clean.shape[0] * clean.shape[1], generator):
        opacity = _DRAW[kind](clean.shape[:2], generator)
        box = _free_place(opacity, taken, generator)
        if box is None:
            continue
        _lay_on(pixels[box], opacity, kind, generator)
        taken[_grow_box(box, _APART, clean.shape[:2])] = True
        drawn.append((kind, box, opacity))
    levels = np.rint(PEAK * pixels).astype(np.uint8)
    changed = np.abs(levels.mean(axis=2) - luma)
    return BlemishedPicture(levels, tuple(_describe_blemish(*each, luma, changed) for each in drawn))


def _draw_kinds(pixels: int, generator: np.random.Generator) -> list[str]:
    """The kinds to draw, the longest first: they need most room."""
    counts = {kind: max(1, round(each * pixels / 1e6)) for kind, each in _PER_MEGAPIXEL.items()}
    return [kind for kind in reversed(KINDS) for _ in range(counts[kind])]


def _lay_on(part: NDArray[np.float64], opacity: Opacity, kind: str, generator: np.random.Generator) -> None:
    """Darken or lighten a part of a picture, in place."""
    is_dark = kind == "dark spots" or (kind != "light spots" and generator.random() < 0.5)
    strength = generator.uniform(*_STRENGTH)
    cover = (strength * opacity)[..., None]
    part += cover * ((0.0 if is_dark else 1.0) - part)


def _describe_blemish(
    kind: str,
    box: tuple[slice, slice],
    opacity: Opacity,
    luma: NDArray[np.float64],
    changed: NDArray[np.float64],
) -> Blemish:
    """What is known of a blemish that was drawn."""
    core = opacity >= 0.5 * opacity.max()
    reach = max(_AROUND, round(2 * float(distance_transform_edt(np.pad(core, 1)).max())))
    wide = _grow_box(box, reach, luma.shape)
    near = tuple(
        slice(here.start - all_.start, here.stop - all_.start) for here, all_ in zip(box, wide, strict=True)
    )
    ratio = changed[box] / np.maximum(_deviation(luma[wide], reach)[near], _LEAST_DEVIATION)
    return Blemish(kind, box, core, opacity > 0, float(np.median(ratio[core])))


def _deviation(luma: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """The standard deviation of luma around every pixel, as far as this."""
    mean, square = (uniform_filter(each, 2 * reach + 1) for each in (luma, luma**2))
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0)))


def _free_place(
    opacity: Opacity, taken: NDArray[np.bool_], generator: np.random.Generator
) -> tuple[slice, slice] | None:
    """A place where nothing lies yet; None if none is met."""
    height, width = opacity.shape
    for _ in range(_TRIALS):
        top = int(generator.integers(0, taken.shape[0] - height + 1))
        left = int(generator.integers(0, taken.shape[1] - width + 1))
        box = slice(top, top + height), slice(left, left + width)
        if not taken[box].any():
            return box
    return None


def _grow_box(box: tuple[slice, slice], by: int, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """A box with a margin, inside the picture."""
    rows, columns = (
        slice(max(each.start - by, 0), min(each.stop + by, size))
        for each, size in zip(box, shape, strict=False)
    )
    return rows, columns


def _spot(shape: tuple[int, int], generator: np.random.Generator) -> Opacity:
    """A grain of dust: round or nearly, with a rim between sharp and as soft as it is wide."""
    radius = np.exp(generator.uniform(*np.log(_DIAMETER))) / 2
    rim = max(1.0, generator.uniform(0.2, 1.2) * radius)
    reach = int(np.ceil(1.2 * radius + rim / 2)) + 1
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1] + generator.uniform(-0.5, 0.5, (2, 1, 1))
    turn, ratio = generator.uniform(0, np.pi), generator.uniform(0.7, 1.0)
    along = (rows * np.cos(turn) + columns * np.sin(turn)) * np.sqrt(ratio)
    across = (columns * np.cos(turn) - rows * np.sin(turn)) / np.sqrt(ratio)
    wobble = 1 + 0.12 * np.sin(3 * np.arctan2(along, across) + generator.uniform(0, 2 * np.pi))
    return _cut(_smooth((radius * wobble + rim / 2 - np.hypot(along, across)) / rim))


def _hair(shape: tuple[int, int], generator: np.random.Generator) -> Opacity:
    """A thin line that curls."""
    length, width = generator.uniform(40, 180), generator.uniform(1.5, 4)
    steps = np.arange(0, length, 0.5)
    bends = generator.normal(0, 1.2, 3) / length * 2
    turn = generator.uniform(0, 2 * np.pi) + sum(
        bend * length / (number + 1) * np.sin((number + 1) * np.pi * steps / length)
        for number, bend in enumerate(bends)
    )
    return _line(np.cumsum(0.5 * np.sin(turn)), np.cumsum(0.5 * np.cos(turn)), width, shape)


def _scratch(shape: tuple[int, int], generator: np.random.Generator) -> Opacity:
    """A thin line that is straight or nearly, more often upright than not."""
    most = 0.9 * min(shape)
    length, width = generator.uniform(0.25 * most, most), generator.uniform(1, 3)
    turn = np.pi / 2 + generator.normal(0, 0.2) if generator.random() < 0.6 else generator.uniform(0, np.pi)
    steps = np.arange(0, length, 0.5)
    bow = generator.normal(0, 0.01) * length * np.sin(np.pi * steps / length)
    rows = steps * np.sin(turn) + bow * np.cos(turn)
    return _line(rows, steps * np.cos(turn) - bow * np.sin(turn), width, shape)


def _line(
    rows: NDArray[np.float64], columns: NDArray[np.float64], width: float, shape: tuple[int, int]
) -> Opacity:
    """The opacity of a line through these places, cut to fit into the picture."""
    margin = int(width) + 3
    rows, columns = rows - rows.min() + margin, columns - columns.min() + margin
    away = np.full((int(rows.max()) + margin + 1, int(columns.max()) + margin + 1), np.inf)
    offsets = np.arange(-margin, margin + 1)
    for row, column in zip(rows, columns, strict=True):
        down, right = int(row) + offsets[:, None], int(column) + offsets
        away[down, right] = np.minimum(away[down, right], np.hypot(down - row, right - column))
    return _cut(_smooth(width / 2 + 0.5 - away)[: shape[0], : shape[1]])


def _smooth(ramp: NDArray[np.float64]) -> Opacity:
    """A ramp from 0 to 1 without corners."""
    inside = np.clip(ramp, 0, 1)
    return np.asarray(inside * inside * (3 - 2 * inside))


def _cut(opacity: Opacity) -> Opacity:
    """The part that shows."""
    rows, columns = (np.flatnonzero((opacity > 0).any(axis=axis)) for axis in (1, 0))
    return opacity[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


_DRAW: dict[str, Draw] = {"dark spots": _spot, "light spots": _spot, "hairs": _hair, "scratches": _scratch}
