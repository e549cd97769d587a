"""Lateral colour that is stated or known by a profile, corrected in the samples of a Bayer array.

Red and blue samples are moved to where green shows the same before anything is demosaiced; what moves pixels
later then moves all colours alike. Statements are round numbers for all lenses of a kind: what they leave is
found in the samples and added, so that every sample is moved once. A GoPro FUSION states a little more than
half of what its lens does.
"""

from dataclasses import replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.lens.correction import NOTHING_MOVED, LensCorrection, measure_moves
from demosaic_ntc.raw.chromatic_aberration import align_samples
from demosaic_ntc.raw.photo import GREEN, RawPhoto


def align_colours(
    photo: RawPhoto, lens: LensCorrection, missing: Flags | None, threads: int = 1
) -> tuple[RawPhoto, LensCorrection]:
    """The photo and its lens with lateral colour corrected in samples; as they are where there is none."""
    moved, apart = measure_moves(lens)
    if photo.cfa is None or not photo.cfa.is_bayer or apart <= NOTHING_MOVED:
        return photo, lens

    def find_offsets(rows: Float64, columns: Float64, channel: int) -> tuple[Float64, Float64]:
        return find_lateral_offsets(lens, rows, columns, channel)

    aligned, found = align_samples(photo, missing, find_offsets, threads)
    said = (
        f"the file's lateral colour leaves {found.red:+.3%} of red's radius and {found.blue:+.3%} of blue's"
    )
    return aligned, replace(
        lens,
        in_samples=lens.applied,
        warps=lens.warps if moved > NOTHING_MOVED else (),
        aligned=apart,
        remarks=(*lens.remarks, f"{said}; corrected as well") if found.red or found.blue else lens.remarks,
    )


def find_lateral_offsets(
    lens: LensCorrection, rows: Float64, columns: Float64, channel: int
) -> tuple[Float64, Float64]:
    """How far a colour lies from where green shows the same, at the centres of pixels.

    Light that green shows at p belongs at q, which is found in one step of Newton's method.
    """
    down, across = np.asarray(rows) + 0.5, np.asarray(columns) + 0.5
    y, x = lens.find_sources(down, across, GREEN)
    y, x = 2 * down - y, 2 * across - x
    own, green = lens.find_sources(y, x, channel), lens.find_sources(y, x, GREEN)
    return own[0] - green[0], own[1] - green[1]
