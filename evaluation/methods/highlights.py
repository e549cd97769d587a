"""What becomes of clipped highlights: our ways, and those of LibRaw, RawTherapee and darktable.

All get the same mosaic, the others as a DNG whose camera sees sRGB, and give linear light, white 1 and more.
Programs that brighten or darken are brought in line by one gain per channel, from what is not clipped.
"""

import struct
from collections.abc import Callable
from io import BytesIO
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
import rawpy

from demosaic_ntc.arrays import Float64
from demosaic_ntc.demosaicing.highlights.completion import complete_highlights
from demosaic_ntc.developing.render import blend_highlights
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.io.colour import SRGB_CURVE, XYZ_FROM_SRGB

from ..data.highlights import ClippedScene, demosaic_light
from ..siblings import Camera, dng
from .programs import run_program

Way = Callable[[ClippedScene], Float64]

_BLACK, _WHITE = 1024, 16383
_STOPS = 2  # that RawTherapee darkens by: its pictures end at white

#: What both are told beside: all that would change colours is off.
PROFILE, HISTORY = (
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("rawtherapee.pp3", "darktable.xmp")
)
_SEGMENTS, _OPPOSED = 4, 5  # darktable's numbers


def reconstruct(scene: ClippedScene) -> Float64:
    """Complete what is clipped, then demosaic."""
    return demosaic_light(complete_highlights(scene.mosaic, scene.cfa, scene.levels), scene.cfa)


def clip(scene: ClippedScene) -> Float64:
    """Clip where the first channel does."""
    level = min(scene.levels)
    return np.minimum(demosaic_light(np.minimum(scene.mosaic, level), scene.cfa), level)


def blend(scene: ClippedScene) -> Float64:
    """Keep what the unclipped channels show, and draw it to the colour of what is clipped."""
    light = demosaic_light(scene.mosaic, scene.cfa).astype(np.float32)
    return blend_highlights(light, min(scene.levels)).astype(np.float64)


def by_libraw(mode: int) -> Way:
    """LibRaw's AHD with a way of its own: 2 blends, 5 reconstructs."""

    def develop(scene: ClippedScene) -> Float64:
        with rawpy.imread(BytesIO(write_scene(scene))) as raw:
            picture = raw.postprocess(
                demosaic_algorithm=rawpy.DemosaicAlgorithm.AHD,
                use_camera_wb=True,
                output_color=rawpy.ColorSpace.raw,
                gamma=(1, 1),
                no_auto_bright=True,
                output_bps=16,
                user_flip=0,
                highlight_mode=rawpy.HighlightMode(mode),
                adjust_maximum_thr=0.0,
            )
        return align(picture / 65535, scene)

    return develop


def by_rawtherapee(scene: ClippedScene) -> Float64:
    """RawTherapee's colour propagation, two stops darker, else neutral."""
    return align(run_rawtherapee(write_scene(scene), _STOPS) * 2**_STOPS, scene)


def run_rawtherapee(raw: bytes, stops: int, more: str = "") -> Float64:
    """The linear light of a raw by RawTherapee, so many stops darker, with more lines of its profile."""
    with TemporaryDirectory() as folder:
        source, profile, target = (Path(folder, name) for name in ("a.dng", "a.pp3", "a.png"))
        source.write_bytes(raw)
        profile.write_text(PROFILE.format(stops=stops) + more)
        words = ["rawtherapee-cli", "-o", str(target), "-p", str(profile), "-n", "-b16", "-Y", "-c"]
        run_program([*words, str(source)], target)
        picture = np.asarray(cv2.imread(str(target), cv2.IMREAD_UNCHANGED))[..., ::-1] / 65535
    return SRGB_CURVE.decode(picture)


