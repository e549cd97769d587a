"""Raws to be converted: real ones, and synthetic ones of any size that are made when they are needed."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from PIL import Image

from demosaic_ntc.batch.discovery import RAW_SUFFIXES, InputSearch
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.header import InputLimits, open_regular
from demosaic_ntc.raw.reading import read_photo

from .. import read_numbers
from ..siblings import SAMPLE, Camera, write_dng
from .fetching import DATA_VARIABLE
from .textures import expose_noisily

MEGA = 1e6
REAL, SYNTHETIC = "raws", "synthetic"

_LARGEST = 150  # megapixels
_PHONE_PICTURE, _PHONE_SLOPE = "kodak/kodim04.png", 8.5e-4


@dataclass(frozen=True, slots=True)
class Raw:
    """A raw to be converted, there or to be made."""

    set: str
    name: str
    sha256: str  # of the file, or what a synthetic one is made from
    megapixels: float
    make: Callable[[Path], Path]  # writes it into a folder, if it must be made

    @classmethod
    def of_file(cls, path: Path) -> "Raw":
        """A raw that can be decoded, or an error."""
        height, width = read_photo(path).size
        digest = sha256(path.read_bytes()).hexdigest()
        return cls(REAL, path.name, digest, height * width / MEGA, lambda folder: path)


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file that is called a raw, whether or not it can be decoded."""

    path: Path
    name: str  # within the folder that holds all
    sha256: str  # empty where the file cannot be read


def find_raws(paths: Iterable[Path] | None, output: Path) -> list[RawFile]:
    """The files and those below folders that a batch takes; without any, the raws of the test data.

    The output folder is not searched.
    """
    search = InputSearch(RAW_SUFFIXES, recursive=True, output=output)
    found = [each.source for each in search.files(paths or _kept_folders())]
    top = os.path.commonpath([path.parent for path in found]) if found else ""
    return [RawFile(path, os.path.relpath(path, top), _digest(path)) for path in found]


def _digest(path: Path) -> str:
    """The checksum of a file; empty where it cannot be read: the program will say why."""
    with suppress(InputError), open_regular(path, InputLimits()) as file:
        return sha256(file.read()).hexdigest()
    return ""


def real_raws(paths: Iterable[Path]) -> list[Raw]:
    """The raws among files, and in folders, that can be decoded; one that is named must be."""
    found = list[Raw]()
    for path in paths:
        if path.is_dir():
            for each in sorted(path.iterdir()):
                with suppress(InputError):
                    found.append(Raw.of_file(each))
        else:
            found.append(Raw.of_file(path))
    return found


def choose_raws(paths: Iterable[Path] | None) -> list[Raw]:
    """The raws among files and in folders; without any those of the test data, if these are there."""
    return real_raws(paths or _kept_folders())


def _kept_folders() -> list[Path]:
    """The folders of raws in the test data."""
    kept = Path(os.environ.get(DATA_VARIABLE) or os.devnull)
    return [kept / name for name in ("raw", "raw_more") if (kept / name).is_dir()]


def synthetic_raws(sizes: str) -> list[Raw]:
    """Synthetic raws of so many megapixels each."""
    otherwise = f"are not megapixels from 0.01 to {_LARGEST}; give e.g. 6,24"
    return [_synthetic(size) for size in read_numbers(sizes, 0.01, _LARGEST, otherwise)]


def _synthetic(megapixels: float) -> Raw:
    """A synthetic raw, three to two, made when it is needed."""
    height = 2 * round((megapixels * MEGA / 1.5) ** 0.5 / 2)
    width = 2 * round(0.75 * height)
    return Raw(
        SYNTHETIC,
        f"synthetic {megapixels:g}",
        f"the sample scene side by side, {width}×{height}",
        height * width / MEGA,
        lambda folder: _write_tiled(folder / "large.dng", height, width),
    )


def phone_raws(megapixels: float) -> list[Raw]:
    """A raw as noisy as a phone's, from a picture of the test data; none where that is not there, or of 0.

    The picture is enlarged twice, for the pixels of phones are finer than their lenses, and mirrored side by
    side. The variance of samples is 8.5e-4 of the light, as of a Samsung SM-A716U.
    """
    source = Path(os.environ.get(DATA_VARIABLE) or os.devnull) / _PHONE_PICTURE
    if not (megapixels and source.is_file()):
        return []
    height = 2 * round((megapixels * MEGA * 3 / 4) ** 0.5 / 2)
    width = 2 * round(height * 2 / 3)
    made = f"{_PHONE_PICTURE} enlarged twice and mirrored, slope {_PHONE_SLOPE:g}, {width}×{height}"

    def make(folder: Path) -> Path:
        return _write_phone(folder / "phone.dng", source, height, width)

    return [Raw(SYNTHETIC, f"phone {megapixels:g}", made, height * width / MEGA, make)]


def _write_phone(target: Path, source: Path, height: int, width: int) -> Path:
    """Write the noisy raw of an enlarged picture."""
    with Image.open(source) as picture:
        enlarged = picture.convert("RGB").resize(
            (2 * picture.width, 2 * picture.height), Image.Resampling.BICUBIC
        )
    pixels = np.asarray(enlarged)
    margins = ((0, max(height - pixels.shape[0], 0)), (0, max(width - pixels.shape[1], 0)), (0, 0))
    whole = np.pad(pixels, margins, mode="symmetric")[:height, :width]
    target.write_bytes(expose_noisily(SRGB_CURVE.decode(whole / 255), _PHONE_SLOPE, 1.0, 0))
    return target


def _write_tiled(target: Path, height: int, width: int) -> Path:
    """Write the sample scene side by side until it is so large."""
    photo = read_photo(SAMPLE)
    repeats = (-(-height // photo.size[0]), -(-width // photo.size[1]))
    cfa = Cfa.parse(photo.array_name)
    write_dng(target, np.tile(photo.mosaic, repeats)[:height, :width], cfa, Camera())
    return target
