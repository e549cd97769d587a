"""Demosaicing of other colour arrays than Bayer's, on the same pictures: X-Trans and Quad-Bayer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ..data.sets import ImageSet
from ..report.drawing import Drawing
from ..report.gallery import Gallery
from .benchmark import Figure
from .demosaic import DemosaicBenchmark
from .results import Results

# What is worth its time on arrays that few programs know.
_METHODS = "gaussian,gaussian-fast,blend,bilinear"


@dataclass(frozen=True)
class _ArrayBenchmark(DemosaicBenchmark):
    """Ours and those that know an array, on whole pictures."""

    own_array: ClassVar[str] = ""
    peers: ClassVar[str] = ""  # beside ours

    @classmethod
    def of(  # type: ignore[override]
        cls,
        sets: Sequence[ImageSet],
        methods: str | None = None,
        crop: int = 10,
        quality: Any = "normal",
        threads: int = 1,
    ) -> Self:
        names = _METHODS + cls.peers if methods is None else methods
        return super().of(sets, names, cls.own_array, crop, quality, threads)

    @property
    def looks(self) -> list[Figure]:
        """None: reports show those of Bayer's array."""
        return []

    def drawings(self, results: Results, gallery: Gallery) -> Iterable[Drawing]:  # type: ignore[override]
        """None."""
        return ()


@dataclass(frozen=True)
class XTransBenchmark(_ArrayBenchmark):
    """Fujifilm's array."""

    name = "xtrans"
    prefix = "X-Trans, "
    own_array = "XTRANS"
    peers = ",libraw-markesteijn-3"


@dataclass(frozen=True)
class QuadBenchmark(_ArrayBenchmark):
    """Bayer's array of two by two pixels each, as phones have it."""

    name = "quad"
    prefix = "Quad-Bayer, "
    own_array = "QUAD_RGGB"
