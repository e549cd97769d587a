"""Calibration frames: raws of the same camera, read one by one, whose mean is kept for the next photo."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from demosaic_ntc.arrays import Float32
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.layout import Layout
from demosaic_ntc.raw.levels import replace_levels
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.reading import read_photo

Paths: TypeAlias = tuple[Path, ...]
Made = TypeVar("Made")

_EXPOSURES_ALIKE = 1.1  # times


@dataclass(frozen=True, slots=True)
class FrameReader:
    """How frames are read: as the photo that they are for."""

    layout: Layout
    limits: InputLimits
    black: tuple[float, ...] | None

    def read(self, path: Path) -> RawPhoto:
        """A frame, with the black level that was given for the photo."""
        return replace_levels(read_photo(path, self.layout, self.limits), self.black, "auto")


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """What frames have in common with the photo that they are for, as far as files tell."""

    size: tuple[int, int]
    array: str
    camera: str
    iso: float | None
    seconds: float | None

    @classmethod
    def of(cls, photo: RawPhoto) -> "FrameFacts":
        """Those of a photo."""
        facts = photo.exif.facts
        return cls(
            photo.size, photo.array_name, photo.exif.camera, facts.get("iso"), facts.get("exposure_seconds")
        )

    def check(self, path: Path, frame: "FrameFacts", kind: str) -> None:
        """Refuse a frame of another camera or size."""
        if frame.size != self.size or frame.array != self.array:
            raise InputError(
                f"{path}: is a {kind} of {frame.size[1]}×{frame.size[0]} pixels ({frame.array}), not of "
                f"{self.size[1]}×{self.size[0]} ({self.array}) as the photo; take it with the same camera"
            )
        if self.camera and frame.camera and frame.camera != self.camera:
            raise InputError(
                f"{path}: is a {kind} of {frame.camera}, the photo of {self.camera}; use the same camera"
            )

    def check_exposure(self, path: Path, frame: "FrameFacts", kind: str) -> None:
        """Refuse a frame of another ISO or exposure."""
        if self.iso and frame.iso and frame.iso != self.iso:
            raise InputError(
                f"{path}: is a {kind} at ISO {frame.iso:g}, the photo at ISO {self.iso:g}; take it at that"
            )
        if self.seconds and frame.seconds:
            ratio = max(self.seconds / frame.seconds, frame.seconds / self.seconds)
            if ratio > _EXPOSURES_ALIKE:
                raise InputError(
                    f"{path}: is a {kind} of {frame.seconds:g} s, the photo of {self.seconds:g} s; "
                    "expose it as long"
                )


def add_means(total: Float32 | None, frame: RawPhoto) -> Float32:
    """A running sum of the samples of frames above their black levels."""
    height, width = frame.size
    down, across = frame.black.shape[:2]
    black = np.tile(frame.black, (-(-height // down), -(-width // across)))[:height, :width]
    above = np.asarray(frame.mosaic - black.astype(np.float32), np.float32)
    return above if total is None else total + above


def remember(make: Callable[[Paths, FrameReader], Made]) -> Callable[[Paths, FrameReader], Made]:
    """Let a function make something of frames once for all photos, until a frame has changed.

    Nothing is kept but the last: frames are large.
    """
    made: dict[object, Made] = {}

    def look_up(paths: Paths, reader: FrameReader) -> Made:
        key = (paths, tuple(_signs(paths)), repr(reader))
        if key not in made:
            result = make(paths, reader)
            made.clear()
            made[key] = result
        return made[key]

    return look_up


def _signs(paths: Paths) -> Iterator[tuple[int, int] | None]:
    """What tells whether a file has changed; None where there is none, which its reader tells."""
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            yield None
        else:
            yield status.st_size, status.st_mtime_ns
