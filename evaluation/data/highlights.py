"""Pictures and raws with known light, clipped as a sensor would clip them.

Pictures are decoded to linear light and seen through a camera whose channels saturate at 2, 1 and 1.5 of
balanced light; of raws, parts without saturated samples are taken and a lower white level is made up: the
truth is what was measured. Exposure is such that a known share of the pixels has a clipped channel.

Further scenes, on which nothing was chosen, are of the pictures that end in white themselves, which is not
counted, in another corner and through another camera, and of further parts of the raws.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import numpy as np
from scipy.ndimage import distance_transform_edt, maximum_filter

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.raw.levels import Exposure, expose
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.reading import read_photo

from ..measure.metrics import Bytes
from .sets import ImageSet

SHARES = (0.05, 0.08, 0.12)  # of the pixels, that have a clipped channel
RING = 4  # pixels around what is clipped

_LEVELS = (2.0, 1.0, 1.5)
_OTHER_LEVELS, _OTHER_SHARES, _OTHER_SIDE = (1.6, 1.0, 2.1), (0.04, 0.07, 0.15), 448
_SIDE, _STEP = 512, 256  # of a part, and between parts that are looked at
_PARTS, _OTHER_PARTS = slice(0, 2), slice(3, 5)  # of a raw
_WHITE, _MOST_WHITE = 254, 0.003  # of pictures: with more pixels at this end the truth itself is clipped
_OTHER_WHITE = 0.03  # and with more than this too much of it
_MOST_SATURATED = 1e-3  # samples of a part of a raw
_CLIPPED = 0.985  # of the level at which a channel of a raw saturates


@dataclass(frozen=True, slots=True, eq=False)
class ClippedScene:
    """A mosaic of balanced light with clipped samples, and the picture it was made from."""

    name: str
    truth: Float64  # (height, width, 3)
    mosaic: Float32
    cfa: Cfa
    levels: tuple[float, float, float]  # of balanced light, at which channels saturate
    known: Flags  # (height, width): where the truth is none that was clipped itself
    is_kept_out: bool = False  # of those that parameters were chosen on

    def regions(self) -> dict[str, Flags]:
        """What is clipped, of it where not all channels are and where all are, and a ring around it."""
        count = np.count_nonzero(self.truth >= np.array(self.levels), axis=2)
        near = distance_transform_edt(count == 0) <= RING
        parts = {
            "clipped": count > 0,
            "1–2 channels": (count == 1) | (count == 2),
            "all three": count == 3,
            "ring": (count == 0) & near,
        }
        return {name: part & self.known for name, part in parts.items()}


def make_scenes(sets: Iterable[ImageSet], raws: Iterable[Path]) -> Iterator[ClippedScene]:
    """Scenes of all pictures that are not clipped themselves, and of parts of raws.

    Every other picture, and the second part of every raw, is kept out of those that parameters are chosen on.
    """
    shares, kept_out = cycle(SHARES), cycle((False, True))
    for each in sets:
        for picture in each.pictures:
            pixels = picture.pixels()
            if (pixels >= _WHITE).any(axis=2).mean() <= _MOST_WHITE:
                scene = clip_picture(f"{each.name} {picture.name}", pixels, next(shares))
                yield replace(scene, is_kept_out=next(kept_out))
    for path in raws:
        yield from clip_raw(path, shares)


def make_other_scenes(sets: Iterable[ImageSet], raws: Iterable[Path]) -> Iterator[ClippedScene]:
    """Further scenes, all kept out."""
    shares, cfa = cycle(_OTHER_SHARES), Cfa.from_name("GBRG")
    for each in sets:
        for picture in each.pictures:
            pixels = picture.pixels()
            white = np.asarray((pixels >= _WHITE).any(axis=2))
            if _MOST_WHITE < white.mean() <= _OTHER_WHITE:
                top, left = (max(side - _OTHER_SIDE, 0) // 2 * 2 for side in white.shape)
                part = slice(top, top + _OTHER_SIDE), slice(left, left + _OTHER_SIDE)
                light, known = SRGB_CURVE.decode(pixels[part] / 255), ~maximum_filter(white[part], 5)
                name, mosaic = f"{each.name} {picture.name}", cfa.sample(light)
                scene = _expose(name, light, mosaic, cfa, _OTHER_LEVELS, next(shares), known)
                yield replace(scene, is_kept_out=True)
    for path in raws:
        for scene in clip_raw(path, shares, _OTHER_PARTS):
            yield replace(scene, is_kept_out=True)


def clip_picture(name: str, pixels: Bytes, share: float) -> ClippedScene:
    """The middle of a picture of 8 bits, exposed so that a share of its pixels is clipped."""
    height, width = pixels.shape[:2]
    side = min(_SIDE, height, width)
    top, left = (height - side) // 4 * 2, (width - side) // 4 * 2
    light = SRGB_CURVE.decode(pixels[top : top + side, left : left + side] / 255)
    cfa = Cfa.from_name("RGGB")
    return _expose(name, light, cfa.sample(light), cfa, _LEVELS, share, np.ones(light.shape[:2], np.bool_))


def _expose(
    name: str,
    light: Float64,
    mosaic: Float64,
    cfa: Cfa,
    levels: tuple[float, float, float],
    share: float,
    known: Flags,
) -> ClippedScene:
    """A scene brightened so that a share of its pixels has a clipped channel."""
    gain = 1 / float(np.quantile((light / np.array(levels)).max(axis=2), 1 - share))
    height, width = mosaic.shape
    limits = np.array(levels)[cfa.window(slice(0, height), slice(0, width)).astype(np.intp)]
    clipped = np.minimum(mosaic * gain, limits).astype(np.float32)
    return ClippedScene(name, light * gain, clipped, cfa, levels, known)


def clip_raw(path: Path, shares: Iterator[float], parts: slice = _PARTS) -> Iterator[ClippedScene]:
    """Some parts of a raw, those that have much contrast and hardly any saturated sample."""
    photo = read_photo(path)
    if photo.cfa is None or not photo.cfa.is_bayer or photo.is_plain:
        return
    exposure = expose(photo, "camera", "auto", keep_highlights=False)
    light, saturated = _measure(photo, exposure)
    red, green, blue = (value / min(exposure.balance[:3]) for value in exposure.balance[:3])
    places = list(enumerate(_choose_parts(light, saturated), 1))
    for number, (top, left) in places[parts]:
        part = slice(top, top + _SIDE), slice(left, left + _SIDE)
        truth = demosaic_light(light[part], photo.cfa)
        known = ~maximum_filter(saturated[part], 5)
        levels, name = (red, green, blue), f"{path.stem} {number}"
        scene = _expose(name, truth, light[part], photo.cfa, levels, next(shares), known)
        yield replace(scene, is_kept_out=number > 1)


def _measure(photo: RawPhoto, exposure: Exposure) -> tuple[Float64, Flags]:
    """The balanced light of a raw's samples, and which of them are saturated."""
    rows, columns = (np.arange(length) for length in photo.size)
    sites = photo.sites
    here = np.ix_(rows % sites.period[0], columns % sites.period[1])
    light = (photo.mosaic - sites.black[here]) * np.array(exposure.gains)[sites.channels[here]]
    levels = np.array([*exposure.levels, exposure.levels[1]])[sites.channels[here]]
    return light, photo.mosaic >= _CLIPPED * levels


def _choose_parts(light: Float64, saturated: Flags) -> list[tuple[int, int]]:
    """The corners of parts that do not overlap, those with most contrast first."""
    found = []
    for top in range(0, light.shape[0] - _SIDE + 1, _STEP):
        for left in range(0, light.shape[1] - _SIDE + 1, _STEP):
            part = slice(top, top + _SIDE), slice(left, left + _SIDE)
            if saturated[part].mean() < _MOST_SATURATED:
                middle, bright = np.quantile(light[part], (0.5, 0.97))
                found.append((float(bright - middle), top, left))
    chosen = list[tuple[int, int]]()
    for _, top, left in sorted(found, reverse=True):
        if all(abs(top - above) >= _SIDE or abs(left - before) >= _SIDE for above, before in chosen):
            chosen.append((top, left))
    return chosen


def demosaic_light(light: Float32 | Float64, cfa: Cfa) -> Float64:
    """The engine's picture of a mosaic of linear light; white is 1, and there may be more."""
    encoded = np.maximum(SRGB_CURVE.encode(np.asarray(light, np.float64)), 0).astype(np.float32)
    picture = demosaic(encoded, cfa, white=1.0, threads=1).image
    return SRGB_CURVE.decode(picture.astype(np.float64))
