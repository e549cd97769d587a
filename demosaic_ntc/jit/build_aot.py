"""What `make wheel` runs: kernels compiled for a level of processors, to come with the program.

`python -m demosaic_ntc.jit.build_aot` fills the folder in which `demosaic_ntc.jit.aot_cache` looks. The
kernels are compiled as they are for one machine, but into a cache of their own: those of pictures for the
types that stand beside them, those of tensors by completing one.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from demosaic_ntc.jit import aot_cache
from demosaic_ntc.jit.compiled import iterate_forms
from demosaic_ntc.jit.entries import load_all
from demosaic_ntc.jit.precompile import prepare_all

_COMPLETING = "from demosaic_ntc.jit.build_aot import complete_tensors; complete_tensors()"
_FILLING = "from demosaic_ntc.jit.build_aot import fill; fill()"


def main() -> None:
    """Fill the folder from processes that take the level for their processor, if this one has all of it."""
    if not aot_cache.fits_this_machine():
        return
    level = {"NUMBA_CPU_NAME": aot_cache.LEVEL, "NUMBA_CPU_FEATURES": ""}
    with TemporaryDirectory(prefix="demosaic-ntc-kernels-") as cache:
        environment = {**os.environ, **level, "NUMBA_CACHE_DIR": cache}
        for code in (_COMPLETING, _FILLING):
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def complete_tensors() -> None:
    """Complete a small tensor of ones and zeros in all usual ways."""
    from demosaic_ntc import complete  # noqa: PLC0415 (as anybody would: nothing here depends on it)

    generator = np.random.default_rng(0)
    index = generator.integers(0, 8, (200, 3))
    value = (index.min(axis=1) > 1).astype(np.float64)
    for radius in (1.0, "least", "auto"):
        complete((8, 8, 8), index, value, radius=radius)


def fill() -> None:
    """Put what is called from Python where the program will look; what it calls in turn is part of it."""
    prepare_all()
    for entry in load_all():
        entry.compile()
    complete_tensors()  # which were compiled by another process: here only what is called is loaded
    folder = aot_cache.ROOT / aot_cache.key()
    for kernel in _kernels():
        for types, kept in iterate_forms(kernel):
            aot_cache.write_shipped(folder, kernel.py_func, types, kept)


def _kernels() -> Iterator[Any]:
    """All kernels of modules that are loaded, each where it is defined."""
    for name, module in list(sys.modules.items()):
        for each in list(vars(module).values()) if name.startswith("demosaic_ntc.") else ():
            function: Callable[..., Any] | None = getattr(each, "py_func", None)
            if function is not None and function.__module__ == name:
                yield each


if __name__ == "__main__":
    main()
