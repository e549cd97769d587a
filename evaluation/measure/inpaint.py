"""Inpainting methods measured on pictures whose truth is known.

Of each picture, or of a part of it, a mask takes pixels away, all channels at once and the same ones for
every method. Results are rounded to 8 bit and compared with the truth: over the whole part, as in the
literature, and over the missing pixels alone, which does not flatter masks that take little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np

from ..data.crops import Box, CropBox, part_of
from ..data.masks import Flags, make_mask
from ..data.sets import Picture, PictureSet
from ..methods.method import Method
from .case import Case, Measured, Row, costed, proven
from .likeness import Bytes, comparable, cpsnr, likeness
from .part import Look, Part
from .protocol import versions

# The side of the crop on which a method runs untimed before it is measured.
_WARM_UP = 96


@dataclass(frozen=True)
class InpaintPart(Part):
    """Which methods are compared on which pictures, or on a part of each, under which masks."""

    name = "inpaint"
    keys = ("method", "settings", "mask", "seed", "place", "sha256")
    stamps = ("mask_sha256",)  # of the flags themselves: a mask's file may have changed under its name
    unbounded = ("cpsnr", "psnr_missing")

    masks: tuple[str, ...] = ()
    seed: int = 0
    box: Box | None = None

    @property
    def place(self) -> str:
        """The part of the pictures in words."""
        return "whole" if self.box is None else ",".join(map(str, self.box))

    @property
    def work(self) -> Sequence[str]:
        """The masks."""
        return self.masks

    def depends(self, method: Method, task: str) -> Row:
        """The mask and the part."""
        return {"mask": task, "seed": self.seed, "place": self.place}

    def warmth(self, task: str) -> str:
        """The mask: others take other ways."""
        return task

    def scene(self, each: PictureSet, picture: Picture, task: str) -> str:
        """A mask on a picture."""
        return f"{each.name} {picture.sha256} {task}"

    def stamp(self, case: Case) -> Row:
        """The checksum of the mask."""
        shape = (case.source.height, case.source.width) if self.box is None else (self.box[3], self.box[2])
        return {"mask_sha256": _mask_sha256(case.task, shape, self.seed)}

    def warm_up(self, case: Case, loaded: Bytes) -> object:
        """Run a method on a small part with the same kind of mask."""
        part = np.ascontiguousarray(part_of(loaded, self.box)[:_WARM_UP, :_WARM_UP])
        return case.method.run(part, self._missing(case.task, part))

    def measure(self, case: Case, loaded: Bytes) -> Measured:
        """Run one method on one damaged picture and compare the result with the truth."""
        truth = part_of(loaded, self.box)
        missing = self._missing(case.task, truth)
        damaged = np.where(missing[..., None], 0, truth).astype(np.uint8)
        restored, cost = costed(lambda: case.method.run(damaged, missing))
        picture = comparable(restored, truth)
        whole = likeness(picture, truth, 0)
        figures = {
            "height": truth.shape[0],
            "width": truth.shape[1],
            "missing_share": float(missing.mean()),
            "cpsnr": whole.cpsnr,
            "psnr_missing": cpsnr(picture[missing], truth[missing]),
            "ssim": whole.ssim,
            "nmse": whole.nmse,
        }
        return Measured(figures | cost | proven(restored), restored)

    def _missing(self, mask: str, part: Bytes) -> Flags:
        """The pixels that are taken away from a part."""
        return make_mask(mask, (part.shape[0], part.shape[1]), self.seed)

    @property
    def looks(self) -> list[Look]:
        """Of each set every mask once, each on another picture."""
        frame = CropBox(*self.box) if self.box else None

        def look(each: PictureSet, number: int, mask: str) -> Look:
            picture = each.pictures[number % len(each.pictures)]
            key, name = self.scene(each, picture, mask), f"{picture.name}, {mask}"
            return Look(key, name, picture, frame, lambda pixels: self._versions(mask, pixels))

        return [look(each, *entry) for each in self.sets for entry in enumerate(self.masks)]

    def _versions(self, mask: str, pixels: Bytes) -> dict[str, Bytes]:
        """What is damaged, white where pixels are missing, and the truth."""
        truth = part_of(pixels, self.box)
        damaged = np.where(self._missing(mask, truth)[..., None], np.uint8(255), truth)
        return {"damaged": damaged, "truth": truth}

    @property
    def protocol(self) -> dict[str, str]:
        """What holds for all sets."""
        return {
            "masks": f"{', '.join(self.masks)}; drawn by seed {self.seed}, whole pixels, the same for all "
            "methods and for all pictures of one size",
            "part": "left,top,width,height " + self.place if self.box else "whole pictures",
            "rounding": "results clipped to 0 … 255 and rounded to 8 bit before they are compared",
            "PSNR": "peak 255, squared errors pooled over pixels and R, G, B; over the part with its known "
            "pixels, and over missing pixels alone",
            "SSIM": "scikit-image, Gaussian window of deviation 1.5, mean over pixels and channels",
            "NMSE": "sum of squared errors over sum of squares of the truth, over the part",
            "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
            "time": "wall and CPU seconds (all threads) per megapixel of the part, from the 8-bit picture to "
            "the result; kernels are compiled in an untimed call before",
            "memory": "peak resident memory of the process during a call, interpreter and libraries included",
            "versions": versions("scipy", "scikit-image", "opencv-python-headless"),
            **self.told,
        }

    def conditions(self, each: PictureSet, machines: str) -> str:
        """The conditions of one set's means in a line."""
        return (
            f"{each.name}: {len(each.pictures)} pictures, part {self.place}, seed {self.seed}, rounded to "
            f"8 bit, mean over pictures of decibels, measured on {machines}"
        )


@lru_cache
def _mask_sha256(mask: str, shape: tuple[int, int], seed: int) -> str:
    """The checksum of a mask and its shape; every case asks for it."""
    flags = make_mask(mask, shape, seed)
    return sha256(f"{flags.shape}".encode() + np.packbits(flags).tobytes()).hexdigest()
