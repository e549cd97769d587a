"""The mask of a picture as it is painted: changed by steps that can be undone; flags in files, as bits."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demosaic_ntc.arrays import Flags
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.mask import grow_flags
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.studio.canvas.boxes import PixelBox
from demosaic_ntc.studio.canvas.pyramid import Pyramid, brightest
from demosaic_ntc.studio.canvas.tile_images import Bytes

_MARKED = np.uint8(255)
_MOST_STEPS = 500  # that can be undone

Change = Callable[[Flags], Flags]


@dataclass(frozen=True, slots=True)
class _Step:
    """What has changed: the bits of a box, compressed; the same again undoes it."""

    box: PixelBox
    flipped: bytes

    @classmethod
    def of(cls, box: PixelBox, changed: Flags) -> "_Step":
        """The step that changes these flags of a box."""
        return cls(box, zlib.compress(np.packbits(changed).tobytes(), 1))

    def toggle(self, flags: Flags) -> Flags:
        """The flags of the box before, from those after, or the other way round."""
        bits = np.frombuffer(zlib.decompress(self.flipped), np.uint8)
        return flags ^ np.unpackbits(bits, count=flags.size).astype(np.bool_).reshape(flags.shape)


class Mask:
    """Flags of all pixels, as the picture is seen, with the steps that led there."""

    def __init__(self, folder: Path, size: tuple[int, int], least_level: int = 0) -> None:
        self.size = size
        self.pyramid = Pyramid.empty(folder, size, brightest, least_level)
        self.version = 0
        self.count = 0
        self._done: list[_Step] = []
        self._undone: list[_Step] = []

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to take again."""
        return bool(self._undone)

    def flags(self, box: PixelBox | None = None) -> Flags:
        """The flags of a box, or of all pixels, as a copy."""
        part: Bytes = self.pyramid.finest[(box or PixelBox.of(self.size)).slices]
        return part > 0

    def add(self, box: PixelBox, marked: Flags) -> PixelBox:
        """Mark pixels of a box; return what has changed."""
        return self._step(box, lambda flags: flags | marked)

    def erase(self, box: PixelBox, marked: Flags) -> PixelBox:
        """Unmark pixels of a box; return what has changed."""
        return self._step(box, lambda flags: flags & ~marked)

    def clear(self) -> PixelBox:
        """Unmark everything."""
        return self._step(PixelBox.of(self.size), np.zeros_like)

    def invert(self) -> PixelBox:
        """Mark what is not, and nothing else."""
        return self._step(PixelBox.of(self.size), np.logical_not)

    def grow(self, pixels: int) -> PixelBox:
        """Mark what lies within some pixels of what is marked; return what may have changed."""
        rows, columns = (np.flatnonzero((self.pyramid.finest > 0).any(axis=axis)) for axis in (1, 0))
        if not rows.size:
            raise InputError("nothing is marked; paint over what is to be repaired")
        ends = (rows[0] - pixels, rows[-1] + 1 + pixels, columns[0] - pixels, columns[-1] + 1 + pixels)
        box = PixelBox(*map(int, ends)).within(self.size)
        return self._step(box, lambda flags: grow_flags(flags, pixels))

    def replace(self, marked: Flags) -> PixelBox:
        """Mark these pixels and no others."""
        return self._step(PixelBox.of(self.size), lambda flags: marked)

    def undo(self) -> PixelBox:
        """Take the last step back."""
        return self._turn(self._done, self._undone, "undo")

    def redo(self) -> PixelBox:
        """Take the step again that was taken back last."""
        return self._turn(self._undone, self._done, "redo")

    def _turn(self, source: list[_Step], target: list[_Step], verb: str) -> PixelBox:
        if not source:
            raise InputError(f"there is nothing to {verb}; draw something first")
        step = source.pop()
        self._write(step.box, step.toggle(self.flags(step.box)))
        target.append(step)
        return step.box

    def _step(self, box: PixelBox, change: Change) -> PixelBox:
        before = self.flags(box)
        after = change(before)
        changed = before ^ after
        if changed.any():
            self._done = [*self._done[1 - _MOST_STEPS :], _Step.of(box, changed)]
            self._undone = []
            self._write(box, after)
        return box

    def _write(self, box: PixelBox, flags: Flags) -> None:
        part = self.pyramid.finest[box.slices]
        self.count += int(np.count_nonzero(flags)) - int(np.count_nonzero(part))
        np.multiply(flags, _MARKED, out=part)
        self.pyramid.renew(box)
        self.version += 1


def write_flags(target: Path, **flags: Flags) -> None:
    """Write flags (height, width) under their names, whole or not at all."""
    packed: dict[str, Any] = {name: np.packbits(each) for name, each in flags.items()}
    sizes: dict[str, Any] = {f"{name}_size": np.array(each.shape) for name, each in flags.items()}
    with whole_file(target, overwrite=True) as file:
        np.savez(file, **packed, **sizes)


def read_flags(source: Path, name: str) -> Flags:
    """Read flags that were written under a name."""
    with np.load(source, allow_pickle=False) as stored:
        height, width = (int(side) for side in stored[f"{name}_size"])
        bits = np.unpackbits(stored[name], count=height * width)
    return bits.astype(np.bool_).reshape(height, width)
