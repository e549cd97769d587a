"""What the stages of the engine cost on mosaics of benchmark pictures, on one thread."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.checks import QUALITIES
from demosaic_ntc.imaging.demosaic import demosaic

from ..methods.method import Method, named, picked
from .case import Case, Measured, Row
from .likeness import Bytes
from .part import Part
from .protocol import engine, machine, versions
from .stages import stage_seconds

CFA = Cfa.named("RGGB")
_WARM_UP = 64  # the side of the part that is worked on untimed


def efforts(names: Collection[str]) -> list[Method]:
    """The qualities of these names."""
    return picked(named(map(_effort, QUALITIES)), names)


def _effort(name: Any) -> Method:
    """A quality."""
    return Method(name, engine(), "ours", lambda mosaic: demosaic(mosaic, CFA, quality=name, threads=1))


@dataclass(frozen=True)
class SpeedPart(Part):
    """Which qualities are measured on which pictures."""

    name = "speed"
    keys = ("quality", "settings", "sha256")

    def depends(self, method: Method, task: None) -> Row:
        """The quality, which is the method."""
        return {"quality": method.name}

    def warm_up(self, case: Case, loaded: Bytes) -> object:
        """Work on a small part."""
        return case.method.run(CFA.sample(loaded[:_WARM_UP, :_WARM_UP]))

    def measure(self, case: Case, loaded: Bytes) -> Measured:
        """Note the CPU seconds of the stages."""
        mosaic = CFA.sample(loaded)
        stages = stage_seconds(lambda: case.method.run(mosaic))
        return Measured({"megapixels": mosaic.size / 1e6, "stages": stages, "machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
        """How the figures are made."""
        return {
            "versions": versions(),
            "mosaics": "RGGB samples of the 8-bit pictures as they are, one thread; kernels are compiled "
            "before",
            "stages": "CPU seconds of their threads; trials, calm places and the prior with all that they "
            "call, prediction with what it adds up",
            **{f"quality {method.name}": method.settings for method in self.methods},
        }
