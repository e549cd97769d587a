"""The parts of a report. Another is a subclass of `Benchmark` in `evaluation/measure/` and a line here."""

from ..bursts.part import MergeBenchmark
from ..measure.benchmark import Benchmark
from ..measure.completions import CompletionBenchmark
from ..measure.convert import ConvertBenchmark
from ..measure.demosaic import DemosaicBenchmark, QuadBenchmark, XTransBenchmark
from ..measure.errors import ErrorBenchmark
from ..measure.inpaint import InpaintBenchmark
from ..measure.noise import NoiseBenchmark, WholeNoiseBenchmark
from ..measure.paper import PaperBenchmark
from ..measure.results import Results
from ..measure.speed import SpeedBenchmark
from ..measure.store import ReportFile, Store
from ..measure.tensors import TensorBenchmark

_ALL: tuple[type[Benchmark], ...] = (
    *(DemosaicBenchmark, TensorBenchmark, NoiseBenchmark, InpaintBenchmark),
    *(ErrorBenchmark, SpeedBenchmark, ConvertBenchmark, PaperBenchmark),
    *(CompletionBenchmark, XTransBenchmark, QuadBenchmark, WholeNoiseBenchmark),
    MergeBenchmark,
)
PARTS: dict[str, type[Benchmark]] = {part.name: part for part in _ALL}


def load_results(file: ReportFile) -> dict[str, Results]:
    """The results of all parts that a report has, revived from their plans."""
    plans = {name: plan for name in PARTS if (plan := file.get(f"{name} plan"))}
    return {
        name: Results.of(Store(file, PARTS[name].from_plan(plan), {}), stamped=False)
        for name, plan in plans.items()
    }
