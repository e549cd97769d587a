"""Ways of filling wide holes that a benchmark can compare, by name: functions of picture and mask."""

from functools import partial
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from PIL import Image

from demosaic_ntc import inpaint
from demosaic_ntc.arrays import Flags

from ..measure.metrics import Bytes, eight_bit
from ..methods.inpainters import OPENCV_RADIUS, biharmonic, opencv
from ..methods.method import Effort, Method, index_by_name, package_version, requires
from ..methods.processes import run_command

_PATCHES = "9"  # the size of G'MIC's patches


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
