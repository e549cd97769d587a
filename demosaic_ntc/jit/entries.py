"""The kernels that Python calls, each with the types that it is called with: known where it is defined."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from demosaic_ntc.jit.aot_cache import is_shipped
from demosaic_ntc.jit.kernel_cache import CheckedCache, kernel_sources


@dataclass(frozen=True)
class Entry:
    """A kernel that Python calls, for the types of its arguments."""

    kernel: Any
    types: tuple[Any, ...]
    is_rare: bool  # few pictures need it

    @property
    def name(self) -> str:
        """Its name, by which another process finds it."""
        return f"{self.module}:{self.kernel.py_func.__qualname__}"

    @property
    def module(self) -> str:
        """The module it is defined in. Kernels of a module share what they call."""
        return str(self.kernel.py_func.__module__)

    @cached_property
    def work(self) -> int:
        """How much there is to compile: the instructions of the kernel and of all that it calls."""
        return sum(len(function.__code__.co_code) for function in _reach(self.kernel.py_func, set()))

    @property
    def is_shipped(self) -> bool:
        """Whether it came with the program, for this machine."""
        return is_shipped(self.kernel.py_func, self.types)

    @property
    def can_be_kept(self) -> bool:
        """Whether there is a folder to keep it."""
        return isinstance(self.kernel._cache, CheckedCache)

    @property
    def is_ready(self) -> bool:
        """Whether it came with the program or is kept."""
        return self.is_shipped or (self.can_be_kept and self._is_kept())

    def _is_kept(self) -> bool:
        """Whether an earlier compilation of it is of use."""
        return bool(self.kernel._cache.has_form(self.types, self.kernel.targetctx.codegen()))

    def compile(self) -> None:
        """Have it ready in this process: loaded, else compiled and kept."""
        self.kernel.compile(self.types)


#: The entries of all modules that are loaded, by name.
loaded: dict[str, Entry] = {}


def load_all() -> list[Entry]:
    """Load every module with kernels and return their entries."""
    root = Path(__file__).parents[2]
    for path in kernel_sources():
        import_module(".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"))
    return list(loaded.values())


def _reach(function: Callable[..., Any], seen: set[Callable[..., Any]]) -> set[Callable[..., Any]]:
    """Return a function and all compiled functions that it calls, besides those that were seen."""
    seen.add(function)
    for name in function.__code__.co_names:
        called = getattr(function.__globals__.get(name), "py_func", None)
        if called is not None and called not in seen:
            _reach(called, seen)
    return seen
