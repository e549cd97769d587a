"""Kernels compiled in a hurry: found by another process, which need not compile, and of the same effect."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba.core import bytecode, compiler, ir, targetconfig

from demosaic_ntc.demosaicing.interpolation.kernels import shrink_rows
from demosaic_ntc.jit import numba_patches

ROOT = Path(__file__).resolve().parents[2]

_COMPILE = "from demosaic_ntc.jit.precompile import main; main()"
_KERNEL = "demosaic_ntc.demosaicing.interpolation.kernels:shrink_rows\n"

# A kernel that calls others; how much was compiled before it answered.
_CALL = """
import sys
import numpy as np
from demosaic_ntc.demosaicing.interpolation.kernels import shrink_rows

difference = np.load(sys.argv[1])
np.save(sys.argv[2], np.stack(shrink_rows(difference)))
print(sum(shrink_rows.stats.cache_misses.values()), sum(shrink_rows.stats.cache_hits.values()))
"""


def _run(code: str, cache: Path, *arguments: Path, words: str = "") -> str:
    """What a process of its own, with its own cache, prints."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        input=words,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_another_process_takes_over_what_was_compiled(tmp_path: Path) -> None:
    difference, answer = tmp_path / "difference.npy", tmp_path / "answer.npy"
    np.save(difference, np.random.default_rng(0).random((12, 40), dtype=np.float32))
    assert _run(_COMPILE, tmp_path, words=_KERNEL) == _KERNEL
    assert _run(_CALL, tmp_path, difference, answer) == "0 1\n"
    assert np.array_equal(np.load(answer), np.stack(shrink_rows(np.load(difference))))


def test_this_numba_can_be_told() -> None:
    assert all(hasattr(owner, name) for owner, name in numba_patches._PARTS)


# The kernel once more, with all short cuts in a process that may call it: none may fail unseen.
_SHORT = """
import sys
import numpy as np
from demosaic_ntc.jit import numba_patches

for way in numba_patches._WAYS:
    way()
from demosaic_ntc.demosaicing.interpolation.kernels import shrink_rows

np.save(sys.argv[2], np.stack(shrink_rows(np.load(sys.argv[1]))))
"""


def test_this_numba_has_all_short_cuts_and_they_lead_to_the_same(tmp_path: Path) -> None:
    difference, answer = tmp_path / "difference.npy", tmp_path / "answer.npy"
    np.save(difference, np.random.default_rng(0).random((12, 40), dtype=np.float32))
    _run(_SHORT, tmp_path, difference, answer)
    expected = np.stack(shrink_rows(np.load(difference)))
    assert np.allclose(np.load(answer), expected, rtol=1e-5, atol=1e-7)  # sums may be in another order


def _keep(monkeypatch: pytest.MonkeyPatch, owner: object, *names: str) -> None:
    """Have parts of Numba put back when a test is over."""
    for name in names:
        monkeypatch.setattr(owner, name, vars(owner)[name])


def test_what_a_numba_lacks_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def lacking() -> None:
        numba_patches._instead(SimpleNamespace(), "missing", lambda there: there)

    monkeypatch.setattr(numba_patches, "_WAYS", (lacking, lambda: taken.append("the next")))
    numba_patches.take_short_cuts()
    assert taken == ["the next"]


def _options() -> Any:
    """Options as Numba has them when nothing is said."""
    return compiler.Flags()


def test_options_are_equal_if_all_their_values_are(monkeypatch: pytest.MonkeyPatch) -> None:
    _keep(monkeypatch, targetconfig.TargetConfig, "__eq__", "__hash__")
    plain, stated, other = (_options() for _ in range(3))
    stated.boundscheck, other.boundscheck, other.nrt = plain.boundscheck, True, plain.nrt
    numba_patches._compare_options()
    assert plain == stated
    assert hash(plain) == hash(stated)
    assert plain != other
    assert other != stated
    assert plain != 1


def test_variables_are_listed_as_numba_does(monkeypatch: pytest.MonkeyPatch) -> None:
    _keep(monkeypatch, ir.Inst, "_rec_list_vars")
    place = ir.Loc("a.py", 1)
    a, b, c = (ir.Var(ir.Scope(None, place), name, place) for name in "abc")
    call = ir.Assign(ir.Expr.call(a, [b, c, b], (("named", a),), place), c, place)
    before = [variable.name for variable in call.list_vars()]
    numba_patches._list_variables()
    assert [variable.name for variable in call.list_vars()] == before
    assert sorted(before) == ["a", "a", "b", "b", "c", "c"]


def test_passes_are_left_out_for_plain_kernels_of_ours_alone() -> None:
    def with_inner(numbers: list[int]) -> list[int]:
        return [number + 1 for number in sorted(numbers, key=lambda number: -number)]

    kernel: Any = shrink_rows
    ours = bytecode.FunctionIdentity.from_function(kernel.py_func)
    assert numba_patches._is_plain(ours)
    elsewhere = SimpleNamespace(code=ours.code, modname="numba.np.arrayobj")
    inner = SimpleNamespace(code=with_inner.__code__, modname=ours.modname)
    telling = SimpleNamespace(code=(lambda number: isinstance(number, int)).__code__, modname=ours.modname)
    assert not any(numba_patches._is_plain(identity) for identity in (elsewhere, inner, telling))
