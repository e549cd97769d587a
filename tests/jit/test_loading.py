"""Kernels that are loaded, not compiled: nothing of the compiler is, and others can still call them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from demosaic_ntc.jit import loading

ROOT = Path(__file__).resolve().parents[2]

_KERNELS = """
import numpy as np
from demosaic_ntc.jit.compiled import kernel

@kernel
def twice(values):
    return values * 2.0 + len(values)

@kernel
def sum_twice(values):
    return twice(values).sum()
"""

# Half of them is loaded; the other is compiled, and the loaded one is put into it.
_CALLS = """
import sys
import numpy as np
import kernels
values = np.arange(5.0)
print(kernels.twice(values).sum())
print("numba.np.linalg" in sys.modules, sum(kernels.twice.stats.cache_hits.values()))
if sys.argv[1:]:
    print(kernels.sum_twice(values), kernels.sum_twice.stats.cache_misses.total())
    library = kernels.twice.overloads[kernels.twice.signatures[0]].library
    print(library.get_pointer_to_function("nowhere"))
"""


def _run(folder: Path, *words: str) -> list[str]:
    """What a process says that uses the kernels."""
    paths = os.pathsep.join((str(folder), str(ROOT)))
    return subprocess.run(
        [sys.executable, "-c", _CALLS, *words],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a kernel is kept and another is not."""
    (tmp_path / "kernels.py").write_text(_KERNELS)
    assert _run(tmp_path) == ["45.0", "True 0"]
    return tmp_path


def test_a_loaded_kernel_needs_no_compiler(folder: Path) -> None:
    assert _run(folder) == ["45.0", "False 1"]


def test_a_loaded_kernel_can_be_put_into_another(folder: Path) -> None:
    assert _run(folder, "both") == ["45.0", "False 1", "45.0 1", "0"]


def test_this_numba_can_be_told() -> None:
    assert all(hasattr(loading._library, name) for name in loading._PARTS)
