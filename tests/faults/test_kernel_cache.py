"""A cache of kernels that is damaged, cut, empty, full or foreign costs time, nothing else."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.fault

# Bilinear interpolation by way of the command: one small kernel is compiled and kept.
_CONVERT = "import sys; from cli.app import app; app()"

# A kernel of our own is compiled, kept and called; how often it was found in the cache is told.
_CALL = """
import sys, warnings
warnings.showwarning = lambda message, *rest: print("warning:", message)
{before}
import numpy as np
from demosaic_ntc.demosaicing.interpolation.kernels import fill
row = np.zeros(4, np.float32)
fill(row, np.float32(2))
print(sum(fill.stats.cache_hits.values()), "hits", row.sum())
"""


def _call(cache: Path, before: str = "", **environment: str) -> str:
    """What a process that uses the cache says."""
    answer = subprocess.run(
        [sys.executable, "-c", _CALL.format(before=before)],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a cache in order, by their places in it."""
    cache = tmp_path_factory.mktemp("cache")
    _call(cache)
    assert "1 hits" in _call(cache)
    return {str(path.relative_to(cache)): path.read_bytes() for path in cache.rglob("*.nb?")}


def _flip(content: bytes) -> bytes:
    """One bit in the middle is another."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 3],
    "cut at the end": lambda content: content[:-1],
    "flipped": _flip,
    "zeros": lambda content: bytes(len(content)),
    "foreign": lambda content: b"somebody else's file",
}


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_file_is_passed_over_said_and_mended(
    tmp_path: Path, filled: dict[str, bytes], suffix: str, kind: str
) -> None:
    for name, content in filled.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(DAMAGE[kind](content) if name.endswith(suffix) else content)
    said = _call(tmp_path)
    assert "0 hits" in said
    assert said.count("warning:") == 1, said
    assert "damaged" in said
    assert _call(tmp_path) == "1 hits 8.0\n", "and is in order from now on"


FULL = """
import errno, os
from numba.core import caching
def refuse(*_):
    raise OSError(errno.{0}, os.strerror(errno.{0}))
caching.IndexDataCacheFile._open_for_write = refuse
"""


@pytest.mark.parametrize("reason", ["ENOSPC", "EACCES", "EROFS", "EDQUOT", "EIO"])
def test_cache_that_takes_nothing_is_said_in_one_line(tmp_path: Path, reason: str) -> None:
    said = _call(tmp_path, FULL.format(reason))
    assert "0 hits" in said
    assert said.count("warning:") == 1, said
    assert "cannot be kept" in said


def test_place_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    said = _call(tmp_path / "file")  # another place may be found
    assert "hits 8.0" in said
    assert said.count("warning:") <= 1, said


def test_real_full_disk(tmp_path: Path, small: Path) -> None:
    """A disk of a few pages, where it may be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("nothing may be mounted here")
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _CONVERT, str(small), str(tmp_path / "o.png"), "--method", "bilinear"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(disk), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.count("warning:") == 1, answer.stderr
    assert (tmp_path / "o.png").stat().st_size > 0


def test_two_processes_that_compile_at_once(tmp_path: Path) -> None:
    """Each for other types, into an empty cache; then both find their own."""
    code = (
        "import sys, numpy as np\n"
        "from demosaic_ntc.demosaicing.interpolation.kernels import fill\n"
        "row = np.zeros(4, sys.argv[1])\n"
        "fill(row, row.dtype.type(2))\n"
        "print(sum(fill.stats.cache_hits.values()), row.sum())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}

    def both() -> list[str]:
        processes = [
            subprocess.Popen([sys.executable, "-c", code, kind], env=environment, stdout=subprocess.PIPE)
            for kind in ("float32", "float64")
        ]
        return [process.communicate()[0].decode() for process in processes]

    for _ in range(3):
        assert [answer.split()[1] for answer in both()] == ["8.0", "8.0"]
    assert both() == ["1 8.0\n", "1 8.0\n"]
