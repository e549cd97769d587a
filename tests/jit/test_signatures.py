"""The examples of kernels: there is one for every call that pictures lead to."""

import subprocess
import sys
from itertools import product
from pathlib import Path

import numba
import pytest

from demosaic_ntc.demosaicing import demosaic
from demosaic_ntc.inpainting import inpaint
from demosaic_ntc.jit.signatures import (
    _FAMILIES,
    EXAMPLES,
    for_holes,
    for_mosaics,
    prepare_kernels,
)

ROOT = Path(__file__).resolve().parents[2]

# Pictures of all kinds, small and with several bands, and the types that every kernel was then called with.
_PICTURES = """
import json, sys
import numpy as np
from demosaic_ntc import demosaic, inpaint
from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.detection.defects import find_defects
from demosaic_ntc.jit.signatures import EXAMPLES
from demosaic_ntc.demosaicing.noise import NOISELESS

generator = np.random.default_rng(0)
mosaic, tall = (generator.random(shape, dtype=np.float32) for shape in ((48, 48), (300, 24)))
for method in ("ntc", "bilinear", "malvar", "lmmse", "mlri"):
    demosaic(mosaic, method=method, quality="fast", error=method == "ntc")
demosaic(tall, quality="fast", error=True)
demosaic(mosaic, "XTRANS", quality="fast")
picture = (255 * generator.random((96, 96, 3))).astype(np.uint8)
some, wide, line = generator.random((96, 96)) < 0.1, np.zeros((96, 96), bool), np.zeros((96, 96), bool)
wide[30:60, 30:60], line[48] = True, True
for quality in ("fast", "normal"):
    for missing in (some, wide, line):
        inpaint(picture, missing, quality=quality, error=quality == "fast")
find_defects(mosaic, Cfa.from_name("RGGB"), NOISELESS)
for name, (kernel, _) in EXAMPLES.items():
    for types in kernel.signatures:
        print(kernel.py_func.__name__, *types, sep="|")
"""


@pytest.mark.slow
def test_every_call_from_python_has_its_example() -> None:
    prepare_kernels(EXAMPLES)
    answer = subprocess.run(
        [sys.executable, "-c", _PICTURES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    called = set(answer.stdout.splitlines())
    exemplified = {
        "|".join([kernel.__name__, *map(str, map(numba.typeof, arguments))])
        for kernel, arguments in EXAMPLES.values()
    }
    assert len(called) > 15
    assert called <= exemplified


@pytest.mark.parametrize("is_bayer", [True, False])
def test_what_methods_take_has_examples(is_bayer: bool) -> None:
    for method, errors in product(demosaic.METHODS, (True, False)):
        assert for_mosaics(method, is_bayer, errors) <= EXAMPLES.keys()
    for method, errors in product(inpaint.METHODS, (True, False)):
        assert for_holes(method, errors) <= EXAMPLES.keys()


def test_every_kernel_belongs_to_one_family() -> None:
    assert sorted(name for family in _FAMILIES for name in family) == sorted(EXAMPLES)


def test_only_what_is_needed_is_compiled() -> None:
    assert for_mosaics("bilinear", True) == {"filter_separably"}
    assert not any(name.startswith("write_errors") for name in for_mosaics("ntc", True))
    assert "filter_diagonally" not in for_mosaics("ntc", True)
    assert "row_estimates" not in for_mosaics("ntc", False) | for_holes("ntc")
