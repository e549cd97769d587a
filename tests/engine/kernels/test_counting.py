"""Kernels that do not count who holds an array leave nothing behind."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys  # type: ignore[attr-defined]

from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.inpainting.inpaint import inpaint
from demosaic_ntc.jit.compiled import fast_kernel, fast_step

SIZE = (40, 44)


@pytest.fixture
def counted() -> Iterator[None]:
    """Arrays that kernels make and free are counted, as Numba otherwise leaves out."""
    was_on = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield
    if not was_on:
        _nrt_python.memsys_disable_stats()


def kept_by(work: Callable[[], object]) -> int:
    """Return how many more arrays were made than freed in some work, whose result is thrown away."""
    work()  # whatever is kept for good, such as tables, is kept from here on
    before = rtsys.get_allocation_stats()
    work()
    after = rtsys.get_allocation_stats()
    assert after.mi_alloc > before.mi_alloc  # else nothing was counted
    return int((after.mi_alloc - before.mi_alloc) - (after.mi_free - before.mi_free))


@pytest.mark.parametrize("noise", [None, 4.0])
@pytest.mark.parametrize("cfa", ["RGGB", "XTRANS"])
@pytest.mark.usefixtures("counted")
def test_restoring_a_mosaic_frees_all_arrays(cfa: str, noise: float | None) -> None:
    mosaic = np.random.default_rng(1).uniform(0, 255, SIZE)
    assert kept_by(lambda: demosaic(mosaic, cfa, noise=noise, error=True, threads=1)) == 0


@pytest.mark.usefixtures("counted")
def test_filling_holes_frees_all_arrays() -> None:
    drawn = np.random.default_rng(2)
    image, missing = drawn.uniform(0, 1, (*SIZE, 3)).astype(np.float32), drawn.uniform(size=SIZE) < 0.4
    missing[10:22, 12:25] = True
    assert kept_by(lambda: inpaint(image, missing, quality="fast", threads=1)) == 0


@fast_kernel
def doubled(values: np.ndarray) -> np.ndarray:
    """Return an array of its own."""
    return values * 2.0


@fast_step
def careless(values: np.ndarray) -> float:
    """Do what a step may not: take an array from a kernel that makes it."""
    return float(doubled(values)[0])


@pytest.mark.usefixtures("counted")
def test_a_step_that_takes_an_array_would_be_seen_to_keep_it() -> None:
    assert kept_by(lambda: (doubled(np.ones(8)), careless(np.ones(8)))) == 1
