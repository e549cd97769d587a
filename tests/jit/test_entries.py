"""Kernels that Python calls: each is known with the types of every call that pictures lead to."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from demosaic_ntc.jit.entries import Entry, load_all, loaded
from demosaic_ntc.jit.kernel_cache import kernel_sources
from demosaic_ntc.jit.precompile import prepare_all

ROOT = Path(__file__).resolve().parents[2]

# Pictures of all kinds, small and with several bands, and the types that every kernel was then called with.
_PICTURES = """
import json, sys
import numpy as np
from demosaic_ntc import demosaic, inpaint
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.highlights.completion import complete_highlights
from demosaic_ntc.detection.defects import find_defects
from demosaic_ntc.jit.entries import load_all
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
for name in ("RGGB", "XTRANS"):
    complete_highlights(mosaic, Cfa.from_name(name), (0.9, 0.6, 0.8), some[:48, :48])
for entry in load_all():
    for types in entry.kernel.signatures:
        print(entry.name, *types, sep="|")
"""


@pytest.mark.slow
def test_every_call_from_python_is_of_the_types_beside_the_kernel() -> None:
    assert prepare_all() == []
    answer = subprocess.run(
        [sys.executable, "-c", _PICTURES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    called = set(answer.stdout.splitlines())
    stated = {"|".join([entry.name, *map(str, entry.types)]) for entry in load_all()}
    assert len(called) > 15
    assert called <= stated


def test_all_modules_with_kernels_are_loaded() -> None:
    modules = {entry.module.removeprefix("demosaic_ntc.") for entry in load_all()}
    assert modules >= {"engine.kernels.group_pass", "detection.defect_kernels"}
    assert all(entry is loaded[entry.name] for entry in load_all())


def _find(name: str) -> Entry:
    (found,) = (entry for entry in load_all() if entry.name.endswith(f":{name}"))
    return found


def test_work_counts_what_a_kernel_calls() -> None:
    assert _find("restore_groups").work > 10 * _find("write_means").work
    assert _find("complete_groups").work > _find("restore_groups").work


def test_only_what_few_pictures_need_is_rare() -> None:
    frames = ("add_affine_equations", "add_flow_equations", "add_information", "add_agreement")
    splines = ("filter_splines", "subtract_between", "add_between")
    directions = ("divide_by_mass", "square_misses", "add_estimates")
    rare = {_find(name).name for name in ("complete_groups", *splines, *frames, *directions)}
    assert {entry.name for entry in load_all() if entry.is_rare} == rare


def test_nobody_but_jit_and_the_kernels_knows_of_entries() -> None:
    """Who calls a kernel imports it; lists of kernels, their names and types are nobody's business."""
    banned = {"demosaic_ntc.jit.compiled", "demosaic_ntc.jit.kernel_cache", "demosaic_ntc.jit.aot_cache"}
    kernels = set(kernel_sources())
    names = {entry.name.partition(":")[2] for entry in load_all()}
    looked_at = 0
    for path in sorted([*(ROOT / "demosaic_ntc").rglob("*.py"), *(ROOT / "cli").rglob("*.py")]):
        if path in kernels or path.parent.name == "jit":
            continue
        looked_at += 1
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in names, f"{path} names the kernel {node.value}"
            if isinstance(node, ast.ImportFrom):
                assert node.module not in banned, f"{path} imports {node.module}"
    assert looked_at > 200
