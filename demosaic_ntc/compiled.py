"""The one way kernels are compiled: lazily, cached where a folder can be written, without the GIL."""

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
import numba

from demosaic_ntc.kernel_cache import SoundCache

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function of arrays and scalars on its first call; division by zero follows numpy."""
    return _compiled(function, fastmath=False)


def fast_kernel(function: Function) -> Function:
    """Like `kernel`, with sums reordered for speed: only where no NaN or infinity can appear."""
    return _compiled(function, fastmath=True)


def step(function: Function) -> Function:
    """Like `kernel`, for what kernels call thousands of times: it may neither make nor return arrays.

    Numba counts who holds an array wherever a part of it is named, by an instruction that all processors are
    told of. Here nothing is counted: who calls holds all arrays for as long as the call takes.
    """
    return _compiled(function, fastmath=False, counts=False)


def fast_step(function: Function) -> Function:
    """Like `step`, with sums reordered for speed as in `fast_kernel`."""
    return _compiled(function, fastmath=True, counts=False)


def _compiled(function: Function, fastmath: bool, counts: bool = True) -> Function:
    """Compile with a cache where there is room for one.

    Numba looks for a cache folder while decorating and fails at import where none can be written
    (read-only install, no home folder); such a kernel is compiled anew in every process instead.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "_nrt": counts}
    compiled: Any = numba.njit(cache=False, **options)(function)
    if hasattr(compiled, "_cache"):  # one that is not to be compiled is a plain function
        try:
            compiled._cache = SoundCache(function)
        except (RuntimeError, OSError):
            _warn_of_compiling_anew()
    return cast(Function, compiled)


@cache
def _warn_of_compiling_anew() -> None:
    """Say, once, why every run starts slowly."""
    warnings.warn(
        "no folder can be written to keep compiled kernels, so every run compiles them anew; "
        "set NUMBA_CACHE_DIR to a folder that can",
        RuntimeWarning,
        stacklevel=1,
    )


def compile_for(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Have a kernel ready for arguments of these types: from the cache, else compiled and put there."""
    dispatcher: Any = kernel
    dispatcher.compile(tuple(map(numba.typeof, arguments)))


def cache_folder(kernel: Callable[..., Any]) -> Path | None:
    """Return where a kernel is kept once it is compiled, if anywhere."""
    statistics = getattr(kernel, "stats", None)  # a kernel that is not to be compiled is a plain function
    path = getattr(statistics, "cache_path", None)
    return None if path is None else Path(path)


def target_machine() -> str:
    """Return what compiled code depends on besides its source."""
    features = sorted(name for name, has in llvm.get_host_cpu_features().items() if has)
    return " ".join([numba.__version__, llvm.get_process_triple(), llvm.get_host_cpu_name(), *features])
