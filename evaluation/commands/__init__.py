"""The commands ``demosaic-ntc benchmark …``: measurements beside the published ones.

They import what they need when they run: help must answer at once, and threads of libraries are bound before
these are loaded.
"""

from collections.abc import Callable
from typing import Any

from .costs import convert, speed
from .everything import everything, report
from .paper import paper
from .pictures import demosaic, errors, inpaint, noise, tensors
from .studies import blemishes, defects, looks, studio, widths

COMMANDS: dict[str, Callable[..., Any]] = {
    "paper": paper,
    "all": everything,
    "report": report,
    "demosaic": demosaic,
    "tensors": tensors,
    "inpaint": inpaint,
    "errors": errors,
    "noise": noise,
    "defects": defects,
    "blemishes": blemishes,
    "widths": widths,
    "convert": convert,
    "speed": speed,
    "looks": looks,
    "studio": studio,
}
