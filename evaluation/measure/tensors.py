"""Completions of the plain tensor of a mosaic, height × width × 3, beside ours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from demosaic_ntc.viewer.crops import Box

from .. import split_names
from ..data.sets import ImageSet, check_crop
from ..methods import demosaicers
from ..methods.method import Effort, pick_methods
from ..report.drawing import Drawing
from ..report.gallery import Gallery
from .benchmark import Figure, fit_box
from .demosaic import DemosaicBenchmark
from .results import Results

# The part of each picture on which plain tensors are completed.
_COMPLETED = (128, 128, 128, 128)


@dataclass(frozen=True)
class TensorBenchmark(DemosaicBenchmark):
    """Completions of plain tensors beside ours, on a small part of each picture: they take long."""

    name = "tensors"
    prefix = "Plain tensors, "
    keys = (*DemosaicBenchmark.keys, "place")
    box: Box | None = None  # type: ignore[misc]

    @classmethod
    def of(  # type: ignore[override]
        cls,
        sets: Sequence[ImageSet],
        methods: str | None = None,
        box: Box | None = None,
        crop: int = 10,
        quality: Any = "normal",
        threads: int = 1,
    ) -> Self:
        """Without a box on one that all pictures have; all of them where one is small."""
        names = (
            ("gaussian", "ntc", "bilinear", *demosaicers.TENSORS) if methods is None else split_names(methods)
        )
        chosen = pick_methods(demosaicers.catalogue(Effort(quality, threads)), names)
        check_crop(sets, crop)
        return cls(tuple(sets), tuple(chosen), "RG/GB", crop, box or fit_box(_COMPLETED, sets))

    @property
    def looks(self) -> list[Figure]:
        """None: such pictures are not worth a look."""
        return []

    @property
    def protocol(self) -> dict[str, str]:
        return super().protocol | {"part": f"left,top,width,height of each picture {self.place}"}

    def conditions(self, each: ImageSet, machines: str) -> str:
        return f"{super().conditions(each, machines)}, part {self.place}"

    def drawings(self, results: Results, gallery: Gallery) -> Iterable[Drawing]:  # type: ignore[override]
        """None."""
        return ()
