"""How wide holes are filled: against the truth in squares, against the surroundings where things are removed.

Gradients are the mean of |∂x| and |∂y| of brightness within a hole, over those of the truth or of a ring
around it; their histograms differ by a share from 0 to 1. Seams are the steps across the hole's outline over
those in the ring.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import times
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import binary_dilation

from demosaic_ntc import inpaint
from demosaic_ntc.arrays import Flags

from ..data.removals import HoledPicture
from ..measure.metrics import PEAK, Bytes, decibels, eight_bit
from ..methods.inpainters import OPENCV_RADIUS, biharmonic, opencv
from ..methods.method import Effort, Method, index_by_name, package_version, requires
from ..methods.processes import run_command
from ..report.tables import DataTable, table_of

REMOVALS = "removals"

_PATCHES = "9"  # the size of G'MIC's patches
_RING = 12  # pixels around a hole that it is compared with
_BINS = np.array([0, 1, 2, 4, 8, 16, 32, 64, 256.0])  # of gradients, in levels

_OF_TRUTH = {
    "holes": "",
    "method": "",
    "n": "d",
    "PSNR": ".2f",
    "gradients": ".2f",
    "histogram": ".2f",
    "CPU s": ".1f",
}
_OF_RING = {"method": "", "n": "d", "gradients": ".2f", "histogram": ".2f", "seams": ".2f", "CPU s": ".1f"}
_OF_ERRORS = {"holes": "", "n": "d", "expected": ".1f", "found": ".1f", "ratio": ".2f"}
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Filling:
    """A hole that was filled, and the CPU seconds it took."""

    hole: HoledPicture
    image: Bytes
    seconds: float


def fill(method: Method, holes: Iterable[HoledPicture]) -> list[Filling]:
    """Fill holes; what is behind them is not shown."""
    filled = []
    for hole in holes:
        shown = np.where(hole.missing[..., None], 0, hole.picture).astype(np.uint8)
        start = _cpu_seconds()
        image = method.run(shown, hole.missing)
        filled.append(Filling(hole, np.asarray(image, np.uint8), _cpu_seconds() - start))
    return filled


def _cpu_seconds() -> float:
    """CPU seconds of this process and of the programs that it has run."""
    return sum(times()[:4])


def rows_by_hole(fills: Mapping[str, Sequence[Filling]]) -> dict[str, tuple[Bytes, Flags, dict[str, Bytes]]]:
    """Each picture with its hole and what the methods made of it."""
    return {
        each[0].hole.name: (
            each[0].hole.picture,
            each[0].hole.missing,
            {name: filling.image for name, filling in zip(fills, each, strict=True)},
        )
        for each in zip(*fills.values(), strict=True)
    }


def tables(done: Mapping[tuple[str, str], Sequence[Filling]], errors: Iterable[Row]) -> list[DataTable]:
    """What was measured, by the name of the holes and the method."""
    known = [(*key, filled) for key, filled in done.items() if key[0] != REMOVALS]
    removed = [(name, filled) for (what, name), filled in done.items() if what == REMOVALS]
    of_truth = "PSNR within holes; gradients over the truth's, the median; histograms apart by a share"
    of_ring = f"compared with {_RING} pixels around a hole: no figure tells what looks right, --page does"
    of_errors = "of pixels copied by fill=auto, in levels of 255; expected is what error=True says"
    made = (
        ("holes whose truth is known", _OF_TRUTH, [compare_with_truth(*each) for each in known], of_truth),
        (REMOVALS, _OF_RING, [compare_with_ring(*each) for each in removed], of_ring),
        ("errors of copied pixels", _OF_ERRORS, list(errors), of_errors),
    )
    return [table_of(*each) for each in made if each[2]]


def compare_with_truth(what: str, method: str, filled: Sequence[Filling]) -> Row:
    """The row of a method: means over holes whose truth is known; of gradients, medians."""
    errors, ratios, shapes = [], [], []
    for each in filled:
        hole, truth = each.hole.missing, each.hole.picture
        errors.append(decibels(np.square(each.image[hole].astype(np.float64) - truth[hole])))
        made, true = (_steps_within(image, hole) for image in (each.image, truth))
        ratios.append(made.mean() / max(true.mean(), 1e-9))
        shapes.append(_differ(made, true))
    figures = (len(filled), np.mean(errors), np.median(ratios), np.mean(shapes))
    seconds = float(np.mean([each.seconds for each in filled]))
    return dict(zip(_OF_TRUTH, (what, method, *figures, seconds), strict=True))


def compare_with_ring(method: str, filled: Sequence[Filling]) -> Row:
    """The row of a method: what was filled in beside what is around it."""
    ratios, shapes, seams = [], [], []
    for each in filled:
        hole = each.hole.missing
        ring = binary_dilation(hole, iterations=_RING) & ~hole
        made, around = (_steps_within(each.image, part) for part in (hole, ring))
        ratios.append(made.mean() / max(around.mean(), 1e-9))
        shapes.append(_differ(made, around))
        seams.append(_steps_across(each.image, hole).mean() / max(around.mean(), 1e-9))
    figures = (len(filled), np.median(ratios), np.mean(shapes), np.median(seams))
    seconds = float(np.mean([each.seconds for each in filled]))
    return dict(zip(_OF_RING, (method, *figures, seconds), strict=True))


def measure_errors(what: str, holes: Iterable[HoledPicture], quality: Any, threads: int) -> Row:
    """The row of errors that are expected of copied pixels, beside those found; roots of mean squares."""
    expected, found, count = 0.0, 0.0, 0
    for hole in holes:
        made = inpaint(hole.picture, hole.missing, fill="auto", error=True, quality=quality, threads=threads)
        if made.copied is None or made.error is None:
            continue
        here = tuple(made.copied.targets.T)
        expected += float(np.square(made.error[here], dtype=np.float64).mean())
        found += float(np.square(made.image[here].astype(np.float64) - hole.picture[here]).mean())
        count += 1
    said, real = (float(np.sqrt(total / max(count, 1))) for total in (expected, found))
    return dict(zip(_OF_ERRORS, (what, count, said, real, real / max(said, 1e-9)), strict=True))


def _light(image: Bytes) -> NDArray[np.float64]:
    """The mean of the channels."""
    return np.asarray(image.astype(np.float64).mean(axis=2))


def _steps_within(image: Bytes, part: Flags) -> NDArray[np.float64]:
    """Absolute differences of neighbours that both lie in a part, along rows and columns."""
    light = _light(image)
    down, across = part[1:] & part[:-1], part[:, 1:] & part[:, :-1]
    steps = np.abs(np.diff(light, axis=0))[down], np.abs(np.diff(light, axis=1))[across]
    return np.concatenate(steps)


def _steps_across(image: Bytes, hole: Flags) -> NDArray[np.float64]:
    """Absolute differences of neighbours of which one lies in the hole."""
    light = _light(image)
    down, across = hole[1:] != hole[:-1], hole[:, 1:] != hole[:, :-1]
    return np.concatenate([np.abs(np.diff(light, axis=0))[down], np.abs(np.diff(light, axis=1))[across]])


def _differ(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The share by which two histograms of gradients differ."""
    counts = [np.histogram(np.minimum(each, PEAK), _BINS)[0] / max(len(each), 1) for each in (one, other)]
    return float(np.abs(counts[0] - counts[1]).sum() / 2)


