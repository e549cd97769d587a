"""Demosaicing methods measured on pictures whose truth is known.

Each picture is sampled by the colour array as it is (8 bit, gamma-encoded, no noise), demosaiced, clipped and
rounded to 8 bit, and compared with itself.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from demosaic_ntc.imaging.cfa import Cfa

from ..data.crops import Box, part_of
from ..data.sets import Picture, PictureSet
from ..methods.method import Method
from .case import Case, Measured, Row, costed, proven
from .likeness import Bytes, comparable, cpsnr, likeness
from .part import Look, Part
from .protocol import versions

# The side of the crop on which a method runs untimed before it is measured.
_WARM_UP = 96


@dataclass(frozen=True)
class DemosaicPart(Part):
    """Which methods are compared on which pictures; likeness is taken inside the crop, or with crop 0."""

    name = "demosaic"
    keys: ClassVar[tuple[str, ...]] = ("method", "settings", "cfa", "crop", "sha256")
    unbounded = ("cpsnr", "cpsnr_crop0", "psnr_red", "psnr_green", "psnr_blue", "nmse")

    cfa: str = "RGGB"
    crop: int = 10
    box: ClassVar[Box | None] = None
    prefix: ClassVar[str] = ""  # of the titles of its tables

    @property
    def array(self) -> Cfa:
        """The colour array."""
        return Cfa.parse(self.cfa)

    def depends(self, method: Method, task: Any) -> Row:
        """The array and the crop."""
        return {"cfa": self.array.name, "crop": self.crop}

    def scene(self, each: PictureSet, picture: Picture, task: Any) -> str:
        """Every picture is one."""
        return picture.sha256

    def warm_up(self, case: Case, loaded: Bytes) -> object:
        """Run a method on the middle of a picture."""
        cfa = self.array
        starts = [
            (size - min(size, _WARM_UP)) // 2 // period * period
            for size, period in zip(loaded.shape[:2], cfa.period, strict=True)
        ]
        rows, columns = (slice(start, start + _WARM_UP) for start in starts)
        return case.method.run(cfa.sample(loaded[rows, columns]), cfa)

    def measure(self, case: Case, loaded: Bytes) -> Measured:
        """Run one method on one picture and compare the result with the truth."""
        cfa, truth = self.array, part_of(loaded, self.box)
        mosaic = cfa.sample(truth)
        restored, cost = costed(lambda: case.method.run(mosaic, cfa))
        picture = comparable(restored, truth)
        inside = likeness(picture, truth, self.crop)
        figures = {
            "height": truth.shape[0],
            "width": truth.shape[1],
            "cpsnr": inside.cpsnr,
            "cpsnr_crop0": cpsnr(picture, truth),
            "psnr_red": inside.red,
            "psnr_green": inside.green,
            "psnr_blue": inside.blue,
            "ssim": inside.ssim,
            "nmse": inside.nmse,
        }
        return Measured(figures | cost | proven(restored), restored)

    @property
    def csv_names(self) -> dict[str, str]:
        """The crop is in a column's name; with one of 10 the file can be given back as a reference."""
        return {"cpsnr": f"cpsnr_crop{self.crop}"} if self.crop else {}

    @property
    def looks(self) -> list[Look]:
        """Every picture."""
        return [
            Look(picture.sha256, f"{each.name} {picture.name}", picture, None, lambda p: {"truth": p})
            for each in self.sets
            for picture in each.pictures
        ]

    @property
    def protocol(self) -> dict[str, str]:
        """What holds for all sets."""
        cfa = self.array
        return {
            "mosaic": f"8-bit RGB sampled by {cfa.name} ({cfa.rows}), gamma-encoded as they are, no noise",
            "rounding": "results clipped to 0 … 255 and rounded to 8 bit before they are compared",
            "crop": f"{self.crop} pixels left out on each side, and 0 where it says so",
            "CPSNR": "peak 255, squared errors pooled over pixels and R, G, B; R, G, B: each channel's own",
            "SSIM": "scikit-image, Gaussian window of deviation 1.5, mean over pixels and channels",
            "NMSE": "sum of squared errors over sum of squares of the truth, all channels",
            "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
            "time": "wall and CPU seconds (all threads) per megapixel, from the 8-bit mosaic to the picture; "
            "kernels are compiled in an untimed call before; LibRaw's with a raw written and read in memory",
            "memory": "peak resident memory of the process during a call, interpreter and libraries included",
            "versions": versions("scikit-image", "rawpy", "opencv-python-headless", "colour-demosaicing"),
            **self.told,
        }

    def conditions(self, each: PictureSet, machines: str) -> str:
        """The conditions of one set's means in a line."""
        count = f"{len(each.pictures)} pictures"
        if each.left_out:
            count = f"{len(each.pictures)} of {each.size} pictures"
        return (
            f"{each.name}: {count} ({each.sizes}), {self.array.name}, crop {self.crop}, clipped and rounded "
            f"to 8 bit, mean over pictures of decibels, measured on {machines}"
        )


@dataclass(frozen=True)
class TensorPart(DemosaicPart):
    """Completions of plain tensors beside ours, on a small part of each picture: they take long."""

    name = "tensors"
    prefix = "Plain tensors, "
    keys = (*DemosaicPart.keys, "place")
    box: Box | None = None  # type: ignore[misc]

    @property
    def looks(self) -> list[Look]:
        """None: such pictures are not worth a look."""
        return []

    @property
    def protocol(self) -> dict[str, str]:
        """What holds for all sets."""
        return super().protocol | {"part": "left,top,width,height of each picture " + self._words}

    @property
    def _words(self) -> str:
        """The part in words."""
        return "whole" if self.box is None else ",".join(map(str, self.box))

    def depends(self, method: Method, task: Any) -> Row:
        """The array, the crop and the part."""
        return super().depends(method, task) | {"place": self._words}

    def conditions(self, each: PictureSet, machines: str) -> str:
        """The conditions of one set's means in a line."""
        return f"{super().conditions(each, machines)}, part {self._words}"
