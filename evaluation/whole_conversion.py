"""What a whole conversion costs: memory, time by stage, and the share of everything around the engine.

Measured in a process of its own, whose peak memory is then the conversion's. Decoding and rendering are set
beside what the decoder itself takes to develop the same file by AHD (Hirakawa and Parks 2005,
doi:10.1109/TIP.2004.838691), in the same process and in CPU seconds, so that other jobs disturb neither.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import TypeVar

import numpy as np
import rawpy

from demosaic_ntc.files.colour import SPACES
from demosaic_ntc.files.conversion import convert_file, prepare
from demosaic_ntc.files.render import Finish, finish
from demosaic_ntc.files.settings import Engine, Output, Settings
from demosaic_ntc.memory import peak_bytes, reset_peak

from .protocol import machine, versions

Result = TypeVar("Result")

_PACKAGES = ("demosaic-ntc", "numpy", "numba", "rawpy")
MEGA = 1e6


@dataclass(frozen=True, slots=True)
class Cost:
    """What one conversion took."""

    size: tuple[int, int]
    peak_bytes: int
    seconds: dict[str, float]  # wall clock, by stage
    cpu_seconds: float  # of all stages and threads
    around_engine: float  # CPU seconds of decoding and rendering
    decoders_own: float  # CPU seconds of the decoder's own development

    @property
    def megapixels(self) -> float:
        """The size of the picture."""
        return self.size[0] * self.size[1] / MEGA

    @property
    def ratio(self) -> float:
        """What everything around the engine costs, in units of the decoder's own development."""
        return self.around_engine / self.decoders_own


def measure(source: Path, first: Path, folder: Path, engine: Engine) -> Cost:
    """Convert a raw into a folder in a new process; `first` is a small one that lets kernels be compiled."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measured, source, first, folder, engine).result()


def _measured(source: Path, first: Path, folder: Path, engine: Engine) -> Cost:
    """Convert, then repeat what lies around the engine, and what the decoder would do instead."""
    settings = Settings(engine=engine, output=Output(overwrite=True))
    convert_file(first, folder / "first.png", settings)
    reset_peak()
    done, cpu_seconds = _timed(lambda: convert_file(source, folder / "picture.png", settings))
    peak = peak_bytes()
    return Cost(
        size=done.size,
        peak_bytes=peak,
        seconds=done.seconds,
        cpu_seconds=cpu_seconds,
        around_engine=_around_engine(source, settings),
        decoders_own=_decoders_own(source),
    )


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What some work gives, and its CPU seconds."""
    start = process_time()
    result = work()
    return result, process_time() - start


def _around_engine(source: Path, settings: Settings) -> float:
    """CPU seconds of decoding a raw and of rendering a picture of its size."""
    ready, decoding = _timed(lambda: prepare(source, settings))
    image = np.repeat(ready.mosaic.samples[..., None], 3, axis=2)
    look = Finish(SPACES["srgb"], ready.photo.matrix.to_srgb)
    _, rendering = _timed(lambda: finish(image, ready.mosaic.lift, look, lambda done, total: None))
    return decoding + rendering


def _decoders_own(source: Path) -> float:
    """CPU seconds that LibRaw takes to develop a raw by AHD, decoding not counted."""
    with rawpy.imread(str(source)) as raw:
        raw.unpack()
        _, seconds = _timed(
            lambda: raw.postprocess(
                demosaic_algorithm=rawpy.DemosaicAlgorithm.AHD, use_camera_wb=True, output_bps=16
            )
        )
    return seconds


def protocol(engine: Engine) -> dict[str, str]:
    """What a reader must know to repeat the measurement, line by line."""
    return {
        "machine": machine(),
        "versions": versions(_PACKAGES),
        "raw": "synthetic 14-bit DNG, uncompressed, the sample scene side by side",
        "engine": f"{engine.method}, {engine.quality}, threads {engine.threads or 'all'}",
        "seconds": "wall clock by stage, CPU of all threads; kernels are compiled in an untimed run before",
        "memory": "peak resident memory of the process meanwhile, interpreter and libraries included",
        "around the engine": "CPU seconds of decoding and rendering, and of LibRaw's development by AHD "
        "at 16 bits without its decoding; same process, same file",
    }
