"""Where compiled kernels are kept: by Numba's means, but whatever is wrong there costs no more than time.

Numba believes what it finds: an empty or cut file ends the program, a damaged one may be run. Here every file
carries a digest of what it holds; what does not agree is compiled anew and written over. A file is named
after the types it is compiled for, so that two processes that compile at once never take one for another's.
What cannot be written is not kept. One line says so.

Kernels are inlined into those that call them, so what is kept is of use only as long as no source of any
kernel changes.
"""
# mypy: allow-untyped-calls

import pickle
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from demosaic_ntc.jit.loading import rebuild

_DIGEST_BYTES = 32

# How the warning starts.
NOT_KEPT = "compiled kernels cannot be kept"


class DamagedCacheFile(OSError):
    """A file of the cache is not what was written."""


class CheckedCache(FunctionCache):
    """The kept forms of one kernel."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Find the folder; raises RuntimeError where none can be written."""
        super().__init__(function)
        base, stamp = self._impl.filename_base, (self._impl.locator.get_source_stamp(), digest_sources())
        # Names of our own: what Numba itself has kept there carries no digest.
        self._cache_file: _CheckedFiles = _CheckedFiles(self._cache_path, f"{base}.checked", stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept for these types; None where there is nothing, or nothing that can be used."""
        rtsys.initialize(target_context)
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:
            _say_damaged(self._cache_path)
            return None

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        kept = self.read_form(sig, target_context.codegen())
        return None if kept is None else rebuild(target_context, kept)

    def has_form(self, types: tuple[Any, ...], codegen: Any) -> bool:
        """Tell whether something is kept for these types."""
        return self._cache_file.has(self._index_key(types, codegen))

    def read_form(self, types: tuple[Any, ...], codegen: Any) -> Any:
        """What was written of the kernel for these types, not yet made into code."""
        return self._cache_file.load(self._index_key(types, codegen))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            _say_not_kept(str(Path(self._cache_path).parent), reason)


class _CheckedFiles(IndexDataCacheFile):
    """Files that carry a digest."""

    def save(self, key: Any, data: Any) -> None:
        """Write a kernel, then the index that names it."""
        number = int.from_bytes(sha256(repr(key).encode()).digest()[:6], "big")
        name = self._data_name(number)
        self._save_data(name, data)
        overloads = self._load_index()
        if overloads.get(key) != name:
            overloads[key] = name
            self._save_index(overloads)

    def has(self, key: Any) -> bool:
        """Tell whether there is a file of a kernel."""
        name = self._load_index().get(key)
        return name is not None and Path(self._data_path(name)).is_file()

    def _dump(self, obj: Any) -> bytes:
        """What is written of an object."""
        return seal(obj)

    def _load_index(self) -> Any:
        """The names of files by what they are compiled for; none where the index is of no use."""
        start = pickle.dumps(self._version, protocol=-1)
        try:
            content = Path(self._index_path).read_bytes()
            if content and not content.startswith(start):
                pickle.loads(content)  # another version's is no news, anything else is damage
                return {}
            stamp, overloads = pickle.loads(unseal(content[len(start) :]))
        except FileNotFoundError:
            return {}
        except Exception:
            _say_damaged(self._cache_path)
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        """A compiled kernel; Numba passes over what raises an OSError."""
        try:
            return pickle.loads(unseal(Path(self._data_path(name)).read_bytes()))
        except FileNotFoundError:
            raise
        except Exception as error:
            _say_damaged(self._cache_path)
            raise DamagedCacheFile(name) from error


def kernel_sources() -> Iterator[Path]:
    """Yield the files that kernels are made of, in order."""
    root = Path(__file__).parents[1]
    yield from sorted(
        {root / "jit" / "compiled.py", *root.rglob("*kernels*.py"), *root.rglob("*kernels/*.py")}
    )


@cache
def digest_sources() -> str:
    """Return what changes with the contents of any source of kernels."""
    digest = sha256()
    for path in kernel_sources():
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def seal(obj: Any) -> bytes:
    """What is written of an object: a digest, then what it is of."""
    payload: bytes = dumps(obj)
    return sha256(payload).digest() + payload


def unseal(content: bytes) -> bytes:
    """What a file holds after its digest, or an error if it is not as it was written."""
    digest, payload = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if sha256(payload).digest() != digest:
        raise DamagedCacheFile
    return payload


@cache
def _say_damaged(folder: str) -> None:
    """Say, once, what is wrong."""
    warn(f"{folder}: compiled kernels kept here are damaged; they are compiled anew and written again")


@cache
def _say_not_kept(folder: str, reason: str) -> None:
    """Say, once, why the next run will start slowly."""
    words = f"{NOT_KEPT} in {folder} ({reason})"
    warn(f"{words}; every run compiles them anew, set NUMBA_CACHE_DIR to a folder with room")


def warn(message: str) -> None:
    """Warn without pointing to a line of source."""
    warnings.warn(message, RuntimeWarning, stacklevel=1)
