"""Numba in a hurry: kernels compiled in half the time, in a process that will never call them.

Numba turns every function that a kernel calls, its own and those of a few hundred built-in ones, into a whole
program: optimised, with an entrance for Python and one for C, translated into machine code, cached. Then it
copies them into the kernel that calls them and optimises all of it once more. Nobody will ever enter
the inner ones from outside, so here only the outermost is finished. Its code is the same but for the order of
sums in kernels that allow it to change.

This reaches into Numba, of which other versions may differ: then kernels take longer to compile, no more.
"""

from collections.abc import Callable
from typing import Any

from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core import caching, codegen, cpu, dispatcher

_PARTS = (
    (dispatcher.Dispatcher, "compile"),
    (codegen.CPUCodeLibrary, "_optimize_final_module"),
    (codegen.JITCPUCodegen, "_add_module"),
    (codegen.JITCodeLibrary, "_finalize_specific"),
    (cpu.CPUContext, "get_executable"),
    (cpu.CPUContext, "create_cpython_wrapper"),
    (cpu.CPUContext, "create_cfunc_wrapper"),
    (caching.FunctionCache, "save_overload"),
)


def finish_outermost_only() -> bool:
    """From now on compile what is called by a kernel no further than needed to put it into the kernel.

    No kernel may be called in this process afterwards. Return whether this Numba can be told.
    """
    if not all(hasattr(owner, name) for owner, name in _PARTS):
        return False
    depth = _Depth()
    for owner, name in _PARTS:
        before = getattr(owner, name)
        if name == "compile":
            setattr(owner, name, depth.counting(before))
        else:
            setattr(owner, name, depth.choosing(before, _INSTEAD.get(name, _nothing)))
    return True


class _Depth:
    """How many compilations are under way, one in the other."""

    def __init__(self) -> None:
        self._depth = 0

    def counting(self, compiling: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that compiles and is counted.

        Numba would compile a function anew for every constant that it is called with.
        """

        def counted(function: Any, wanted: Any) -> Any:
            self._depth += 1
            try:
                return compiling(function, tuple(map(types.unliteral, wanted)))
            finally:
                self._depth -= 1

        return counted

    def choosing(self, outermost: Callable[..., Any], inner: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does one thing for the outermost compilation and another for inner ones."""

        def chosen(*arguments: Any, **named: Any) -> Any:
            return (outermost if self._depth <= 1 else inner)(*arguments, **named)

        return chosen


def _nothing(*_arguments: Any, **_named: Any) -> None:
    """Leave it."""


def _without_code(_context: Any, library: Any, description: Any, environment: Any) -> Any:
    """Return what stands for a compiled function, with no machine code behind it."""
    library._ensure_finalized()
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))


_INSTEAD = {"get_executable": _without_code}
