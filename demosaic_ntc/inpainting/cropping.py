"""The part of a picture that a repair looks at: of a large one with small holes, nothing else is copied."""

import numpy as np

from demosaic_ntc.arrays import Flags, Planes
from demosaic_ntc.inpainting.regions import find_damaged_regions
from demosaic_ntc.inpainting.texture.parts import Box, WidePart, region_of


def find_view(unknown: Flags, parts: list[WidePart], source: Flags | None) -> Box:
    """Return the least box that all damaged regions and wide parts see, with which they come out the same.

    ``unknown`` are (height, width) flags of what is missing in any channel. A region that sees nothing known
    takes the mean of the picture: then it is all of it.
    """
    whole = slice(0, unknown.shape[0]), slice(0, unknown.shape[1])
    seen = [region.seen for region in find_damaged_regions(unknown)]
    if not seen or any(unknown[box].all() for box in seen):
        return whole
    boxes = [*seen, *(region_of(part, unknown.shape, source) for part in parts)]
    rows, columns = (
        slice(min(box[axis].start for box in boxes), max(box[axis].stop for box in boxes)) for axis in (0, 1)
    )
    return rows, columns


def paste(values: Planes, box: Box, shape: tuple[int, ...]) -> Planes:
    """Return values (channels, height, width) of a box as those of a whole picture, zero elsewhere."""
    if values.shape[1:] == shape:
        return values
    whole = np.zeros((len(values), *shape), np.float32)
    whole[:, *box] = values
    return whole
