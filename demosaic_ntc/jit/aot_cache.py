"""Kernels that come with the program: compiled when its wheel was built, so that newcomers do not wait.

They are files beside this one, in a folder that is named after all that their code depends on: Python, Numba,
the system and the contents of the kernels' sources. A wheel that is installed where these differ has no
folder of the right name, and a checkout has none at all: kernels are then compiled as ever. The code is made
for a level of processors instead of one; a processor that lacks any part of the level is never given it. Each
file carries a digest: what does not agree with it is passed over, and one line says so.
"""
# mypy: allow-untyped-calls

import pickle
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import codegen
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

from demosaic_ntc.jit.kernel_cache import CheckedCache, digest_sources, seal, unseal, warn
from demosaic_ntc.jit.loading import rebuild

#: Where the wheel has them.
ROOT = Path(__file__).parent / "shipped_kernels"

#: What their code is made for, by LLVM's name: processors with AVX2.
LEVEL = "x86-64-v3"

# What the level takes beyond what every processor of 64 bits has.
_NEEDED = {
    *("+avx", "+avx2", "+bmi", "+bmi2", "+cx16", "+f16c", "+fma", "+lzcnt", "+movbe", "+popcnt"),
    *("+sahf", "+sse3", "+sse4.1", "+sse4.2", "+ssse3", "+xsave"),
}

_config: Any = numba.config
_TEXT = 6  # the place, in what Numba keeps of a kernel, of a listing with the paths of sources


class ShippedCache(CheckedCache):
    """The forms of a kernel that came with the program, then those that are kept.

    Where there is nothing for some types, `await_form` may see to it that there is; it tells whether it has.
    """

    await_form: Callable[[tuple[Any, ...]], bool] | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What came or was kept for these types, perhaps after a wait; None where there is nothing."""
        found = super().load_overload(sig, target_context)
        if found is None and self.await_form is not None and self.await_form(sig):
            found = super().load_overload(sig, target_context)
        return found

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        return _rebuilt(self._py_func, sig, target_context) or super()._load_overload(sig, target_context)


class UnkeptCache(FunctionCache):
    """The same where no folder can be written: whatever did not come with the program is compiled anew."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function

    @property
    def cache_path(self) -> None:
        """Nowhere."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What came with the program for these types, if anything."""
        rtsys.initialize(target_context)
        return _rebuilt(self._py_func, sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Say, once, why every run starts slowly."""
        _say_unkept()


def is_shipped(function: Callable[..., Any], types: tuple[Any, ...]) -> bool:
    """Tell whether a kernel for these types came with the program, fits this machine and is sound."""
    return _content(function, types) is not None


def write_shipped(folder: Path, function: Callable[..., Any], types: tuple[Any, ...], kept: Any) -> None:
    """Put what Numba keeps of a kernel among those that come with the program."""
    folder.mkdir(parents=True, exist_ok=True)
    _path(folder, function, types).write_bytes(seal((*kept[:_TEXT], "", *kept[_TEXT + 1 :])))


@cache
def folder() -> Path | None:
    """Return where the kernels are that fit this machine, if they came."""
    has_choice = _config.CPU_NAME is not None or _config.CPU_FEATURES is not None
    if has_choice or not ROOT.is_dir() or not fits_this_machine():
        return None
    found = ROOT / key()
    return found if found.is_dir() else None


def fits_this_machine() -> bool:
    """Tell whether this processor has all that code of the level takes, and may use it."""
    return set(codegen.get_host_cpu_features().split(",")) >= _NEEDED


def key() -> str:
    """Return a name for all that code of the level depends on."""
    python = [sys.implementation.cache_tag, sys.abiflags]
    facts = [LEVEL, *python, numba.__version__, llvm.get_process_triple(), str(_config.USING_SVML)]
    digest = sha256("\n".join([*facts, digest_sources()]).encode())
    return f"{LEVEL}-{digest.hexdigest()[:16]}"


def _path(place: Path, function: Callable[..., Any], types: tuple[Any, ...]) -> Path:
    """The file of a kernel for some types."""
    kind = sha256(repr(tuple(types)).encode()).hexdigest()[:12]
    return place / f"{function.__module__}.{function.__qualname__}-{kind}.kernel"


def _content(function: Callable[..., Any], types: tuple[Any, ...]) -> bytes | None:
    """What the file of a kernel holds; None where there is none, or one that is damaged."""
    place = folder()
    if place is None:
        return None
    try:
        return unseal(_path(place, function, types).read_bytes())
    except FileNotFoundError:
        return None
    except Exception:
        _say_damaged(place)
        return None


def _rebuilt(function: Callable[..., Any], types: tuple[Any, ...], target_context: Any) -> Any:
    """A kernel that came with the program, ready to be called; None if none can be used."""
    content = _content(function, types)
    try:
        return content and rebuild(target_context, pickle.loads(content))
    except Exception:
        _say_damaged(ROOT)
        return None


@cache
def _say_damaged(place: Path) -> None:
    """Say, once, what is wrong."""
    warn(f"{place}: kernels that came with the program are damaged, others are compiled; install it again")


@cache
def _say_unkept() -> None:
    """Say, once, why every run starts slowly."""
    warn(
        "no folder can be written to keep compiled kernels, so every run compiles them anew; "
        "set NUMBA_CACHE_DIR to a folder that can"
    )
