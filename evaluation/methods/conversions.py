"""Our own program on one raw: how it ends, and how its picture is beside the camera's own.

Everything that reads a raw runs in a process of its own: a decoder that crashes ends that one alone.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.raw.reading import read_embedded

from ..measure.metrics import Bytes, luma, measure_clipping, newly_clipped
from .processes import ProcessLimits, ProcessResult, make_command, module_paths, python_command, run_command

#: How a conversion ends.
CONVERTED, REFUSED = "converted", "refused"
CRASHED, TIMED_OUT, OUT_OF_MEMORY, FAILED = "crashed", "timed out", "out of memory", "failed"

_EXIT_INPUT, _EXIT_LIMIT = 3, 6  # exit codes of the program

_EIGHT_BITS = ("--bits", "8")
# For newly clipped pixels: what a look clips is a matter of brightness, not of detail.
_QUICKLY = ("--method", "bilinear", "--denoise", "off")

_LARGEST = 1 << 16  # pixels a side: previews are decoded as large as they are
_SIDEWAYS = 5  # orientations from here on swap width and height

Figures = dict[str, Any]


class Fault(Exception):
    """A command about a raw that was not done."""

    def __init__(self, ended: ProcessResult, doing: str) -> None:
        self.ended, self.doing = ended, doing
        super().__init__(doing)


@dataclass(frozen=True, slots=True)
class Shown:
    """The pictures that a page shows of a raw: ours, and the camera's own, upright, if there is one."""

    ours: Bytes
    camera: Bytes | None


@dataclass(frozen=True, slots=True)
class Converter:
    """How raws are converted: options of the program, and what each process may take."""

    options: tuple[str, ...] = ()
    allowance: ProcessLimits = field(default_factory=ProcessLimits)

    def convert(self, source: Path, folder: Path) -> tuple[Figures, Shown | None]:
        """Convert a raw, in a folder for files in between, and compare it with the camera's own picture."""
        target = folder / "default.png"
        ended = self._run(conversion(source, target, "--json", *self.options))
        row = {"outcome": outcome(ended), "reason": reason(ended, source), **costs(ended)}
        if row["outcome"] != CONVERTED:
            return row, None
        try:
            return self._compare(source, folder, row | facts(ended), pixels_of(target))
        except Fault as fault:
            told = f"{fault.doing}: {reason(fault.ended, source)}"
            return row | {"outcome": outcome(fault.ended), "reason": told}, None

    def _compare(self, source: Path, folder: Path, row: Figures, ours: Bytes) -> tuple[Figures, Shown]:
        """What is found in a picture and in the camera's own."""
        (told,) = json.loads(self._do("info", make_command("info", str(source), "--json")).output)
        camera = self._embedded(source, folder, told["orientation"], ours)
        return row | {
            "estimated_bytes": 1e6 * told["estimated_megabytes"],
            **{"luma": luma(ours), "clipped": measure_clipping(ours)},
            "camera_luma": None if camera is None else luma(camera),
            "camera_clipped": None if camera is None else measure_clipping(camera),
            "newly_clipped": self._newly_clipped(source, folder),
        }, Shown(ours, camera)

    def _embedded(self, source: Path, folder: Path, orientation: int, ours: Bytes) -> Bytes | None:
        """The camera's own picture, upright like ours; None where there is none."""
        target = folder / "camera.png"
        self._do("the camera's own picture", embedded_command(source, target))
        return upright(pixels_of(target), orientation, ours.shape) if target.is_file() else None

    def _newly_clipped(self, source: Path, folder: Path) -> float:
        """The share of pixels that the default look clips and the neutral one does not, interpolated."""
        looks: dict[str, Sequence[str]] = {"default": (), "neutral": ("--look", "neutral")}
        made = []
        for name, look in looks.items():
            target = folder / f"{name} look.png"
            self._do(f"the {name} look", conversion(source, target, *_QUICKLY, *look))
            made.append(pixels_of(target))
        return newly_clipped(*made)

    def _do(self, doing: str, command: Sequence[str]) -> ProcessResult:
        """Run a command that must be done."""
        ended = self._run(command)
        if ended.code:
            raise Fault(ended, doing)
        return ended

    def _run(self, command: Sequence[str]) -> ProcessResult:
        """Run a command within what is allowed."""
        return run_command(command, self.allowance, module_paths())


def embedded_command(source: Path, target: Path) -> list[str]:
    """The command that writes the camera's own picture; without one it writes nothing."""
    return python_command(
        f"from {__name__} import write_embedded; write_embedded()", str(source), str(target)
    )


def write_embedded() -> None:
    """Write the camera's own picture of a raw, both named on the command line, if there is one."""
    source, target = map(Path, sys.argv[1:])
    pixels = read_embedded(source, InputLimits(), side=_LARGEST)
    if pixels is not None:
        Image.fromarray(pixels).save(target, compress_level=1)


def conversion(source: Path, target: Path, *options: str) -> list[str]:
    """The command that converts a raw into an 8-bit picture."""
    return make_command("convert", str(source), str(target), *_EIGHT_BITS, *options)


def outcome(ended: ProcessResult) -> str:
    """How a conversion has ended, by its exit code."""
    if ended.exceeded or ended.code == _EXIT_LIMIT:
        return TIMED_OUT if ended.exceeded == "time" else OUT_OF_MEMORY
    if ended.code < 0:
        return CRASHED
    return {0: CONVERTED, _EXIT_INPUT: REFUSED}.get(ended.code, FAILED)


def reason(ended: ProcessResult, source: Path) -> str:
    """Why there is no picture of a raw, in a line without its name; empty where there is one."""
    kind = outcome(ended)
    if kind == CONVERTED:
        return ""
    if kind == TIMED_OUT:
        return f"ended after {ended.seconds:.0f} s"
    if ended.exceeded:
        return f"ended at {ended.peak_bytes / 1e9:.2g} GB"
    if kind == CRASHED:
        return f"signal {-ended.code}"
    lines = ended.errors.strip().splitlines()
    told = lines[-1].removeprefix(f"demosaic-ntc: {source}: ") if lines else "it says nothing"
    return told if kind == REFUSED else f"exit code {ended.code}: {told}"


def costs(ended: ProcessResult) -> Figures:
    """What a process took."""
    return {name: getattr(ended, name) for name in ("seconds", "cpu_seconds", "peak_bytes")}


def facts(ended: ProcessResult) -> Figures:
    """What the program says of a picture it has made."""
    told = json.loads(ended.output)
    known = {name: told[name] for name in ("camera", "width", "height", "look")}
    return known | {"notices": "\n".join(told["notices"])}


def pixels_of(path: Path) -> Bytes:
    """A picture in a file."""
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def upright(pixels: Bytes, orientation: int, shape: tuple[int, ...]) -> Bytes:
    """The camera's own picture turned as the raw is, unless it is stored upright already."""
    turned = np.ascontiguousarray(orient(pixels, orientation), dtype=np.uint8)
    return turned if _lies(turned.shape) == _lies(shape) or orientation < _SIDEWAYS else pixels


def _lies(shape: tuple[int, ...]) -> bool:
    """Whether a picture is wider than high."""
    return shape[1] > shape[0]
