"""Folders of test pictures: 8-bit RGB files without loss, in the order a reader would count them."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from demosaic_ntc.errors import InputError, Truncated, Unsupported, damage_explained
from demosaic_ntc.io.header import InputLimits, open_regular, prefix_path

from ..measure.metrics import SSIM_WINDOW, Bytes

#: JPEG is left out on purpose: its blocks are no truth.
SUFFIXES = (".png", ".tif", ".tiff", ".bmp", ".ppm")
_FORMATS = ("PNG", "TIFF", "BMP", "PPM")

# In a PNG's header: eight bits per channel, colour without palette or transparency.
_PNG_EIGHT_BIT_RGB = bytes((8, 2))


@dataclass(frozen=True, slots=True)
class SetImage:
    """A picture of a set; the checksum of its file says which it is, whatever it is called."""

    path: Path
    sha256: str
    height: int
    width: int

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    def pixels(self) -> Bytes:
        """Height × width × 3 samples."""
        return decode_picture(self.path)[1]


@dataclass(frozen=True, slots=True)
class ImageSet:
    """The pictures of a folder that are used, and the names of those that are not."""

    name: str
    pictures: tuple[SetImage, ...]
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many pictures the whole set has."""
        return len(self.pictures) + len(self.left_out)

    @property
    def sizes(self) -> str:
        """How many pictures are how wide and high."""
        counts = Counter(f"{picture.width}×{picture.height}" for picture in self.pictures)
        return ", ".join(f"{count} of {size}" for size, count in counts.items())


def read_sets(folders: Iterable[Path], limit: int | None = None) -> list[ImageSet]:
    """The sets in some folders, each folder once; every picture is decoded, so that none fails later."""
    sets = [read_set(folder, limit) for folder in dict.fromkeys(folder.resolve() for folder in folders)]
    if twice := _find_repeated(each.name for each in sets):
        raise InputError(f"two folders are called {twice}; rename one, the name stands for the set")
    return sets


def read_set(folder: Path, limit: int | None = None) -> ImageSet:
    """The pictures in a folder, in natural order; of those only the first `limit` are used."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; give one with pictures, or kodak or mcmaster")
    paths = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.name[0] != "."]
    if not paths:
        raise InputError(f"{folder}: there are no pictures ({' '.join(SUFFIXES)}) in it; give another folder")
    paths.sort(
        key=lambda path: [  # 2.tif comes before 10.tif
            (part.isdigit(), int(part) if part.isdigit() else 0, part)
            for part in re.findall(r"\d+|\D+", path.name)
        ]
    )
    if twice := _find_repeated(path.stem for path in paths):
        raise InputError(f"{folder}: two pictures are called {twice}; rename or remove one")
    count = len(paths) if limit is None else limit
    pictures = tuple(read_picture(path) for path in paths[:count])
    return ImageSet(folder.name, pictures, tuple(path.stem for path in paths[count:]))


def select_numbered(each: ImageSet, numbers: str) -> ImageSet:
    """The pictures of a set with these numbers, such as ``1-8,23``, as a set of its own that says so."""
    chosen = dict.fromkeys(number for part in numbers.split(",") for number in _range(part))
    if not all(1 <= number <= len(each.pictures) for number in chosen):
        raise InputError(
            f"{each.name} has pictures 1 to {len(each.pictures)}, not all of {numbers}; give fewer"
        )
    return ImageSet(f"{each.name} {numbers}", tuple(each.pictures[number - 1] for number in chosen))


def first(each: ImageSet, count: int) -> str:
    """The numbers of the first pictures."""
    return f"1-{min(count, len(each.pictures))}"


def _range(part: str) -> range:
    """The numbers of ``3`` or ``1-8``."""
    first, _, last = part.partition("-")
    try:
        return range(int(first), int(last or first) + 1)
    except ValueError:
        raise InputError(f"{part!r} is not the number of a picture; give such as 1-8,23") from None


def _find_repeated(names: Iterable[str]) -> str | None:
    """A name that is there twice, if there is one: figures are shown by name."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def read_picture(path: Path) -> SetImage:
    """A picture whose file can be decoded."""
    checksum, pixels = decode_picture(path)
    return SetImage(path, checksum, *pixels.shape[:2])


def check_crop(sets: Iterable[ImageSet], crop: int) -> None:
    """Refuse a border that leaves too little of a picture to be compared."""
    for picture in (picture for each in sets for picture in each.pictures):
        if min(picture.height, picture.width) - 2 * crop < SSIM_WINDOW:
            raise InputError(
                f"{picture.path}: {picture.width}×{picture.height} leaves less than {SSIM_WINDOW} pixels "
                f"inside a border of {crop}; give a smaller --crop or larger pictures"
            )


def decode_picture(path: Path) -> tuple[str, Bytes]:
    """The checksum of a file and its samples, (height, width, 3), or an error that says why not."""
    with prefix_path(path):
        with open_regular(path, InputLimits()) as file:
            content = file.read()
        try:
            with damage_explained("picture"), Image.open(BytesIO(content), formats=_FORMATS) as image:
                is_deeper = image.format == "PNG" and content[24:26] != _PNG_EIGHT_BIT_RGB
                if image.mode != "RGB" or is_deeper:
                    words = f"is not 8-bit RGB (mode {image.mode})"
                    raise Unsupported(f"{words}; convert it or take it out of the folder")
                return sha256(content).hexdigest(), np.array(image)
        except Truncated as error:
            if isinstance(error.__cause__, UnidentifiedImageError):
                raise Unsupported("is not a picture that can be read; give PNG, TIFF, BMP or PPM") from error
            raise
