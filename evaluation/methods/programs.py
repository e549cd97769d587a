"""Programs that turn a raw into a picture, each in a process of its own: its memory is the conversion's.

By ours, a small raw is converted before, untimed, so that kernels are compiled and loaded; the CPU seconds of
its stages are those between its reports of progress.
"""

from collections.abc import Callable, Collection
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from shutil import which
from time import perf_counter, process_time
from typing import Any

import rawpy

from demosaic_ntc.developing.settings import Engine, Output, Settings
from demosaic_ntc.errors import Unsupported, damage_explained
from demosaic_ntc.jit.precompile import prepare_all
from demosaic_ntc.peak_memory import peak_bytes, reset_peak
from demosaic_ntc.run import Progress
from demosaic_ntc.workflows.conversion import convert_file

from ..measure.protocol import FILE_LAYERS
from ..measure.protocol import engine as code
from .method import Method, index_by_name, pick_methods
from .processes import run_command

#: RawTherapee and darktable as they are called; the second keeps its own settings in the folder.
_RAWTHERAPEE = ("rawtherapee-cli", "-o", "{target}", "-n", "-b16", "-Y", "-d", "-c", "{source}")
_DARKTABLE = (
    *("darktable-cli", "{source}", "{target}", "--core", "--configdir", "{folder}/own"),
    *("--cachedir", "{folder}/own", "--library", ":memory:", "--disable-opencl"),
)


@dataclass(frozen=True, slots=True)
class ConversionCost:
    """What one conversion took."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    stages: dict[str, float] = field(default_factory=dict)  # CPU seconds, in their order


def programs(names: Collection[str], engine: Engine, first: Path) -> list[Method]:
    """The programs of these names; `first` is a small raw that lets our kernels be compiled."""
    threads = _threads(engine)
    known = [
        Method(
            "demosaic-ntc",
            settings_of(engine),
            "ours",
            lambda raw, folder: run_apart(_convert, raw, first, folder, engine),
        ),
        Method("libraw-ahd", "AHD, 16 bits, not written", "peer", lambda raw, _: run_apart(_libraw, raw)),
        Method(
            "rawtherapee", f"its defaults, 16-bit PNG, {threads}", "peer", _convert_by_command(_RAWTHERAPEE)
        ),
        Method(
            "darktable", f"its defaults, PNG, no OpenCL, {threads}", "peer", _convert_by_command(_DARKTABLE)
        ),
    ]
    return pick_methods(index_by_name(known), names)


def settings_of(engine: Engine) -> str:
    """How our program is called, and by which code."""
    return f"{engine.method} {engine.quality}, {_threads(engine)}, {code(FILE_LAYERS)}"


def _threads(engine: Engine) -> str:
    """The number of threads in words."""
    return f"threads {engine.threads or 'all'}"


def run_apart(work: Callable[..., ConversionCost], *arguments: Any) -> ConversionCost:
    """What some work gives that is done in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def _convert(source: Path, first: Path, folder: Path, engine: Engine) -> ConversionCost:
    """Convert a small raw, then this one, noting the CPU seconds of its stages."""
    settings = Settings(engine=engine, output=Output(overwrite=True))
    prepare_all()  # those that few pictures need, too
    convert_file(first, folder / "first.png", settings)
    reset_peak()
    wall, stages = perf_counter(), StageClock()
    convert_file(source, folder / "picture.png", settings, stages.note)
    stages.end()
    spent = stages.seconds
    return ConversionCost(perf_counter() - wall, sum(spent.values()), peak_bytes(), spent)


class StageClock:
    """CPU seconds between reports of progress, by the stage that reports."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last, self._stage = process_time(), "decoding"

    def note(self, progress: Progress) -> None:
        """Count what was spent until here for the stage that reports."""
        self._stage = progress.stage
        self.end()

    def end(self) -> None:
        """Count what was spent since for the last stage."""
        now = process_time()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._last
        self._last = now


def _libraw(source: Path) -> ConversionCost:
    """Decode a raw and develop it by AHD (Hirakawa and Parks 2005, doi:10.1109/TIP.2004.838691)."""
    reset_peak()
    wall, cpu = perf_counter(), process_time()
    with damage_explained("raw"), rawpy.imread(str(source)) as raw:
        raw.postprocess(demosaic_algorithm=rawpy.DemosaicAlgorithm.AHD, use_camera_wb=True, output_bps=16)
    return ConversionCost(perf_counter() - wall, process_time() - cpu, peak_bytes())


def _convert_by_command(words: Collection[str]) -> Callable[[Path, Path], ConversionCost]:
    """Convert by a command of another program."""

    def run(source: Path, folder: Path) -> ConversionCost:
        target = folder / "picture.png"
        return run_program(
            [word.format(source=source, target=target, folder=folder) for word in words], target
        )

    return run


def run_program(command: list[str], target: Path) -> ConversionCost:
    """Run another program and see what it took; without a picture it has failed."""
    if which(command[0]) is None:
        raise Unsupported(f"{command[0]} is not installed; install it to compare")
    ended = run_command(command)
    if not target.is_file():
        raise Unsupported(f"{command[0]} wrote no picture (exit code {ended.code}); leave it out")
    return ConversionCost(ended.seconds, ended.cpu_seconds, ended.peak_bytes)
