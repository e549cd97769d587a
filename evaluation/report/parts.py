"""The parts of a report: what each measures, and how its results are shown.

Another part is a subclass of `Part` in `evaluation/measure/` and an entry here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..measure.convert import ConvertPart
from ..measure.demosaic import DemosaicPart, TensorPart
from ..measure.errors import ErrorPart
from ..measure.inpaint import InpaintPart
from ..measure.noise import NoisePart
from ..measure.paper import PaperPart
from ..measure.part import Part
from ..measure.results import Results
from ..measure.speed import SpeedPart
from ..measure.store import ReportFile, Store
from . import costs, demosaic, errors, inpaint, noise, paper
from .drawing import Drawing
from .gallery import Gallery
from .tables import DataTable


def no_drawings(results: Results, gallery: Gallery) -> Iterator[Drawing]:
    """Nothing is drawn."""
    yield from ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A kind of part with its tables, `tables(results, details=…)`, and its drawings."""

    kind: type[Part]
    tables: Callable[..., Iterator[DataTable]]
    drawings: Callable[[Results, Gallery], Iterator[Drawing]] = no_drawings


PARTS: dict[str, Shown] = {
    "demosaic": Shown(DemosaicPart, demosaic.tables, demosaic.drawings),
    "tensors": Shown(TensorPart, demosaic.tables),
    "noise": Shown(NoisePart, noise.tables),
    "inpaint": Shown(InpaintPart, inpaint.tables, inpaint.drawings),
    "errors": Shown(ErrorPart, errors.tables, errors.drawings),
    "speed": Shown(SpeedPart, costs.speed_tables),
    "convert": Shown(ConvertPart, costs.conversion_tables),
    "paper": Shown(PaperPart, paper.tables, paper.drawings),
}


def kept_results(file: ReportFile) -> dict[str, Results]:
    """The results of all parts that a report has, revived from their plans."""
    found = {}
    for name, shown in PARTS.items():
        if plan := file.get(f"{name} plan"):
            store = Store(file, shown.kind.revived(upgraded(plan)), {})
            found[name] = Results.of(store, stamped=False)
    return found


def upgraded(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan as it is described today; those of older files name some things otherwise."""
    plan = dict(plan)
    for old in ("efforts", "programs"):
        if old in plan:
            plan["methods"] = plan.pop(old)
    if "damages" in plan:
        damages = plan.pop("damages")
        plan |= {"masks": [each["mask"] for each in damages], **_place(damages[0], "seed")}
    if "noises" in plan:
        noises = plan.pop("noises")
        plan |= {"sigmas": [each["sigma"] for each in noises], **_place(noises[0], "poisson")}
    if "task" in next(iter(plan.get("methods", [])), {}):
        methods = plan.pop("methods")
        plan["tasks"] = [each["task"] for each in methods]
        plan["methods"] = [
            {"name": m["name"], "settings": m["settings"], "role": "ours"} for m in methods[:1]
        ]
    return plan if "settings" in plan else {"sets": [], **plan}


def _place(first: dict[str, Any], name: str) -> dict[str, Any]:
    """What all entries of an older plan share."""
    box = first["box"]
    return {name: first[name], "box": box and [box[side] for side in ("left", "top", "width", "height")]}
