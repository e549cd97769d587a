"""The commands ``demosaic-ntc benchmark …``: measurements beside the published ones.

They import what they need when they run: help must answer at once, and threads of libraries are bound before
these are loaded.
"""

from collections.abc import Callable
from typing import Any

from .benchmarks import completions, convert, demosaic, errors, inpaint, noise, paper, speed, tensors
from .merge import merge
from .raws import raws
from .run_all import measure_all, report
from .studies import (
    banding,
    blemishes,
    defects,
    effort,
    highlights,
    isolation,
    lenses,
    looks,
    start,
    studio,
    texture,
    widths,
)
from .texture_fill import texture_fill

_ALL: tuple[Callable[..., Any], ...] = (
    *(report, demosaic, tensors, completions, inpaint, errors, noise, defects, banding, lenses, blemishes),
    *(widths, texture_fill, convert, speed, effort, texture, highlights, looks, raws),
    *(merge, studio, start, isolation),
)
COMMANDS: dict[str, Callable[..., Any]] = {
    "paper": paper,
    "all": measure_all,
    **{command.__name__.replace("_", "-"): command for command in _ALL},
}
