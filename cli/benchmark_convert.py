"""The command ``demosaic-ntc benchmark convert``: what a conversion costs from raw file to picture."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options as o
from .benchmarking import results_console
from .demo import RAW, SAMPLES
from .measuring import evaluation, samples

if TYPE_CHECKING:
    from evaluation.whole_conversion import Cost

_GIBI = 2**30


def convert(
    megapixels: Annotated[float, typer.Option(min=0.01, max=150, help="Size of the synthetic raw.")] = 24,
    method: o.Method = "ntc",
    quality: o.Quality = "normal",
    threads: o.Threads = None,
    json: Annotated[Path | None, typer.Option(help="Write everything to this JSON file.")] = None,
) -> None:
    """Convert a synthetic raw: peak memory, seconds by stage, and what lies around the engine over AHD."""
    from tempfile import TemporaryDirectory

    from demosaic_ntc.files.settings import Engine

    module, engine = evaluation("whole_conversion"), Engine(method=method, quality=quality, threads=threads)
    with TemporaryDirectory() as name:
        folder = Path(name)
        source = _synthetic_raw(folder / "large.dng", megapixels)
        cost = module.measure(source, SAMPLES / RAW, folder, engine)
    console, lines = results_console(), module.protocol(engine)
    for line in (*_lines(cost), *(f"{name}: {text}" for name, text in lines.items())):
        console.print(line, markup=False)
    if json is not None:
        _write(json, cost, lines)


def _synthetic_raw(target: Path, megapixels: float) -> Path:
    """The sample scene side by side until it has that many pixels, three to two."""
    import numpy as np

    from demosaic_ntc.files.reading import read_photo

    photo, dng = read_photo(SAMPLES / RAW), samples("dng")
    height = 2 * round((megapixels * 1e6 / 1.5) ** 0.5 / 2)
    width = 2 * round(0.75 * height)
    repeats = (-(-height // photo.size[0]), -(-width // photo.size[1]))
    dng.write_dng(target, np.tile(photo.mosaic, repeats)[:height, :width], photo.cfa, dng.Camera())
    return target


def _lines(cost: "Cost") -> Iterator[str]:
    """The figures, for people."""
    total = sum(cost.seconds.values())
    stages = ", ".join(f"{stage} {value / cost.megapixels:.2f}" for stage, value in cost.seconds.items())
    yield f"picture            {cost.size[1]}×{cost.size[0]}, {cost.megapixels:.1f} megapixels"
    yield f"peak memory        {cost.peak_bytes / _GIBI:.2f} GiB"
    yield f"time               {total:.1f} s, {total / cost.megapixels:.2f} s/MP ({stages})"
    yield f"CPU time           {cost.cpu_seconds:.1f} s, {cost.cpu_seconds / cost.megapixels:.2f} s/MP"
    yield (
        f"around the engine  {cost.around_engine:.2f} CPU s, LibRaw's AHD {cost.decoders_own:.2f} CPU s: "
        f"ratio {cost.ratio:.2f}"
    )


def _write(target: Path, cost: "Cost", protocol: dict[str, str]) -> None:
    """Write the figures and how they were made."""
    from dataclasses import asdict
    from json import dumps

    figures = {**asdict(cost), "megapixels": cost.megapixels, "ratio": cost.ratio}
    evaluation("writing").write_text(target, dumps({"cost": figures, "protocol": protocol}, indent=1) + "\n")
