"""Kernels that come with the program: taken where they fit and are sound, compiled everywhere else."""

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest
from numba.core import codegen, config
from numba.core.caching import CompileResultCacheImpl

from demosaic_ntc.jit import aot_cache, kernel_cache
from demosaic_ntc.jit.aot_cache import is_shipped, write_shipped
from demosaic_ntc.jit.compiled import iterate_forms, kernel
from demosaic_ntc.jit.entries import Entry
from demosaic_ntc.jit.kernel_cache import digest_sources, kernel_sources, seal
from demosaic_ntc.jit.precompile import Compilers


def _double(row: np.ndarray) -> None:
    for n in range(row.size):
        row[n] *= 2


# A processor of the level, as LLVM lists its features.
FITTING = ",".join([*sorted(aot_cache._NEEDED), "-amx-tile"])

ARGUMENTS = (np.ones(3, np.float32),)
TYPES = (numba.float32[::1],)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which kernels are kept."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def root(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What came with the program: one kernel, for one type."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "build"))
    made: Any = kernel(_double)
    made.compile(TYPES)
    ((types, kept),) = iterate_forms(made)
    write_shipped(tmp_path / "shipped" / aot_cache.key(), _double, types, kept)
    monkeypatch.setattr(config, "CACHE_DIR", str(cache))
    monkeypatch.setattr(aot_cache, "ROOT", tmp_path / "shipped")
    monkeypatch.setattr(codegen, "get_host_cpu_features", lambda: FITTING)
    for choice in ("CPU_NAME", "CPU_FEATURES"):  # the tests may be run for another processor than this one
        monkeypatch.setattr(config, choice, None)
    aot_cache.folder.cache_clear()
    return tmp_path / "shipped"


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    """What is found and said is forgotten before and after each test."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    for each in (aot_cache.folder, aot_cache._say_damaged, aot_cache._say_unkept, digest_sources):
        each.cache_clear()


def _doubled(row: np.ndarray) -> tuple[list[float], int, list[str]]:
    """What a kernel that was just loaded makes of a row, how often it was found, and what was said."""
    loaded: Any = kernel(_double)
    row = row.copy()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        loaded(row)
    return row.tolist(), sum(loaded.stats.cache_hits.values()), [str(each.message) for each in said]


def _kept(cache: Path) -> list[Path]:
    return list(cache.rglob("*.nbc"))


FOUND: tuple[list[float], int, list[str]] = ([2.0, 2.0, 2.0], 1, [])
COMPILED: tuple[list[float], int, list[str]] = ([2.0, 2.0, 2.0], 0, [])


def test_what_came_with_the_program_is_not_compiled(root: Path, cache: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.kernel")}
    assert is_shipped(_double, TYPES)
    assert _doubled(*ARGUMENTS) == FOUND
    assert not _kept(cache)
    assert {path: path.read_bytes() for path in root.rglob("*.kernel")} == before


def test_other_types_are_compiled_and_kept(root: Path, cache: Path) -> None:
    assert _doubled(np.ones(3)) == COMPILED
    assert len(_kept(cache)) == 1
    assert _doubled(np.ones(3)) == FOUND
    assert not list(root.rglob("*.nb?"))


def test_nothing_came_with_a_checkout() -> None:
    assert not (Path(aot_cache.__file__).parent / "shipped_kernels").exists()
    assert aot_cache.folder() is None


OTHERS: dict[str, tuple[object, str, object]] = {
    "Numba": (numba, "__version__", "0.0"),
    "Python": (sys.implementation, "cache_tag", "cpython-30"),
    "system": (llvm, "get_process_triple", lambda: "x86_64-unknown-linux-musl"),
    "mathematics": (config, "USING_SVML", "another"),
    "sources": (aot_cache, "digest_sources", lambda: "another"),
    "choice of a processor": (config, "CPU_NAME", "generic"),
    "choice of features": (config, "CPU_FEATURES", ""),
}


@pytest.mark.parametrize("other", OTHERS)
def test_code_for_another_is_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    monkeypatch.setattr(*OTHERS[other])
    assert aot_cache.folder() is None
    assert not is_shipped(_double, TYPES)
    assert _doubled(*ARGUMENTS) == COMPILED


@pytest.mark.parametrize("lacking", sorted(aot_cache._NEEDED))
def test_processor_that_lacks_anything_is_given_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    assert aot_cache.folder() is not None
    aot_cache.folder.cache_clear()
    features = FITTING.replace(f"{lacking},", f"-{lacking[1:]},")
    monkeypatch.setattr(codegen, "get_host_cpu_features", lambda: features)
    assert aot_cache.folder() is None


def test_key_follows_contents_and_not_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [tmp_path / "a.py", tmp_path / "b.py"]
    monkeypatch.setattr(kernel_cache, "kernel_sources", lambda: iter(sources))
    keys = []
    for contents in (("a", "b"), ("a", "b"), ("a", "c"), ("ab", "")):
        for path, content in zip(sources, contents, strict=True):
            path.write_text(content)
        digest_sources.cache_clear()
        keys.append(aot_cache.key())
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_every_layer_has_sources_of_kernels() -> None:
    names = {path.name for path in kernel_sources()}
    assert {"compiled.py", "group_pass.py", "regression_kernels.py", "alternating.py"} <= names


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 3],
    "flipped": lambda content: content[:-9] + bytes([content[-9] ^ 4]) + content[-8:],
    "foreign": lambda content: b"somebody else's file",
    "another program's": lambda content: seal(("not", "a", "kernel")),
}


@pytest.mark.fault
@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_file_is_passed_over_and_said(root: Path, cache: Path, kind: str) -> None:
    (path,) = root.rglob("*.kernel")
    path.write_bytes(DAMAGE[kind](path.read_bytes()))
    row, hits, said = _doubled(*ARGUMENTS)
    assert (row, hits) == ([2.0, 2.0, 2.0], 0)
    assert len(said) == 1
    assert "damaged" in said[0]
    assert len(_kept(cache)) == 1, "what is compiled instead is kept"
    assert _doubled(*ARGUMENTS) == FOUND


@pytest.mark.fault
def test_no_folder_to_write_to_is_said_only_where_something_is_compiled(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    assert _doubled(*ARGUMENTS) == FOUND
    row, hits, said = _doubled(np.ones(3))
    assert (row, hits) == ([2.0, 2.0, 2.0], 0)
    assert len(said) == 1
    assert "NUMBA_CACHE_DIR" in said[0]


def test_listing_with_paths_of_sources_stays_behind(root: Path) -> None:
    (path,) = root.rglob("*.kernel")
    assert Path(__file__).name.encode() not in path.read_bytes()


def test_what_came_with_the_program_is_neither_announced_nor_compiled(root: Path) -> None:
    entry = Entry(kernel(_double), TYPES, is_rare=False)
    assert entry.is_shipped
    assert entry.is_ready
    compilers = Compilers()
    assert compilers.await_all([entry], [entry]) == []
    assert not compilers._processes
    assert not Entry(kernel(_double), (numba.float64[::1],), is_rare=False).is_ready
