"""Pictures come back from their files exactly, read by independent readers."""

import io
import os
import zlib
from pathlib import Path
from typing import Any, cast

import cv2
import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis.strategies import binary
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.errors import OutputError
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.png_writing import combine_checksums
from demosaic_ntc.images.writing import write_picture
from demosaic_ntc.io.colour import SPACES, icc_profile
from demosaic_ntc.io.exif import Exif, finish_metadata
from demosaic_ntc.io.formats import Loss
from demosaic_ntc.io.pixels import LazyImage

PROFILE = icc_profile(SPACES["srgb"])
EXIF = finish_metadata(
    Exif(),
    size=(130, 70),
    orientation=1,
    srgb=True,
    parameters="method=ntc",
    hand_balanced=False,
    software="demosaic-ntc",
)


def _unheard(_done: int, _total: int) -> None:
    pass


def _pixels(bits: int) -> NDArray[np.unsignedinteger]:
    depth = np.uint16 if bits == 16 else np.uint8
    return np.random.default_rng(0).integers(0, 2**bits, (130, 70, 3)).astype(depth)


def _write(target: Path, pixels: NDArray[np.unsignedinteger], exif: Exif = EXIF, quality: int = 95) -> None:
    picture = DecodedImage(pixels, profile=PROFILE, exif=exif)
    write_picture(target, picture, overwrite=False, loss=Loss(quality), report=_unheard)


@pytest.mark.parametrize("bits", [8, 16])
def test_png_comes_back_exactly(tmp_path: Path, bits: int) -> None:
    _write(tmp_path / "a.png", _pixels(bits))
    read = cv2.imread(str(tmp_path / "a.png"), cv2.IMREAD_UNCHANGED)
    assert read is not None
    assert np.array_equal(read[..., ::-1], _pixels(bits))


@pytest.mark.parametrize("exif", [EXIF, Exif()])
@pytest.mark.parametrize("bits", [8, 16])
def test_tiff_comes_back_exactly(tmp_path: Path, bits: int, exif: Exif) -> None:
    _write(tmp_path / "a.tif", _pixels(bits), exif)
    read = cv2.imread(str(tmp_path / "a.tif"), cv2.IMREAD_UNCHANGED)
    assert read is not None
    assert np.array_equal(read[..., ::-1], _pixels(bits))
    with tifffile.TiffFile(tmp_path / "a.tif") as tiff:
        assert tiff.pages.first.iccprofile == PROFILE
        assert np.array_equal(tiff.asarray(), _pixels(bits))


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif"])
def test_profile_is_embedded(tmp_path: Path, suffix: str) -> None:
    _write(tmp_path / f"a{suffix}", _pixels(8))
    with Image.open(tmp_path / f"a{suffix}") as picture:
        assert picture.info["icc_profile"] == PROFILE


def test_turned_views_are_written_as_seen(tmp_path: Path) -> None:
    turned = _pixels(16).swapaxes(0, 1)[::-1]
    _write(tmp_path / "a.png", turned)
    _write(tmp_path / "a.tif", turned)
    for name in ("a.png", "a.tif"):
        read = cv2.imread(str(tmp_path / name), cv2.IMREAD_UNCHANGED)
        assert read is not None
        assert np.array_equal(read[..., ::-1], turned)


def test_jpeg_is_close_and_keeps_full_colour_resolution(tmp_path: Path) -> None:
    smooth = np.zeros((64, 64, 3), dtype=np.uint8)
    smooth[:, ::2] = (255, 0, 0)
    _write(tmp_path / "a.jpg", smooth, quality=100)
    with Image.open(tmp_path / "a.jpg") as picture:
        assert np.abs(np.asarray(picture).astype(int) - smooth).mean() < 3


def test_lower_jpeg_quality_makes_smaller_files(tmp_path: Path) -> None:
    for quality in (95, 50):
        _write(tmp_path / f"{quality}.jpg", _pixels(8), quality=quality)
    assert os.path.getsize(tmp_path / "50.jpg") < os.path.getsize(tmp_path / "95.jpg")


def test_unknown_extension_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"unknown picture format '\.gif'; use one of \.png"):
        _write(tmp_path / "a.gif", _pixels(8))


def test_finished_pixels_are_no_dng(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"unknown picture format '\.dng'; use one of \.png"):
        _write(tmp_path / "a.dng", _pixels(8))
    assert not list(tmp_path.iterdir())


def test_equal_pictures_are_equal_files(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        _write(tmp_path / name, _pixels(16))
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_rows_are_reported_as_they_are_written() -> None:
    from demosaic_ntc.images.png_writing import write_png

    seen: list[tuple[int, int]] = []
    write_png(io.BytesIO(), _pixels(16), PROFILE, None, lambda done, total: seen.append((done, total)))
    assert seen == [(64, 130), (128, 130), (130, 130)]


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("bits", [8, 16])
def test_bands_packed_in_threads_make_the_same_file(tmp_path: Path, suffix: str, bits: int) -> None:
    """Three bands and a part of one; the picture is made as it is read."""
    codes = np.random.default_rng(2).integers(0, 2**bits, (203, 37, 3)).astype(f"uint{bits}")
    lazy = LazyImage(codes.shape[:2], codes.dtype, lambda rows, columns: codes[rows, columns])
    files = []
    for threads in (1, 3):
        target, seen = tmp_path / f"{threads}.{suffix}", list[tuple[int, int]]()
        picture = DecodedImage(cast("NDArray[Any]", lazy))

        def note(done: int, total: int, seen: list[tuple[int, int]] = seen) -> None:
            seen.append((done, total))

        write_picture(target, picture, overwrite=False, report=note, threads=threads)
        assert seen == [(64, 203), (128, 203), (192, 203), (203, 203)]
        files.append(target.read_bytes())
    assert files[0] == files[1]
    decoded = (
        tifffile.imread(target) if suffix == "tif" else np.asarray(cv2.imread(str(target), -1))[..., ::-1]
    )
    assert np.array_equal(decoded, codes)


@given(binary(max_size=70_000), binary(max_size=70_000))
def test_checksums_of_pieces_make_that_of_all(first: bytes, second: bytes) -> None:
    both = combine_checksums(zlib.adler32(first), zlib.adler32(second), len(second))
    assert both == zlib.adler32(first + second)
