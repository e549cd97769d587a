"""Blemishes looked for in a picture file instead of, or besides, those that a mask marks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import ndimage

from demosaic_ntc.arrays import Flags
from demosaic_ntc.detection.blemishes import find_blemishes
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.mask_rule import Detection
from demosaic_ntc.images.picture import FULL, DecodedImage
from demosaic_ntc.images.png_writing import write_png
from demosaic_ntc.io.atomic import check_new, check_target, whole_file
from demosaic_ntc.io.pixels import ignore_share, orient

_CORNERS = np.ones((3, 3), np.bool_)


@dataclass(frozen=True, slots=True)
class Detected:
    """What was found."""

    kinds: tuple[str, ...]
    blemishes: int
    share: float  # of the picture's pixels

    def __str__(self) -> str:
        """What a user is told."""
        names = " or ".join(self.kinds)
        if not self.blemishes:
            return f"no {names} found; a higher `sensitivity` finds more"
        blemishes = "1 blemish" if self.blemishes == 1 else f"{self.blemishes} blemishes"
        return f"{blemishes} found ({names}), {self.share:.2%} of the picture"


def detect(picture: DecodedImage, detection: Detection) -> tuple[Flags, Detected]:
    """Look for blemishes: their pixels, as the picture is stored, and what to say of them."""
    flags = find_blemishes(picture.colours, detection.kinds, detection.sensitivity)
    _, count = ndimage.label(flags, _CORNERS)
    return flags, Detected(detection.kinds, int(count), float(flags.mean()))


def check_mask_target(target: Path, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a place for a mask that it could not be written to."""
    if target.suffix.lower() != ".png":
        raise InputError(f"{target}: a mask is a PNG; give a name that ends in .png")
    check_new(target, overwrite=overwrite)
    check_target(target)


@contextmanager
def mask_written_beside(
    target: Path, flags: Flags, picture: DecodedImage, *, overwrite: bool
) -> Iterator[None]:
    """Write flags of a picture's pixels as a mask of the picture as it is seen, white and black.

    It appears when the block, in which its picture is written, ends without an error.
    """
    levels = orient(flags, picture.orientation).astype(np.uint8) * np.uint8(FULL)
    with whole_file(target, overwrite=overwrite) as file:
        write_png(file, levels, None, None, ignore_share)
        yield
