"""The parts of a report. Another one is a subclass of `Part` in `evaluation/measure/` and a line here."""

from ..measure.benchmark import Part
from ..measure.convert import ConvertPart
from ..measure.demosaic import DemosaicPart
from ..measure.errors import ErrorPart
from ..measure.inpaint import InpaintPart
from ..measure.noise import NoisePart
from ..measure.paper import PaperPart
from ..measure.results import Results
from ..measure.speed import SpeedPart
from ..measure.store import ReportFile, Store
from ..measure.tensors import TensorPart

_ALL: tuple[type[Part], ...] = (
    *(DemosaicPart, TensorPart, NoisePart, InpaintPart),
    *(ErrorPart, SpeedPart, ConvertPart, PaperPart),
)
PARTS: dict[str, type[Part]] = {part.name: part for part in _ALL}


def kept_results(file: ReportFile) -> dict[str, Results]:
    """The results of all parts that a report has, revived from their plans."""
    plans = {name: plan for name in PARTS if (plan := file.get(f"{name} plan"))}
    return {
        name: Results.of(Store(file, PARTS[name].revived(plan), {}), stamped=False)
        for name, plan in plans.items()
    }
