"""How long the program takes to begin: its first use on a machine, and what answers at once.

Every command runs in a process of its own. Its CPU seconds are those of all processes that it starts, so they
hold on a busy machine as well; seconds of a clock stand beside them. For the first use, the folder in which
compiled kernels are kept is new and empty each time.
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from demosaic_ntc.jit.entries import load_all

from ..measure.protocol import commit, machine, versions
from ..methods.processes import module_paths, python_command
from ..report.tables import DataTable, table_of
from ..siblings import PROGRAM, SAMPLE

_PROGRAM = f"from {PROGRAM} import app; app()"

# What a process of a batch loads before it takes a file.
_WORKER = (
    "import demosaic_ntc.batch.workers.worker, demosaic_ntc.batch.operations, "
    "demosaic_ntc.workflows.conversion"
)

_FIRST, _AGAIN = "a photo, nothing kept", "the same again"

Seconds = tuple[float, float]  # of a clock, of processors
Run = Callable[[Sequence[str], Path], Seconds]


def run_process(words: Sequence[str], kernels: Path) -> Seconds:
    """What a process of Python takes, with those that it starts; kernels are kept in a folder."""
    paths = {**module_paths(), "NUMBA_CACHE_DIR": str(kernels)}
    wall, cpu = perf_counter(), _cpu_seconds()
    subprocess.run(python_command(*words), env={**os.environ, **paths}, capture_output=True, check=True)
    return perf_counter() - wall, _cpu_seconds() - cpu


def measure_once(run: Run = run_process) -> dict[str, Seconds]:
    """What each beginning takes, once."""
    with TemporaryDirectory(prefix="demosaic-ntc-start-") as folder:
        kernels, picture = Path(folder, "kernels"), str(Path(folder, "picture.png"))
        photo = (_PROGRAM, str(SAMPLE), picture, "--overwrite")
        words = {
            _FIRST: photo,
            _AGAIN: photo,
            "--version": (_PROGRAM, "--version"),
            "--help": (_PROGRAM, "--help"),
            "info": (_PROGRAM, "info", str(SAMPLE)),
            "imports of a worker": (_WORKER,),
        }
        return {name: run(each, kernels) for name, each in words.items()}


def start_table(rounds: Sequence[Mapping[str, Seconds]]) -> DataTable:
    """The medians of some rounds."""
    taken = {name: zip(*(each[name] for each in rounds), strict=True) for name in rounds[0]}
    middle = {name: tuple(map(median, seconds)) for name, seconds in taken.items()}
    rows = [{"command": name, "CPU s": cpu, "s": wall} for name, (wall, cpu) in middle.items()]
    notes = f"median of {len(rounds)} rounds; CPU seconds of all processes, seconds of a clock"
    return table_of("until the program has begun", {"command": "", "CPU s": ".2f", "s": ".2f"}, rows, notes)


def protocol() -> list[str]:
    """How the measurement was made, a line each."""
    shipped = [entry.is_shipped for entry in load_all()]
    return [
        f"photo: {SAMPLE.name}, the default conversion",
        f"kernels: {sum(shipped)} of {len(shipped)} came with the program",
        *(f"machine: {machine()}", f"versions: {versions()}", f"commit: {commit()}"),
    ]


def _cpu_seconds() -> float:
    """What all processes that this one has started and waited for have spent."""
    spent = os.times()
    return spent.children_user + spent.children_system
