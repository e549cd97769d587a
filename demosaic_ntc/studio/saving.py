"""Where results go: beside the original under a name of their own, or over it if that was said."""

import os
from collections.abc import Collection
from itertools import chain
from pathlib import Path

import numpy as np

from demosaic_ntc.arrays import Flags
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.writing import repair_format
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.studio.canvas.tile_images import flags_png
from demosaic_ntc.studio.work.repairing import BACK

_ENDING = "_repaired"
MASK_ENDING = ".mask.png"  # what batches look for beside a picture
LIST_ENDING = ".bad-pixels.txt"

_MOST_LISTED = 1_000_000  # bad pixels, by far: sensors have some hundreds

NEW, REPLACE, ORIGINAL = "new", "replace", "original"


def target_for(
    source: Path, suffix: str, place: str, ending: str = _ENDING, taken: Collection[Path] = ()
) -> Path:
    """Where a result goes: a name that is free, the usual one whatever lies there, or the original's own."""
    usual = source.with_name(f"{source.stem}{ending}.{suffix}")
    if place == ORIGINAL:
        if repair_format(source) != repair_format(usual):
            raise InputError(f"{source.name} can only be replaced in its own format; choose that one")
        return source
    if place == REPLACE:
        return usual
    return free(usual, taken)


def raw_target_for(
    source: Path, suffix: str, place: str, last: Path | None, taken: Collection[Path] = ()
) -> Path:
    """Where a raw's picture goes: its name is that of the camera's own picture, which is never replaced."""
    if place == REPLACE and last is not None and last.suffix == f".{suffix}":
        return last
    target = target_for(source, suffix, place, "", taken)
    if place == REPLACE and os.path.lexists(target):
        raise InputError(f"{target.name} was not made here; save a new file")
    return target


def check_list(count: int) -> None:
    """Refuse to list more pixels than lists are read with."""
    if count > _MOST_LISTED:
        raise InputError(f"{count} pixels are marked, of a raw at most {_MOST_LISTED} can be; erase some")


def free(wished: Path, taken: Collection[Path] = ()) -> Path:
    """The path, with a number if something lies there or will."""
    numbered = (wished.with_name(f"{wished.stem}-{n}{wished.suffix}") for n in range(2, 10_000))
    return next(path for path in chain([wished], numbered) if not os.path.lexists(path) and path not in taken)


def write_mask(target: Path, flags: Flags) -> None:
    """Write a mask of the picture as it is seen."""
    content = flags_png(flags)
    with whole_file(target, overwrite=True) as file:
        file.write(content)


def write_bad_pixels(target: Path, flags: Flags, orientation: int) -> None:
    """Write the marked pixels of a raw as a list, `column row` as the sensor lies."""
    places = np.argwhere(orient(flags, BACK.get(orientation, orientation)))
    lines = "".join(f"{column} {row}\n" for row, column in places)
    with whole_file(target, overwrite=True) as file:
        file.write(b"# column row, painted in demosaic-ntc studio\n" + lines.encode())


def copy(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    with whole_file(target, overwrite=True) as file:
        file.write(source.read_bytes())
