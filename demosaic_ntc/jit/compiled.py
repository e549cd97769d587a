"""The one way kernels are compiled: lazily, cached where a folder can be written, without the GIL."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
import numba

from demosaic_ntc.jit.aot_cache import ShippedCache, UnkeptCache, is_shipped

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function of arrays and scalars on its first call; division by zero follows numpy."""
    return _compile(function, fastmath=False)


def fast_kernel(function: Function) -> Function:
    """Like `kernel`, with sums reordered for speed: only where no NaN or infinity can appear."""
    return _compile(function, fastmath=True)


def step(function: Function) -> Function:
    """Like `kernel`, for what kernels call thousands of times: it may neither make nor return arrays.

    Numba counts who holds an array wherever a part of it is named, by an instruction that all processors are
    told of. Here nothing is counted: who calls holds all arrays for as long as the call takes.
    """
    return _compile(function, fastmath=False, counts=False)


def fast_step(function: Function) -> Function:
    """Like `step`, with sums reordered for speed as in `fast_kernel`."""
    return _compile(function, fastmath=True, counts=False)


def _compile(function: Function, fastmath: bool, counts: bool = True) -> Function:
    """Compile with a cache where there is room for one.

    Numba looks for a cache folder while decorating and fails at import where none can be written
    (read-only install, no home folder); such a kernel came with the program or is compiled in every process.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "_nrt": counts}
    compiled: Any = numba.njit(cache=False, **options)(function)
    if hasattr(compiled, "_cache"):  # one that is not to be compiled is a plain function
        try:
            compiled._cache = ShippedCache(function)
        except (RuntimeError, OSError):
            compiled._cache = UnkeptCache(function)
    return cast(Function, compiled)


def compile_for(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Have a kernel ready for arguments of these types: from the cache, else compiled and put there."""
    dispatcher: Any = kernel
    dispatcher.compile(tuple(map(numba.typeof, arguments)))


def comes_compiled(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    """Tell whether a kernel for arguments of these types came with the program."""
    function = getattr(kernel, "py_func", None)  # a kernel that is not to be compiled is a plain function
    return function is not None and is_shipped(function, tuple(map(numba.typeof, arguments)))


def iterate_forms(kernel: Callable[..., Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the types that a kernel was loaded for in this process, with what Numba keeps of it for them."""
    dispatcher: Any = kernel
    for types in dispatcher.signatures:
        yield types, dispatcher._cache.read_form(types, dispatcher.targetctx.codegen())


def cache_folder(kernel: Callable[..., Any]) -> Path | None:
    """Return where a kernel is kept once it is compiled, if anywhere."""
    statistics = getattr(kernel, "stats", None)  # a kernel that is not to be compiled is a plain function
    path = getattr(statistics, "cache_path", None)
    return None if path is None else Path(path)


def target_machine() -> str:
    """Return what compiled code depends on besides its source."""
    features = sorted(name for name, has in llvm.get_host_cpu_features().items() if has)
    return " ".join([numba.__version__, llvm.get_process_triple(), llvm.get_host_cpu_name(), *features])
