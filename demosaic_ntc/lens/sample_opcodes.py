"""Opcodes done to the samples of a photo before anything else: lists 1 and 2 without their smooth gains."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.lens.gains import is_smooth
from demosaic_ntc.raw.opcodes.area import Window
from demosaic_ntc.raw.opcodes.parameters import Opcode
from demosaic_ntc.raw.opcodes.pixel_opcodes import Gain, PixelOpcode
from demosaic_ntc.raw.opcodes.sensor_opcodes import BadPixelOpcode, FixBadPixelsConstant, TrimBounds
from demosaic_ntc.raw.photo import Box, RawPhoto

_FULL = 65535
_PEDESTAL = 2048  # black of samples that are stored anew, so that noise below it stays
_BAND = 64  # rows
_MOST_BAD = 0.005  # of all samples; where more are said to be bad, that is not believed


@dataclass(frozen=True, slots=True)
class PreparedSamples:
    """A photo whose samples went through its opcodes, and what is left for later."""

    photo: RawPhoto
    bad: Flags | None  # samples that the file calls bad
    gains: tuple[Gain, ...]  # smooth ones of list 2
    applied: tuple[str, ...]  # names of opcodes
    notices: tuple[str, ...] = ()
    is_flat: bool = False  # gains are those of flat frames


def prepare_samples(photo: RawPhoto, *, shading: bool, bad_pixels: bool) -> PreparedSamples:
    """Do what lists 1 and 2 ask for, and put off the smooth gains at the end of the second.

    Gains are left out without `shading`, what is said of bad samples without `bad_pixels`.
    """
    stated = photo.opcodes
    first, second = stated.stored.opcodes, stated.linear.opcodes
    if not first and not second:
        return PreparedSamples(photo, None, (), ())
    wanted = [opcode for opcode in second if shading or not isinstance(opcode, Gain)]
    bad, notices = _find_bad(photo, first, second) if bad_pixels else (None, ())
    photo, done = _apply_stored(photo, first)
    if done is None:
        notices, done = (*notices, "opcode list 1 is left out: samples are not as they were stored"), ()
    now, later = _split_gains(wanted, photo)
    if now:
        photo = _apply_linear(photo, now)
    photo = _trim(photo, first, stated.margins)
    photo = _trim(photo, second, (0, 0))
    if bad is not None:
        from demosaic_ntc.raw.bad_pixels import fill_bad_pixels  # noqa: PLC0415 (loads kernels; `info` does without)

        photo = fill_bad_pixels(photo, bad)
    names = [*done, *(opcode.name for opcode in (*now, *later))]
    return PreparedSamples(photo, bad, later, tuple(dict.fromkeys(names)), notices)


def _find_bad(
    photo: RawPhoto, first: Sequence[Opcode], second: Sequence[Opcode]
) -> tuple[Flags | None, tuple[str, ...]]:
    """Flags of the samples that opcodes call bad, where that is believed."""
    top, left = photo.opcodes.margins
    bad = np.zeros(photo.size, np.bool_)
    stored = photo.mosaic if photo.mosaic.ndim == 2 else photo.mosaic[..., 0]
    for opcode in first:
        if isinstance(opcode, FixBadPixelsConstant):
            bad |= opcode.find(stored)
        elif isinstance(opcode, BadPixelOpcode):
            bad |= opcode.shift(top, left).find(stored)
    for opcode in second:
        if isinstance(opcode, BadPixelOpcode) and not isinstance(opcode, FixBadPixelsConstant):
            bad |= opcode.find(stored)
    count = int(np.count_nonzero(bad))
    if count > _MOST_BAD * bad.size:
        return None, (f"the file calls {count} samples bad, too many to be true",)
    if count == 0:
        return None, ()
    return bad, (f"the file calls {count} samples bad; they were replaced (`bad_pixels=off` keeps them)",)


def _apply_stored(photo: RawPhoto, opcodes: Sequence[Opcode]) -> tuple[RawPhoto, tuple[str, ...] | None]:
    """The photo after list 1, and the names of what was done; None where that can not be."""
    wanted = [opcode for opcode in opcodes if isinstance(opcode, PixelOpcode)]
    if not wanted:
        return photo, ()
    if not photo.opcodes.is_stored:
        return photo, None
    top, left = photo.opcodes.margins
    mosaic = np.empty_like(photo.mosaic)
    height, width = photo.size
    for start in range(0, height, _BAND):
        rows = slice(start, min(start + _BAND, height))
        values = _with_planes(photo.mosaic[rows].astype(np.float32) / np.float32(_FULL))
        window = Window(
            slice(rows.start + top, rows.stop + top), slice(left, left + width), photo.opcodes.stored_size
        )
        for opcode in wanted:
            opcode.apply(values, window)
        mosaic[rows] = np.rint(np.clip(values, 0, 1) * _FULL).reshape(mosaic[rows].shape)
    return replace(photo, mosaic=mosaic), tuple(opcode.name for opcode in wanted)


def _split_gains(
    opcodes: Sequence[Opcode], photo: RawPhoto
) -> tuple[tuple[PixelOpcode, ...], tuple[Gain, ...]]:
    """The opcodes that samples go through, and the smooth gains at the end of the list."""
    period = (1, 1) if photo.cfa is None else photo.cfa.period
    pixel = [opcode for opcode in opcodes if isinstance(opcode, PixelOpcode)]
    gains = [
        opcode
        for opcode in takewhile(lambda each: isinstance(each, Gain), reversed(pixel))
        if isinstance(opcode, Gain)
    ]
    smooth = list(takewhile(lambda gain: is_smooth(gain, photo.size, period), gains))
    return tuple(pixel[: len(pixel) - len(smooth)]), tuple(reversed(smooth))


def _apply_linear(photo: RawPhoto, opcodes: Sequence[PixelOpcode]) -> RawPhoto:
    """The photo after opcodes of linear values, stored anew in all of 16 bits."""
    height, width = photo.size
    mosaic = np.empty_like(photo.mosaic)
    down, across = photo.black.shape[:2]
    for start in range(0, height, _BAND * down):
        rows = slice(start, min(start + _BAND * down, height))
        values = photo.mosaic[rows].astype(np.float32)
        black = np.tile(photo.black, (-(-len(values) // down), -(-width // across), 1)[: photo.black.ndim])
        black = black[: len(values), :width].astype(np.float32)
        values = _with_planes(np.asarray((values - black) / (np.float32(photo.white) - black), np.float32))
        for opcode in opcodes:
            opcode.apply(values, Window(rows, slice(0, width), photo.size))
        codes = np.rint(np.minimum(values, 1) * (_FULL - _PEDESTAL) + _PEDESTAL)
        mosaic[rows] = np.clip(codes, 0, _FULL).reshape(mosaic[rows].shape)
    black = np.full((1, 1, 3) if photo.is_linear else (1, 1), float(_PEDESTAL))
    return replace(photo, mosaic=mosaic, black=black, white=float(_FULL))


def _with_planes(values: Float32) -> Float32:
    """Values (rows, columns, planes)."""
    return values if values.ndim == 3 else values[..., None]


def _trim(photo: RawPhoto, opcodes: Sequence[Opcode], margins: tuple[int, int]) -> RawPhoto:
    """The photo whose own crop keeps within the bounds that opcodes set."""
    for bounds in (opcode for opcode in opcodes if isinstance(opcode, TrimBounds)):
        photo = replace(photo, camera_crop=trim_box(photo.frame("camera"), bounds, margins))
    return photo


def trim_box(box: Box, bounds: TrimBounds, margins: tuple[int, int] = (0, 0)) -> Box:
    """The part of a box within bounds; all of it where they leave nothing."""
    top, left = max(box.top, bounds.top - margins[0]), max(box.left, bounds.left - margins[1])
    bottom = min(box.top + box.height, bounds.bottom - margins[0])
    right = min(box.left + box.width, bounds.right - margins[1])
    return Box(top, left, bottom - top, right - left) if top < bottom and left < right else box
