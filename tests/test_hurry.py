"""Kernels compiled in a hurry: found by another process, which need not compile, and of the same effect."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from demosaic_ntc import hurry
from demosaic_ntc.imaging.first_guess.kernels import shrink_rows

ROOT = Path(__file__).resolve().parents[1]

_COMPILE = "from demosaic_ntc.imaging.kernels.examples import main; main()"

# A kernel that calls others; how much was compiled before it answered.
_CALL = """
import sys
import numpy as np
from demosaic_ntc.imaging.first_guess.kernels import shrink_rows

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
    assert _run(_COMPILE, tmp_path, words="shrink_rows\n") == "shrink_rows\n"
    assert _run(_CALL, tmp_path, difference, answer) == "0 1\n"
    assert np.array_equal(np.load(answer), np.stack(shrink_rows(np.load(difference))))


def test_this_numba_can_be_told() -> None:
    assert all(hasattr(owner, name) for owner, name in hurry._PARTS)