def by_darktable(mode: int) -> Way:
    """Return darktable's way of a number, without any look."""
    values = (mode, 1.0, 0.0, 0.0, 1.0, 0.0, 1, 6, 0.4, 2.0, 0, 0.0)
    history = HISTORY.format(
        operation="highlights", version=4, parameters=struct.pack("<ifffffiiffif", *values).hex()
    )
    return lambda scene: align(run_darktable(write_scene(scene), history), scene)


def run_darktable(raw: bytes, history: str | None = None) -> Float64:
    """The linear sRGB light of a raw by darktable, without any look, upright; with a history or none."""
    with TemporaryDirectory() as folder:
        source, steps, target = (Path(folder, name) for name in ("a.dng", "a.xmp", "a.pfm"))
        source.write_bytes(raw)
        steps.write_text(history or "")
        own = ["--core", "--configdir", f"{folder}/own", "--cachedir", f"{folder}/own"]
        own += ["--library", ":memory:", "--disable-opencl", "--conf", "plugins/darkroom/workflow=none"]
        words = ["darktable-cli", str(source), *([str(steps)] if history else []), str(target)]
        run_program([*words, "--icc-type", "LIN_REC709", *own], target)
        return read_pfm(target.read_bytes())


def read_pfm(data: bytes) -> Float64:
    """A picture of floats, whose last row comes first."""
    _, size, _, samples = data.split(b"\n", 3)
    width, height = map(int, size.split())
    rows = np.frombuffer(samples[-12 * width * height :], "<f4").reshape(height, width, 3)
    return rows[::-1].astype(np.float64)


WAYS: dict[str, Way] = {
    "reconstruct": reconstruct,
    "blend": blend,
    "clip": clip,
    "LibRaw blend": by_libraw(2),
    "LibRaw reconstruct": by_libraw(5),
    "RawTherapee colour propagation": by_rawtherapee,
    "darktable opposed": by_darktable(_OPPOSED),
    "darktable segmentation": by_darktable(_SEGMENTS),
}

#: Our default, and those that are ahead of all others of other programs.
OURS = "reconstruct"
PEERS = ("RawTherapee colour propagation", "darktable opposed", "darktable segmentation")


def write_scene(scene: ClippedScene) -> bytes:
    """A scene as the DNG of a camera that sees sRGB."""
    height, width = scene.mosaic.shape
    levels = np.array(scene.levels)
    here = levels[scene.cfa.window(slice(0, height), slice(0, width)).astype(np.intp)]
    codes = np.round(scene.mosaic / here * (_WHITE - _BLACK) + _BLACK)
    red, green, blue = (1 / levels) / (1 / levels).max()
    camera = Camera(
        black=_BLACK,
        white=_WHITE,
        neutral=(float(red), float(green), float(blue)),
        from_xyz=np.asarray(np.linalg.inv(XYZ_FROM_SRGB), np.float64),
    )
    return dng(np.clip(codes, 0, _WHITE).astype(np.uint16), scene.cfa, camera)


def pad_border(picture: Float64, shape: tuple[int, ...], what: str, most: float = inf) -> Float64:
    """A picture of this size; programs leave out a few pixels at the border, `most` of them at most."""
    missing = [whole - part for whole, part in zip(shape[:2], picture.shape[:2], strict=True)]
    if min(missing) < 0 or max(missing) > most:
        raise Unsupported(f"a picture of {picture.shape} is not that of {what}; leave it out")
    border = [(each // 2, each - each // 2) for each in missing]
    return np.pad(picture, [*border, (0, 0)], mode="edge")


def align(picture: Float64, scene: ClippedScene) -> Float64:
    """A picture of a scene's size, with the truth's brightness in each channel where nothing is clipped."""
    whole = pad_border(picture, scene.truth.shape, scene.name)
    regions, truth = scene.regions(), scene.truth
    calm = scene.known & ~regions["clipped"] & ~regions["ring"]
    calm &= (truth.max(axis=2) > 0.08) & (truth.min(axis=2) > 0.02)
    return np.asarray(whole * (truth[calm].sum(axis=0) / whole[calm].sum(axis=0)))
