"""The wide parts of a picture's holes, each with what is around it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import binary_dilation, distance_transform_edt, find_objects, label

from demosaic_ntc.arrays import Flags, Planes
from demosaic_ntc.engine.tiles import within
from demosaic_ntc.inpainting.classification import depths
from demosaic_ntc.inpainting.texture.descriptors import add_busyness
from demosaic_ntc.inpainting.texture.level import Scene, count_reductions

Box = tuple[slice, slice]
Widths = tuple[int, int]  # how deep a hole is that is wide, and how far its wide part grows back

_NEAR, _FAR = 128, 400  # pixels around a hole from which texture is taken, at least and at most
_APART = 8  # pixels: wide parts closer than twice this are filled together
_SQUARE = np.ones((3, 3))


@dataclass(frozen=True, slots=True, eq=False)
class WidePart:
    """A wide part of a picture's holes, in its box."""

    box: Box
    flags: Flags


def find_parts(missing: Flags, widths: Widths) -> Iterator[WidePart]:
    """Yield the wide parts of holes: what lies deep, grown back within the hole."""
    deep, back = widths
    around = _box_of(missing, back + _APART + 1)
    if around is None:
        return
    holes = missing[around]
    core = depths(holes) > deep
    box = _box_of(core, back + _APART + 1)
    if box is None:
        return
    wide = binary_dilation(core[box], _SQUARE, iterations=back, mask=holes[box])
    numbers, _ = label(binary_dilation(wide, _SQUARE, iterations=_APART), _SQUARE)
    top, left = (inner.start + outer.start for inner, outer in zip(box, around, strict=True))
    for number, (rows, columns) in enumerate(find_objects(numbers), start=1):
        flags = wide[rows, columns] & (numbers[rows, columns] == number)
        place = slice(rows.start + top, rows.stop + top), slice(columns.start + left, columns.stop + left)
        yield WidePart(place, flags)


def make_scene(part: WidePart, region: Box, planes: Planes, missing: Flags, allowed: Flags | None) -> Scene:
    """Return what is seen around a wide part: what is known, and what the engine made right beside it."""
    hole = np.zeros([axis.stop - axis.start for axis in region], np.bool_)
    hole[within(part.box, region)] = part.flags
    known = ~missing[region]
    shown = (known | binary_dilation(hole, _SQUARE, iterations=_APART)) & ~hole
    source = known if allowed is None else known & allowed[region]
    side = 2 ** count_reductions(float(distance_transform_edt(np.pad(hole, 1, mode="edge")).max()))
    seen = planes[:, *region].copy()
    seen[:, ~shown] = 0
    return Scene(add_busyness(seen, shown, side), hole, shown, source)


def region_of(part: WidePart, shape: tuple[int, ...], allowed: Flags | None) -> Box:
    """Return the box of a wide part with its surroundings, and with what may be copied if that is given."""
    margin = int(np.clip(max(part.flags.shape), _NEAR, _FAR))
    given = None if allowed is None else _box_of(allowed, 0)
    spans = []
    for axis, (inner, length) in enumerate(zip(part.box, shape, strict=True)):
        first, last = max(inner.start - margin, 0), min(inner.stop + margin, length)
        if given is not None:
            first, last = min(first, given[axis].start), max(last, given[axis].stop)
        spans.append(slice(first, last))
    return spans[0], spans[1]


def _box_of(flags: Flags, margin: int) -> Box | None:
    """Return the least box around flags, and a margin, if any is set."""
    rows, columns = np.flatnonzero(flags.any(axis=1)), np.flatnonzero(flags.any(axis=0))
    if not rows.size:
        return None
    (top, bottom), (left, right) = ((int(ends[0]), int(ends[-1]) + 1) for ends in (rows, columns))
    height, width = flags.shape
    return (
        slice(max(top - margin, 0), min(bottom + margin, height)),
        slice(max(left - margin, 0), min(right + margin, width)),
    )
