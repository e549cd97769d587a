"""Wide holes to be filled: things drawn around in pictures, squares, and squares in made textures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter

from demosaic_ntc.arrays import Flags

from ..measure.metrics import PEAK, Bytes
from .sets import ImageSet, SetImage

SIDE = 320  # pixels along a made texture
_MARGIN = 40  # pixels between a square hole and the border of a picture
_WARM = np.array([1.0, 0.9, 0.75])


@dataclass(frozen=True, slots=True, eq=False)
class HoledPicture:
    """A picture and what is to be filled in it."""

    name: str
    picture: Bytes
    missing: Flags


def read_removals(sets: Iterable[ImageSet], use: str) -> Iterator[HoledPicture]:
    """Things drawn around in pictures of known sets, for choosing settings or for reporting."""
    known = {(each.name, picture.name): picture for each in sets for picture in each.pictures}
    text = (files(__package__) / "removals.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        meant, folder, name, what, *corners = line.split()
        if meant == use and (folder, name) in known:
            picture = known[folder, name].pixels()
            yield HoledPicture(f"{name} {what}", picture, _draw(picture, corners))


def _draw(picture: Bytes, corners: list[str]) -> Flags:
    """The flags of a polygon."""
    height, width = picture.shape[:2]
    mask = Image.new("1", (width, height))
    points = [(float(x), float(y)) for x, y in (corner.split(",") for corner in corners)]
    ImageDraw.Draw(mask).polygon(points, fill=1)
    return np.asarray(mask.convert("L")) > 0  # flags of Pillow's own have bytes of 255, which peers miscount


def cut_square(picture: SetImage, width: int, seed: int) -> HoledPicture:
    """A picture with a square hole somewhere; the seed, its name and the width say where."""
    pixels = picture.pixels()
    generator = np.random.default_rng((seed, width, int(picture.sha256[:8], 16)))
    top, left = (int(generator.integers(_MARGIN, size - _MARGIN - width + 1)) for size in pixels.shape[:2])
    missing = np.zeros(pixels.shape[:2], np.bool_)
    missing[top : top + width, left : left + width] = True
    return HoledPicture(picture.name, pixels, missing)


def make_textures(width: int, seed: int) -> Iterator[HoledPicture]:
    """Made textures with a square hole in the middle."""
    missing = np.zeros((SIDE, SIDE), np.bool_)
    first = (SIDE - width) // 2
    missing[first : first + width, first : first + width] = True
    generator = np.random.default_rng(seed)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
    noise = generator.normal(0, 1, (3, SIDE, SIDE))
    row = y // 12
    shifted = x + 12 * (row % 2)
    mortar = (y % 12 < 2) | (shifted % 24 < 2)
    brick = 0.45 + 0.1 * np.sin(3.7 * row + 5.3 * (shifted // 24)) + 0.02 * noise[0]
    blades, waves = gaussian_filter(noise[1], (5, 0.8)), gaussian_filter(noise[2], (1.5, 8))
    made = {
        "bricks": np.where(mortar, 0.8, brick),
        "stripes": 0.5 + 0.3 * np.sign(np.sin(2 * np.pi * (x + 0.5 * y) / 14)),
        "grass": 0.4 + 0.12 * blades / blades.std(),
        "water": 0.5 + 0.1 * waves / waves.std() + 0.1 * y / SIDE,
        "ramp": 0.3 + 0.4 * (x + y) / (2 * SIDE) + 0.03 * noise[0],
    }
    for name, grey in made.items():
        levels = np.rint(PEAK * np.clip(grey[..., None] * _WARM, 0, 1)).astype(np.uint8)
        yield HoledPicture(name, levels, missing)