def catalogue(effort: Effort) -> dict[str, Method]:
    """All ways that work here: ours, and those of what is installed."""
    with requires("benchmark"):
        import cv2
    version = f"OpenCV {cv2.__version__}"
    peers = [
        Method(
            "telea", f"{version}, radius {OPENCV_RADIUS}", "peer", partial(opencv, "telea", effort.threads)
        ),
        Method("biharmonic", package_version("scikit-image"), "peer", lambda *on: eight_bit(biharmonic(*on))),
    ]
    if hasattr(cv2, "xphoto"):  # of opencv-contrib-python-headless
        peers += [
            Method("shiftmap", version, "peer", partial(_xphoto, "INPAINT_SHIFTMAP")),
            Method("fsr", f"{version}, fast", "peer", partial(_xphoto, "INPAINT_FSR_FAST")),
        ]
    if which("gmic"):
        peers.append(Method("gmic", f"-inpaint_matchpatch, patches of {_PATCHES}", "peer", _gmic))
    return index_by_name((_ours("texture", effort), _ours("smooth", effort), *peers))


def _ours(fill: Literal["smooth", "texture"], effort: Effort) -> Method:
    """This package's; texture is wanted in narrow holes, too."""

    def run(picture: Bytes, missing: Flags) -> Bytes:
        made = inpaint(picture, missing, fill=fill, quality=effort.quality, threads=effort.threads)
        return np.asarray(made.image)

    return Method(fill, f"fill={fill}, {effort.words}", "ours", run)


def _xphoto(way: str, picture: Bytes, missing: Flags) -> Bytes:
    """Fill by shifted copies (K. He, J. Sun 2012, doi:10.1007/978-3-642-33709-3_2) or by frequencies (FSR).

    N. Genser, J. Seiler, A. Kaup 2018, doi:10.1109/IWSSIP.2018.8439235.
    """
    with requires("benchmark"):
        import cv2
    known = np.where(missing, 0, 255).astype(np.uint8)
    colour = way == "INPAINT_SHIFTMAP"  # its distances are those of Lab
    source = cv2.cvtColor(picture, cv2.COLOR_RGB2Lab) if colour else np.ascontiguousarray(picture[..., ::-1])
    made = np.empty_like(source)
    photo: Any = cv2.xphoto  # type: ignore[attr-defined]  # of the contrib package
    photo.inpaint(source, known, made, getattr(photo, way))
    filled = cv2.cvtColor(made, cv2.COLOR_Lab2RGB) if colour else made[..., ::-1]
    return np.where(missing[..., None], filled, picture)


def _gmic(picture: Bytes, missing: Flags) -> Bytes:
    """G'MIC's patches at several scales, as its command line has them."""
    with TemporaryDirectory() as folder:
        source, mask, target = (Path(folder) / name for name in ("in.png", "mask.png", "out.png"))
        Image.fromarray(picture).save(source)
        Image.fromarray(missing.astype(np.uint8) * 255).save(mask)
        words = [str(source), str(mask), "-inpaint_matchpatch[0]", f"[1],0,{_PATCHES}", "-keep[0]", "-o"]
        run_command(["gmic", *words, str(target)])
        with Image.open(target) as made:
            return np.where(missing[..., None], np.asarray(made.convert("RGB")), picture)
