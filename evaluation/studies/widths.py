"""How far into a hole a picture can be carried on: the error by the depth inside square holes.

It is told as a share: the squared error over that of a hole filled with the mean of the pixels around it.
Zero is the scene itself, one no better than one colour.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.inpainting.classification import depths
from demosaic_ntc.inpainting.inpaint import inpaint
from demosaic_ntc.viewer.crops import CropBox

from ..data.sets import SetImage
from ..methods.method import Effort
from ..report.tables import Cell, DataTable, table_of

BOX = CropBox(128, 128, 256, 256)

_LEAST_SPACE = 48  # pixels from one hole to the next
_RIM = 2  # pixels around a hole whose mean it is compared with

#: Depths in pixels that are told apart: up to each of these, from those deeper than the one before.
DEPTHS = (1, 2, 4, 8, 12, 16, 32)

# Columns of the table with their formats.
_COLUMNS = {"width": "", "rms": ".1f", "left": ".2f", **{f"depth ≤ {depth}": ".2f" for depth in DEPTHS}}
_NOTE = "squared error over that of the mean around a hole, in all of it and by the depth in pixels"


def measure_width(pictures: Iterable[SetImage], width: int, effort: Effort) -> dict[str, Any]:
    """The row of a width: square holes in a part of each picture are restored and compared with the truth."""
    errors, plain, depth = [], [], []
    for picture in pictures:
        truth = picture.pixels()[BOX.place].astype(np.float64)
        missing = holes(truth.shape[:2], width)
        shown = np.where(missing[..., None], 0, truth).astype(np.uint8)
        image = inpaint(shown, missing, quality=effort.quality, threads=effort.threads).image
        errors.append(np.square(image - truth).mean(axis=2)[missing])
        plain.append(np.square(_fill_with_means(truth, missing, width) - truth).mean(axis=2)[missing])
        depth.append(depths(missing)[missing])
    error, other, deep = np.concatenate(errors), np.concatenate(plain), np.concatenate(depth)

    def left(part: NDArray[np.bool_]) -> float | None:
        return float(error[part].sum() / other[part].sum()) if part.any() else None

    shallow = (0, *DEPTHS[:-1])
    by_depth = (left((deep > low) & (deep <= high)) for low, high in zip(shallow, DEPTHS, strict=True))
    row = (Cell(f"{width}", width), float(np.sqrt(error.mean())), left(error >= 0), *by_depth)
    return dict(zip(_COLUMNS, row, strict=True))


def width_table(rows: Iterable[dict[str, Any]]) -> DataTable:
    """What is left of the scene, by the width of holes and the depth inside them."""
    return table_of("holes by their width", _COLUMNS, rows, _NOTE)


def holes(shape: tuple[int, ...], width: int) -> NDArray[np.bool_]:
    """Flags of square holes, as far apart as they are wide, or farther."""
    missing = np.zeros(shape[:2], np.bool_)
    for top, left in _places(missing.shape, width):
        missing[top : top + width, left : left + width] = True
    return missing


def _places(shape: tuple[int, ...], width: int) -> list[tuple[int, int]]:
    """The top left corners of holes."""
    step = max(2 * width, _LEAST_SPACE)
    rows, columns = (range((step - width) // 2, length - width - _RIM, step) for length in shape)
    return [(top, left) for top in rows for left in columns]


def _fill_with_means(
    truth: NDArray[np.float64], missing: NDArray[np.bool_], width: int
) -> NDArray[np.float64]:
    """The picture with every hole filled by the mean around it."""
    filled = truth.copy()
    for top, left in _places(missing.shape, width):
        around = (slice(top - _RIM, top + width + _RIM), slice(left - _RIM, left + width + _RIM))
        filled[top : top + width, left : left + width] = truth[around][~missing[around]].mean(axis=0)
    return filled
