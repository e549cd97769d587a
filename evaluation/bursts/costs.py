"""What merging large raws costs: time, and memory by the number of frames."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from demosaic_ntc.developing.settings import Engine, Merging, Output, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.jit.precompile import prepare_all
from demosaic_ntc.peak_memory import peak_bytes, reset_peak
from demosaic_ntc.workflows.merging import merge_files

from .. import split_names
from ..data.raws import MEGA
from ..data.sets import SetImage
from ..methods.programs import ConversionCost, StageClock, run_apart
from ..report.tables import DataTable, table_of
from ..siblings import SAMPLE
from .made import write_large_burst

_MOST, _LARGEST = 64, 50.0  # frames, megapixels
_COLUMNS = {
    "frames": "d", "MP": ".1f", "CPU s/MP": ".1f", "of a frame": ".2f", "s": ".0f", "peak MiB": ".0f",
    "grown by": ".2f",
}  # fmt: skip
Row = dict[str, Any]


def parse_sizes(text: str) -> list[tuple[int, float]]:
    """Numbers of frames and megapixels from words such as 8x12, or raise."""
    found = []
    for word in split_names(text):
        frames, _, size = word.partition("x")
        if not (frames.isdigit() and 2 <= int(frames) <= _MOST and size.replace(".", "", 1).isdigit()):
            raise InputError(f"{word!r} is not frames and megapixels; give such as 8x12,16x3")
        if not 0.1 <= float(size) <= _LARGEST:
            raise InputError(f"{word!r}: frames have from .1 to {_LARGEST:g} megapixels here")
        found.append((int(frames), float(size)))
    return found


def measure_cost(picture: SetImage, count: int, megapixels: float, threads: int) -> Row:
    """The row of a burst of so many frames, merged in a process of its own."""
    with TemporaryDirectory() as folder:
        paths = write_large_burst(Path(folder), picture, megapixels, count)
        took = run_apart(_merge, paths, Path(folder) / "merged.dng", threads)
    cpu = took.cpu_seconds / megapixels
    return {
        "frames": count, "MP": megapixels, "CPU s/MP": cpu, "of a frame": cpu / count, "s": took.seconds,
        "peak MiB": took.peak_bytes / 2**20,
    }  # fmt: skip


def _merge(paths: Sequence[Path], target: Path, threads: int) -> ConversionCost:
    """Merge two small raws, so that kernels are loaded, then these."""
    settings = Settings(engine=Engine(threads=threads), output=Output(overwrite=True))
    prepare_all()
    same = Path(copyfile(SAMPLE, target.with_name("copy.dng")))
    merge_files([SAMPLE, same], target, settings, Merging())
    reset_peak()
    wall, clock = perf_counter(), StageClock()
    merge_files(paths, target, settings, Merging("first"), clock.note)
    clock.end()
    spent = clock.seconds
    return ConversionCost(perf_counter() - wall, sum(spent.values()), peak_bytes(), spent)


def costs_table(rows: Iterable[Row]) -> DataTable:
    """All sizes; memory beside that of the fewest frames of a size."""
    found = list(rows)
    for row in found:
        least = min((each for each in found if each["MP"] == row["MP"]), key=lambda each: each["frames"])
        more = (row["frames"] - least["frames"]) * row["MP"] * MEGA
        row["grown by"] = (row["peak MiB"] - least["peak MiB"]) * 2**20 / more if more else 0.0
    note = "raw files to a linear DNG, a process each; memory has grown by so many bytes per pixel and frame"
    return table_of("costs of large bursts", _COLUMNS, found, note)
