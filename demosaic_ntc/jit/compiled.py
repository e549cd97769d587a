"""The one way kernels are compiled: lazily, cached where a folder can be written, without the GIL.

Whoever calls a kernel need not know: it is loaded, compiled, or waited for while other processes compile it.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numba

from demosaic_ntc.jit import entries
from demosaic_ntc.jit.aot_cache import ShippedCache, UnkeptCache
from demosaic_ntc.jit.entries import Entry
from demosaic_ntc.jit.precompile import await_kernel

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
        compiled._compilation_chain_init_hook = _load_no_extensions
        try:
            compiled._cache = ShippedCache(function)
        except (RuntimeError, OSError):
            compiled._cache = UnkeptCache(function)
    return cast(Function, compiled)


def _load_no_extensions() -> None:
    """Kernels take none of the types that other libraries teach Numba; whoever compiles loads them still."""


def precompile(*types: Any, is_rare: bool = False) -> Callable[[Function], Function]:
    """Have the kernel below compiled for these types side by side with others, as soon as one is missing.

    That is for kernels that Python calls. One that few pictures need is compiled only when it is called.
    """

    def register(function: Function) -> Function:
        dispatcher: Any = function
        if hasattr(dispatcher, "_cache"):  # one that is not to be compiled is a plain function
            entry = Entry(dispatcher, types, is_rare)
            entries.loaded[entry.name] = entry
            dispatcher._cache.await_form = lambda wanted: wanted == types and await_kernel(entry)
        return function

    return register


def named_tuple(made: type, *fields: Any) -> Any:
    """Return the type of a named tuple with fields of these types."""
    return numba.types.BaseTuple.from_types(fields, made)


def iterate_forms(kernel: Callable[..., Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the types that a kernel was loaded for in this process, with what Numba keeps of it for them."""
    dispatcher: Any = kernel
    for types in dispatcher.signatures:
        yield types, dispatcher._cache.read_form(types, dispatcher.targetctx.codegen())
