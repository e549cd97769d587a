"""What becomes of wide holes: the engine's smooth estimate, or texture copied from the picture itself.

Of a large picture with small holes, nothing is copied but the part that a repair looks at.
"""

from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Flags, Planes
from demosaic_ntc.engine.result import CopiedPixels
from demosaic_ntc.inpainting.regions import find_damaged_regions
from demosaic_ntc.inpainting.texture.fill import WIDTHS, fill_part
from demosaic_ntc.inpainting.texture.parts import Box, WidePart, find_parts, region_of
from demosaic_ntc.run import Progress, Run

# Squared errors of what was copied, in variances of what is around. Texture that has nothing to do with the
# truth but its distribution would have 2. Wide on purpose: `benchmark texture-fill` finds .57 to .79 of it.
_SQUARED_ERROR = np.float32(1.5)
_RING = 16  # pixels around a wide part whose variance counts


@dataclass(frozen=True, slots=True, eq=False)
class WideFill:
    """How wide holes are filled: smoothly, with texture, or by their width, and what may be copied."""

    fill: str = "smooth"
    source: Flags | None = None  # (height, width); everything known if there is none

    def find_parts(self, missing: Flags) -> list[WidePart]:
        """Return the parts of holes that get texture."""
        return list(find_parts(missing, WIDTHS[self.fill])) if self.fill in WIDTHS else []


def fill_wide(
    parts: list[WidePart],
    planes: Planes,
    variance: Planes,
    missing: Flags,
    source: Flags | None,
    run: Run,
) -> CopiedPixels | None:
    """Copy texture into wide parts of a repaired picture, in place, and return what was copied.

    ``planes`` and their expected squared errors, which may be empty, are (channels, height, width); what is
    ``missing`` in any channel is not copied. Parts for which there is no source, or no time, stay smooth.
    """
    copied = []
    for number, part in enumerate(parts):
        run.progress(Progress("texture", number, len(parts)))
        made = None if run.deadline.is_over() else fill_part(part, planes, missing, source, run)
        if made is not None:
            copied.append(made)
            if variance.size:
                _expect_errors(part, planes, variance, missing)
    if parts:
        run.progress(Progress("texture", len(parts), len(parts)))
    if not copied:
        return None
    return CopiedPixels(
        *(np.concatenate([getattr(each, name) for each in copied]) for name in ("targets", "sources"))
    )


def describe_copied(
    parts: list[WidePart], copied: CopiedPixels | None, restored: int, timely: bool
) -> tuple[str, ...]:
    """Return what a user should know of texture: how much of it there is, or why there is none."""
    count = 0 if copied is None else copied.count
    if timely and count < sum(int(np.count_nonzero(part.flags)) for part in parts):
        smooth = ("there is nothing to copy texture from; such holes are filled smoothly",)
        return tell_copied(count, restored) + smooth
    return tell_copied(count, restored)


def tell_copied(count: int, restored: int) -> tuple[str, ...]:
    """Return what a user should know of so many copied pixels among those restored."""
    if count == 0:
        return ()
    share = "less than 1%" if count < 0.01 * restored else f"{count / restored:.0%}"
    return (
        f"{share} of what was restored is texture copied from elsewhere in the picture: it looks "
        "plausible, but is neither measured nor certified",
    )


def _expect_errors(part: WidePart, planes: Planes, variance: Planes, missing: Flags) -> None:
    """Write the squared errors expected of a part that was copied: nothing is known but how colours vary."""
    box = tuple(slice(max(axis.start - _RING, 0), axis.stop + _RING) for axis in part.box)
    known = ~missing[box]
    for plane, errors in zip(planes, variance, strict=True):
        around = plane[box][known]
        spread = around.var() if around.size else plane[~missing].var()
        inner = errors[part.box]
        inner[part.flags] += _SQUARED_ERROR * spread


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
