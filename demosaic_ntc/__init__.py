"""Demosaicing and inpainting by nonnegative tensor completion over a 0-1 polytope.

The names below are all of the public interface. They are loaded when first used, so that the command
line answers before the compiled parts are needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demosaic_ntc.imaging.demosaic import demosaic
    from demosaic_ntc.imaging.inpaint import inpaint
    from demosaic_ntc.imaging.restored import Restored
    from demosaic_ntc.ntc.complete import complete
    from demosaic_ntc.ntc.estimator import NonnegativeTensorCompletion
    from demosaic_ntc.ntc.solution import Certificate, LeastRadius, Solution, Status

_HOME = {
    "Certificate": "demosaic_ntc.ntc.solution",
    "LeastRadius": "demosaic_ntc.ntc.solution",
    "NonnegativeTensorCompletion": "demosaic_ntc.ntc.estimator",
    "Restored": "demosaic_ntc.imaging.restored",
    "Solution": "demosaic_ntc.ntc.solution",
    "Status": "demosaic_ntc.ntc.solution",
    "complete": "demosaic_ntc.ntc.complete",
    "demosaic": "demosaic_ntc.imaging.demosaic",
    "inpaint": "demosaic_ntc.imaging.inpaint",
}

__all__ = [
    "Certificate",
    "LeastRadius",
    "NonnegativeTensorCompletion",
    "Restored",
    "Solution",
    "Status",
    "complete",
    "demosaic",
    "inpaint",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in _HOME:
        raise AttributeError(f"module 'demosaic_ntc' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
