"""What is not loaded until it is needed: commands that only look answer at once, workers start soon."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = str(ROOT / "samples" / "small_rggb.dng")

_COMMAND = "from cli.app import app; app(sys.argv[1:], standalone_mode=False)"
_CONVERTING = (
    "import demosaic_ntc.batch.workers.worker, demosaic_ntc.batch.operations, "
    "demosaic_ntc.workflows.conversion"
)
_PICTURES = tuple(
    f"demosaic_ntc.{name}" for name in ("engine", "demosaicing", "inpainting", "io", "images", "raw")
)


def _loaded(code: str, *arguments: str) -> set[str]:
    """The packages and modules that a process has loaded when it has run some code."""
    names = "{part for name in sys.modules for part in (name, name.split('.')[0])}"
    program = f"import sys\n{code}\nsys.stderr.write(' '.join({names}))"
    command = [sys.executable, "-c", program, *arguments]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(answer.stderr.split())
    assert "sys" in loaded
    return loaded


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["convert", "--help"]])
def test_help_loads_no_numbers(arguments: list[str]) -> None:
    assert not _loaded(_COMMAND, *arguments) & {"numpy", "numba", "scipy", "rawpy", "PIL", "skimage"}


def test_info_loads_no_kernels() -> None:
    loaded = _loaded(_COMMAND, "info", SAMPLE)
    assert "rawpy" in loaded
    assert not loaded & {"numba", "llvmlite", "scipy", "skimage", "tifffile", "gurobipy", "highspy", "rich"}
    assert not loaded & {"PIL", "numpy.ma", "pydantic", "demosaic_ntc.developing.render"}


@pytest.mark.parametrize("name", ["complete_array", "complete", "NonnegativeTensorCompletion"])
def test_tensors_load_nothing_of_pictures(name: str) -> None:
    loaded = _loaded(f"from demosaic_ntc import {name}")
    assert not [each for each in loaded if each.startswith(_PICTURES)]
    assert not loaded & {
        "scipy.sparse",
        "sklearn",
        "skimage",
        "rawpy",
        "PIL",
        "gurobipy",
        "highspy",
        "tifffile",
    }
    assert ("numba" in loaded) == (name != "complete_array")


def test_completing_an_array_loads_nothing_of_pictures() -> None:
    loaded = _loaded("from demosaic_ntc import complete_array\ncomplete_array([[1.0, float('nan')]])")
    assert "numba" in loaded
    assert not [each for each in loaded if each.startswith(_PICTURES)]
    assert not loaded & {"scipy.sparse", "rawpy", "PIL", "skimage", "gurobipy", "highspy"}


def test_workers_that_convert_load_no_solvers_and_no_filters() -> None:
    loaded = _loaded(_CONVERTING)
    assert "numba" in loaded
    assert not loaded & {"scipy.sparse", "scipy.ndimage", "gurobipy", "highspy", "rich", "typer"}
