"""What is kept of a kernel is renewed when the source of anything that it calls changes."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from demosaic_ntc.jit import kernel_cache
from demosaic_ntc.jit.kernel_cache import digest_sources

_INNER = """
from demosaic_ntc.jit.compiled import kernel

@kernel
def inner(number):
    return number * {factor}
"""

_OUTER = """
from demosaic_ntc.jit.compiled import kernel
from renewed_inner import inner

@kernel
def outer(number):
    return inner(number) + 1
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The only sources of kernels: one calls the other's."""
    paths = [tmp_path / "renewed_inner.py", tmp_path / "renewed_outer.py"]
    paths[0].write_text(_INNER.format(factor=2))
    paths[1].write_text(_OUTER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a change within a second must be seen
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel_cache, "kernel_sources", lambda: iter(paths))
    return paths


@pytest.fixture(autouse=True)
def forgetful() -> Any:
    """What was digested is forgotten."""
    digest_sources.cache_clear()
    yield
    digest_sources.cache_clear()


def call_outer() -> tuple[int, int]:
    """What the outer kernel makes of 10 in a process that has just begun, and how often it was found."""
    for name in ("renewed_inner", "renewed_outer"):
        sys.modules.pop(name, None)
    digest_sources.cache_clear()
    outer: Any = import_module("renewed_outer").outer
    return outer(10), sum(outer.stats.cache_hits.values())


def test_a_change_in_what_is_inlined_renews_who_calls_it(sources: list[Path]) -> None:
    assert call_outer() == (21, 0)
    assert call_outer() == (21, 1)
    sources[0].write_text(_INNER.format(factor=3))
    assert call_outer() == (31, 0)
    assert call_outer() == (31, 1)
