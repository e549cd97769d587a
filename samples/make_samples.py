"""Make the files of this folder anew: ``python -m samples.make_samples [folder]``."""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.cfa import BAYER_ROWS, Cfa
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.exif import (
    DATE_TAKEN,
    EXPOSURE_TIME,
    F_NUMBER,
    FOCAL_LENGTH,
    ISO,
    MAKE,
    MODEL,
    Exif,
)
from demosaic_ntc.io.tiff_tags import ASCII, BYTE, RATIONAL, SHORT, Field

from .dng import Camera, exposed, write_dng
from .scene import scene

SIZE, SMALL_SIZE = (192, 256), (36, 48)

EXIF = Exif(
    image={MAKE: Field(ASCII, b"demosaic-ntc\0"), MODEL: Field(ASCII, b"Synthetic camera\0")},
    photo={
        EXPOSURE_TIME: Field(RATIONAL, (Fraction(1, 250),)),
        F_NUMBER: Field(RATIONAL, (Fraction(28, 5),)),
        ISO: Field(SHORT, (200,)),
        FOCAL_LENGTH: Field(RATIONAL, (35,)),
        DATE_TAKEN: Field(ASCII, b"2024:05:17 10:30:00\0"),
    },
    gps={
        0: Field(BYTE, bytes((2, 3, 0, 0))),
        1: Field(ASCII, b"N\0"),
        2: Field(RATIONAL, (48, 12, Fraction(61, 2))),
        3: Field(ASCII, b"E\0"),
        4: Field(RATIONAL, (16, 22, 15)),
    },
)


def rounded(picture: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Display values as bytes."""
    return np.round(picture * 255).astype(np.uint8)


def light_of(truth: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The linear light that a picture of bytes shows: its samples match the stored truth exactly."""
    return SRGB_CURVE.decode(truth / 255)


def make_raws(folder: Path, name: str, truth: NDArray[np.uint8], arrays: list[str]) -> None:
    """The truth as PNG, and what a camera with each colour array sees of it."""
    Image.fromarray(truth).save(folder / f"{name}.png", optimize=True)
    for array in arrays:
        cfa, camera = Cfa.from_name(array), Camera()
        path = folder / f"{name}_{array.lower()}.dng"
        write_dng(path, exposed(light_of(truth), cfa, camera), cfa, camera, exif=EXIF)


def make_masked(folder: Path, truth: NDArray[np.uint8]) -> None:
    """The truth with scratches and dead pixels, and the mask that marks them (white: repair)."""
    height, width = truth.shape[:2]
    y, x = np.mgrid[0:height, 0:width]
    scratches = (np.abs(y - 0.4 * x - 30) < 1.5) | (np.abs(x - 0.2 * y - 150) < 1)
    dead = np.random.default_rng(3).random((height, width)) < 0.01
    missing = scratches | dead
    damaged = np.where(missing[..., None], np.uint8(255), truth)
    Image.fromarray(damaged).save(folder / "scene_damaged.png", optimize=True)
    Image.fromarray(np.where(missing, 255, 0).astype(np.uint8)).save(folder / "scene_mask.png", optimize=True)


def main(folder: Path) -> None:
    """Write all samples."""
    truth = rounded(scene(*SIZE))
    make_raws(folder, "scene", truth, [*BAYER_ROWS, "XTRANS"])
    make_masked(folder, truth)
    make_raws(folder, "small", rounded(scene(*SMALL_SIZE)), ["RGGB", "XTRANS"])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
