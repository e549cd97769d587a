"""Demosaicing and inpainting by nonnegative tensor completion over a 0-1 polytope.

The names below are all of the public interface. They are loaded when first used, so that the command
line answers before the compiled parts are needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demosaic_ntc.batch.batch import run_batch
    from demosaic_ntc.batch.job import Tally
    from demosaic_ntc.batch.spec import BatchTask, Rules, Workers
    from demosaic_ntc.demosaicing.burst.demosaic_burst import MergedBurst, demosaic_burst
    from demosaic_ntc.demosaicing.demosaic import demosaic
    from demosaic_ntc.detection.blemishes import find_blemishes
    from demosaic_ntc.detection.infrared import find_dust_in_infrared
    from demosaic_ntc.developing.repair_settings import RepairSettings
    from demosaic_ntc.developing.settings import Development, Engine, Merging, Output, Settings
    from demosaic_ntc.engine.result import Restored
    from demosaic_ntc.images.mask_rule import MaskRule
    from demosaic_ntc.inpainting.inpaint import inpaint
    from demosaic_ntc.ntc.array import complete_array
    from demosaic_ntc.ntc.complete import complete
    from demosaic_ntc.ntc.estimator import NonnegativeTensorCompletion
    from demosaic_ntc.ntc.solution import Certificate, LeastRadius, Solution, Status
    from demosaic_ntc.raw.levels import GreyPatch
    from demosaic_ntc.raw.temperature import Temperature
    from demosaic_ntc.workflows.api import Developed, Merged, develop, merge, read_mosaic

_HOME = {
    "BatchTask": "demosaic_ntc.batch.spec",
    "Certificate": "demosaic_ntc.ntc.solution",
    "Developed": "demosaic_ntc.workflows.api",
    "Development": "demosaic_ntc.developing.settings",
    "Engine": "demosaic_ntc.developing.settings",
    "GreyPatch": "demosaic_ntc.raw.levels",
    "LeastRadius": "demosaic_ntc.ntc.solution",
    "MaskRule": "demosaic_ntc.images.mask_rule",
    "Merged": "demosaic_ntc.workflows.api",
    "MergedBurst": "demosaic_ntc.demosaicing.burst.demosaic_burst",
    "Merging": "demosaic_ntc.developing.settings",
    "NonnegativeTensorCompletion": "demosaic_ntc.ntc.estimator",
    "Output": "demosaic_ntc.developing.settings",
    "RepairSettings": "demosaic_ntc.developing.repair_settings",
    "Restored": "demosaic_ntc.engine.result",
    "Rules": "demosaic_ntc.batch.spec",
    "Settings": "demosaic_ntc.developing.settings",
    "Solution": "demosaic_ntc.ntc.solution",
    "Status": "demosaic_ntc.ntc.solution",
    "Tally": "demosaic_ntc.batch.job",
    "Temperature": "demosaic_ntc.raw.temperature",
    "Workers": "demosaic_ntc.batch.spec",
    "complete": "demosaic_ntc.ntc.complete",
    "complete_array": "demosaic_ntc.ntc.array",
    "demosaic": "demosaic_ntc.demosaicing.demosaic",
    "demosaic_burst": "demosaic_ntc.demosaicing.burst.demosaic_burst",
    "develop": "demosaic_ntc.workflows.api",
    "find_blemishes": "demosaic_ntc.detection.blemishes",
    "find_dust_in_infrared": "demosaic_ntc.detection.infrared",
    "inpaint": "demosaic_ntc.inpainting.inpaint",
    "merge": "demosaic_ntc.workflows.api",
    "read_mosaic": "demosaic_ntc.workflows.api",
    "run_batch": "demosaic_ntc.batch.batch",
}

__all__ = [
    "BatchTask",
    "Certificate",
    "Developed",
    "Development",
    "Engine",
    "GreyPatch",
    "LeastRadius",
    "MaskRule",
    "Merged",
    "MergedBurst",
    "Merging",
    "NonnegativeTensorCompletion",
    "Output",
    "RepairSettings",
    "Restored",
    "Rules",
    "Settings",
    "Solution",
    "Status",
    "Tally",
    "Temperature",
    "Workers",
    "__version__",
    "complete",
    "complete_array",
    "demosaic",
    "demosaic_burst",
    "develop",
    "find_blemishes",
    "find_dust_in_infrared",
    "inpaint",
    "merge",
    "read_mosaic",
    "run_batch",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 (slow to load; hardly asked for)

        return version("demosaic-ntc")
    if name not in _HOME:
        raise AttributeError(f"module 'demosaic_ntc' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
