"""Several mosaics of one scene, merged: a tensor of one order more, of which each frame shows a third.

The reference frame is demosaiced by itself. The samples of all frames are then compared with that picture,
each at its own place, and groups of similar patches are predicted from all of them together. Further passes
start from the better picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from demosaic_ntc.arrays import Bits, Flags, Float32, Planes
from demosaic_ntc.choices import Ghosts, MotionKind
from demosaic_ntc.demosaicing.burst.agreement import find_ghosts
from demosaic_ntc.demosaicing.burst.alignment import add_flow, align
from demosaic_ntc.demosaicing.burst.coarse_alignment import align_coarsely, draw_grey
from demosaic_ntc.demosaicing.burst.information_kernels import LANCZOS, add_information
from demosaic_ntc.demosaicing.burst.motion import (
    Motion,
    average_cells,
    list_variances,
    read_frame,
    view_picture,
)
from demosaic_ntc.demosaicing.burst.motion_kernels import CELL, ReferenceView
from demosaic_ntc.demosaicing.burst.outliers import leave_out_outliers
from demosaic_ntc.demosaicing.group_demosaic import Effort, MeasuredMosaic, complete_mosaic
from demosaic_ntc.engine.pass_tables import BURSTS
from demosaic_ntc.engine.passes import ObservedPixels
from demosaic_ntc.engine.restore import Estimate, MaskedPass, restore
from demosaic_ntc.engine.result import StoredPicture
from demosaic_ntc.engine.tiles import Windowed, row_bands
from demosaic_ntc.errors import InputError
from demosaic_ntc.run import Run

_LEAST_SHARE = 0.2  # of a frame's cells that must agree for it to be used
_RESTLESS = 0.95  # share of cells that agree below which parts of a frame may have moved by themselves
_GAIN = 0.03  # of the cells by which a flow must let more agree to be kept


@dataclass(frozen=True, slots=True)
class FrameReport:
    """What became of a frame."""

    shift: tuple[float, float]  # rows and columns, of the centre
    rotation: float  # degrees
    share: float  # of the frame that agrees with the reference
    is_used: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Aligned:
    """A frame, where it lies, and where it disagrees."""

    mosaic: MeasuredMosaic
    motion: Motion
    rejected: Bits  # (rows, columns) of cells


def merge_mosaics(
    frames: Sequence[MeasuredMosaic],
    reference: int,
    quality: str,
    run: Run,
    *,
    motion: MotionKind = "auto",
    ghosts: Ghosts = "normal",
) -> tuple[StoredPicture, list[FrameReport]]:
    """Return the picture of the reference frame, made from all frames, and a report of each frame.

    A single frame is demosaiced as `complete_mosaic` does it.
    """
    _check_alike(frames)
    motions = _find_starts(frames, reference, motion)
    if len(frames) > 1 and ghosts != "off":
        lone = leave_out_outliers(frames, reference, motions, run)
        frames = [lone if k == reference else each for k, each in enumerate(frames)]
    base, effort = frames[reference], Effort.of("gaussian", quality)
    alone = complete_mosaic(base, effort, replace(run, want_error=True) if len(frames) > 1 else run)
    own = FrameReport((0.0, 0.0), 0.0, 1.0, True)
    if len(frames) == 1:
        return alone, [own]
    errors = np.stack([average_cells(plane) for plane in alone.variance])
    if not run.want_error:
        alone = replace(alone, variance=np.zeros((0, 0, 0), np.float32))
    estimate = Estimate(alone.planes, alone.variance)
    passes = BURSTS[quality]
    for number, step in enumerate(passes):
        stage = run.stage("merging").part(number / len(passes), (number + 1) / len(passes))
        planes = _read_planes(estimate.planes)
        view = view_picture(planes, errors)
        aligned = [
            _align_frame(each, view, start, motion, ghosts, run, is_reference=k == reference)
            for k, (each, start) in enumerate(zip(frames, motions, strict=True))
        ]
        motions = [each.motion for each in aligned]
        used = [each for each in aligned if _share(each) >= _LEAST_SHARE or each.mosaic is base]
        known = _observe(base, view, used)
        wanted = _find_informed(used, base, planes.shape[1:])
        works = [MaskedPass(step, wanted)]
        estimate, _, _ = restore(estimate, known, works, stage)
        if run.deadline.is_over():
            break
    shape = base.samples.shape[1:]
    reports = [
        FrameReport(each.motion.shift(shape), each.motion.rotation, _share(each), each in used)
        for each in aligned
    ]
    return replace(alone, planes=estimate.planes, variance=estimate.variance), reports


def _read_planes(stored: Windowed) -> Planes:
    """Return a picture as an array, which stays as it is while what is stored is overwritten."""
    planes = np.empty(stored.shape, np.float32)
    for rows in row_bands(planes.shape[1]):
        planes[:, rows] = stored[:, rows, :]
    return planes


def find_sharpest(frames: Sequence[MeasuredMosaic]) -> int:
    """Return which frame shows most detail: the one whose neighbouring cells differ most."""
    return int(np.argmax([_measure_sharpness(draw_grey(each)) for each in frames]))


def _measure_sharpness(grey: Float32) -> float:
    """Return the mean squared difference between neighbouring pixels."""
    return float(np.mean(np.square(np.diff(grey, axis=0))) + np.mean(np.square(np.diff(grey, axis=1))))


def _check_alike(frames: Sequence[MeasuredMosaic]) -> None:
    """Raise unless all frames have one size and one colour array."""
    first = frames[0]
    for number, each in enumerate(frames, 1):
        if each.samples.shape != first.samples.shape or each.cfa != first.cfa:
            raise InputError(f"frame {number} has another size or colour array than the first")
    if not first.cfa.is_bayer:
        raise InputError(f"frames of the array {first.cfa.name} cannot be merged yet; those of Bayer's can")


def _find_starts(frames: Sequence[MeasuredMosaic], reference: int, motion: MotionKind) -> list[Motion]:
    """Return where frames lie, within a pixel or two."""
    if motion == "none" or len(frames) == 1:
        return [Motion() for _ in frames]
    fixed, side = draw_grey(frames[reference]), max(frames[reference].cfa.period)
    return [
        Motion() if k == reference else align_coarsely(draw_grey(each), fixed, side)
        for k, each in enumerate(frames)
    ]


def _align_frame(
    frame: MeasuredMosaic,
    view: ReferenceView,
    start: Motion,
    motion: MotionKind,
    ghosts: Ghosts,
    run: Run,
    *,
    is_reference: bool,
) -> _Aligned:
    """Align a frame and find where it disagrees with the picture; the reference frame never does."""
    cells = view.detail.shape[1:]
    if is_reference:
        return _Aligned(frame, Motion(), np.zeros(cells, np.uint8))
    place = start
    if motion != "none":
        place = align(frame, view, start, run).snap(frame.samples.shape[1:])
    found = _Aligned(frame, place, find_ghosts(frame, view, place, ghosts, run))
    if motion != "auto" or _share(found) > _RESTLESS:
        return found
    flowing = add_flow(frame, view, place, run)
    other = _Aligned(frame, flowing, find_ghosts(frame, view, flowing, ghosts, run))
    return other if _share(other) > _share(found) + _GAIN else found


def _share(frame: _Aligned) -> float:
    """Return the share of cells in which a frame agrees."""
    return 1 - float(frame.rejected.mean())


@dataclass(frozen=True, slots=True, eq=False)
class _Information:
    """What frames tell of the picture, made as it is read: information, then weights."""

    frames: Sequence[_Aligned]
    view: ReferenceView

    @property
    def shape(self) -> tuple[int, int, int]:
        """Twice the channels, height and width."""
        channels, height, width = self.view.planes.shape
        return 2 * channels, height, width

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return 2 * self.view.planes.size

    def __getitem__(self, place: tuple[slice, slice, slice], /) -> Planes:
        """Return some rows and columns."""
        _, height, width = self.shape
        rows = slice(*place[1].indices(height)[:2])
        told = np.zeros((self.shape[0], rows.stop - rows.start, width), np.float32)
        for each in self.frames:
            source = each.motion.source_rows(rows, (height, width))
            if source.start < source.stop:
                part = read_frame(each.mosaic, each.motion, source)
                add_information(part, self.view, LANCZOS, each.rejected, rows.start, told)
        return told[:, :, place[2]]


def _observe(base: MeasuredMosaic, view: ReferenceView, frames: Sequence[_Aligned]) -> ObservedPixels:
    """Return what frames tell of the picture."""
    shape = base.samples.shape[1:]
    ranges = [each.mosaic.samples.extremes(each.mosaic.cfa, each.mosaic.missing) for each in frames]
    low, high = np.min([each[0] for each in ranges], axis=0), np.max([each[1] for each in ranges], axis=0)
    nothing, depth = np.broadcast_to(np.uint8(0), shape), np.broadcast_to(np.uint8(1), shape)
    noise = list_variances(base) / np.float32(len(frames))
    return ObservedPixels(nothing, depth, low, high, noise, _Information(frames, view))


def _find_informed(frames: Sequence[_Aligned], base: MeasuredMosaic, shape: tuple[int, int]) -> Flags:
    """Return the pixels that other frames inform; elsewhere the reference frame's own picture stays."""
    told = np.zeros(shape, np.bool_)
    for each in frames:
        if each.mosaic is not base:
            cells = each.rejected == 0
            told |= np.repeat(np.repeat(cells, CELL, 0), CELL, 1)[: shape[0], : shape[1]]
    return told
