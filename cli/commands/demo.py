"""The command ``demosaic-ntc demo``: a sample raw becomes a picture that is compared with its truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..measuring import complete_tensor

if TYPE_CHECKING:
    from demosaic_ntc.workflows.conversion import ConversionFacts

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
RAW, TRUTH = "scene_rggb.dng", "scene.png"

# What every camera's preview is made by: the least one can do.
_PLAINEST = "bilinear"


def demo(
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The picture to write.")] = Path("demo.png"),
    method: Annotated[str, typer.Option(help="How the sample is demosaiced.")] = "gaussian",
    tensor: Annotated[bool, typer.Option("--tensor", help="Complete a random tensor instead.")] = False,
    size: Annotated[
        int, typer.Option(min=2, max=200, help="With --tensor: size of each of three modes.")
    ] = 10,
    samples: Annotated[int, typer.Option(min=1, help="With --tensor: number of observed entries.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="With --tensor: seed of what is drawn.")] = 0,
) -> None:
    """Turn a sample raw into a picture and say how close it comes to the truth."""
    lines = complete_tensor(size, samples, seed) if tensor else convert_sample(target, method)
    for line in lines:
        typer.echo(line)


def convert_sample(target: Path, method: str) -> list[str]:
    """Convert the sample with a method and with the plainest one; say what was done and how good it is."""
    from tempfile import TemporaryDirectory

    from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
    from demosaic_ntc.workflows.conversion import convert_file

    from ..output.progress import show_waits
    from ..output.results import describe_certificate

    source, truth = SAMPLES / RAW, SAMPLES / TRUTH
    output, as_measured = Output(bits=8, overwrite=True), Development(look="neutral")

    def convert(target: Path, engine: Engine) -> "ConversionFacts":
        return convert_file(
            source, target, Settings(development=as_measured, engine=engine, output=output)
        ).facts

    with show_waits(quiet=False), TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.png"
        convert(plain, Engine(method=_PLAINEST))
        plain_psnr = _psnr(plain, truth)
        done = convert(target, Engine(method=method))
    lines = [
        f"raw       {source.name}, {done.size[1]}×{done.size[0]}, {done.cfa}, {done.camera}",
        f"picture   {target}, by {method}",
        f"PSNR      {_psnr(target, truth):.2f} dB against {truth.name} ({_PLAINEST}: {plain_psnr:.2f} dB)",
        f"time      {sum(done.seconds.values()):.2f} s",
    ]
    proven = done.certificate
    if proven is not None:
        lines.insert(3, f"completed {describe_certificate(proven)}")
    return lines


def _psnr(picture: Path, truth: Path) -> float:
    """The peak signal-to-noise ratio of an 8-bit picture, in decibels."""
    import numpy as np
    from PIL import Image

    with Image.open(picture) as first, Image.open(truth) as second:
        difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return float(10 * np.log10(255**2 / (difference**2).mean()))
