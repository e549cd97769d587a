"""What it costs to decode a raw in a process apart, beside a whole conversion: processors, and a clock.

Each raw is read some times in this process and as often apart, by a process that has started; what both take
is divided by the number of times. The process apart is started anew some times for what a start takes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import psutil

from demosaic_ntc import develop
from demosaic_ntc.choices import Quality
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.isolation.decoder import end_decoders
from demosaic_ntc.raw.reading import read_photo

from ..measure.protocol import commit, machine, versions
from ..report.tables import DataTable, table_of
from ..siblings import SAMPLE

Seconds = tuple[float, float]  # of processors, of a clock


@dataclass(frozen=True, slots=True)
class Cost:
    """What a raw takes, in seconds."""

    name: str
    megapixels: float
    here: Seconds
    apart: Seconds
    conversion: Seconds  # by all threads, in this process


def _spent(work: Callable[[], object], times: int) -> Seconds:
    """What work takes once, in this process and those it keeps."""
    cpu, wall = _cpu_seconds(), perf_counter()
    for _ in range(times):
        work()
    return (_cpu_seconds() - cpu) / times, (perf_counter() - wall) / times


def _cpu_seconds() -> float:
    children = (child.cpu_times() for child in psutil.Process().children())
    return process_time() + float(sum(each.user + each.system for each in children))


def measure_raw(path: Path, times: int, quality: Quality) -> Cost:
    """Read and convert a raw, here and apart."""
    photo = read_photo(path)  # by a process that has started from now on
    here = _spent(lambda: read_photo(path, limits=InputLimits(isolate=False)), times)
    apart = _spent(lambda: read_photo(path), times)
    develop(SAMPLE, quality=quality, isolate=False)  # kernels are ready
    conversion = _spent(lambda: develop(path, quality=quality, isolate=False), 1)
    return Cost(path.name, photo.mosaic.size / 1e6, here, apart, conversion)


def measure_start(times: int) -> Seconds:
    """What starting the process apart takes until it has read a small raw."""
    spent = []
    for _ in range(times):
        end_decoders()
        spent.append(_spent(lambda: read_photo(SAMPLE), 1))
    cpu, wall = zip(*spent, strict=True)
    return sum(cpu) / times, sum(wall) / times


def cost_table(costs: Sequence[Cost], start: Seconds) -> DataTable:
    """What decoding apart adds to each raw, in milliseconds, and as a share of its conversion."""
    rows = [
        {
            "raw": cost.name,
            "MP": cost.megapixels,
            "here": 1e3 * cost.here[0],
            "apart": 1e3 * cost.apart[0],
            "more": 1e3 * (cost.apart[0] - cost.here[0]),
            "more, clock": 1e3 * (cost.apart[1] - cost.here[1]),
            "conversion": 1e3 * cost.conversion[0],
            "share": 100 * (cost.apart[0] - cost.here[0]) / cost.conversion[0],
            "with start": 100 * (start[0] + cost.apart[0] - cost.here[0]) / cost.conversion[0],
        }
        for cost in costs
    ]
    forms = {"raw": "", "MP": ".1f", **dict.fromkeys(("here", "apart", "more", "more, clock"), ".1f")}
    forms |= {"conversion": ".0f", "share": ".2f", "with start": ".2f"}
    notes = (
        "processor milliseconds of both processes (`clock`: of a clock); shares in percent of a conversion; "
        f"a start takes {1e3 * start[0]:.0f} ms of a processor, {1e3 * start[1]:.0f} ms of a clock"
    )
    return table_of("decoding apart", forms, rows, notes)


def protocol(times: int, quality: str) -> list[str]:
    """How the measurement was made, a line each."""
    return [
        f"each raw read {times} times here and apart, converted once at quality {quality}",
        *(f"machine: {machine()}", f"versions: {versions()}", f"commit: {commit()}"),
    ]
