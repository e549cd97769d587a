"""WebP, AVIF and JPEG XL: pixels, profile and EXIF come back; sizes and subsampling are as asked."""

from pathlib import Path

import imagecodecs
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from conftest import Run
from demosaic_ntc.developing.framing import shrink
from demosaic_ntc.developing.settings import Output, Settings
from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.writing import write_picture
from demosaic_ntc.io.colour import SPACES, icc_profile
from demosaic_ntc.io.exif import Exif, read_exif
from demosaic_ntc.io.formats import Loss
from demosaic_ntc.io.tiff_tags import ASCII, Field, read_block

PROFILE, SRGB = icc_profile(SPACES["p3"]), icc_profile(SPACES["srgb"])
EXIF = Exif(image={271: Field(ASCII, b"Maker\0"), 272: Field(ASCII, b"Model\0")})


def _smooth(dtype: type[np.unsignedinteger] = np.uint8) -> NDArray[np.unsignedinteger]:
    rows, columns = np.mgrid[:60, :80]
    light = np.stack([rows / 60, columns / 80, (rows + columns) / 140], axis=2)
    return (light * np.iinfo(dtype).max).astype(dtype)


def _write(target: Path, pixels: NDArray[np.unsignedinteger], loss: Loss, profile: bytes = PROFILE) -> Path:
    picture = DecodedImage(pixels, profile=profile, exif=EXIF)
    write_picture(target, picture, overwrite=True, loss=loss, report=lambda done, total: None)
    return target


@pytest.mark.parametrize(("suffix", "exact"), [(".webp", True), (".avif", False)])
def test_pixels_profile_and_exif_come_back(tmp_path: Path, suffix: str, exact: bool) -> None:
    for quality in (100, 80):
        target = _write(tmp_path / f"a{suffix}", _smooth(), Loss(quality))
        with Image.open(target) as picture:
            difference = np.abs(np.asarray(picture.convert("RGB")).astype(int) - _smooth())
            assert difference.max() == 0 if exact and quality == 100 else difference.mean() < 4
            assert picture.info["icc_profile"] == PROFILE
            assert picture.getexif()[272] == "Model"


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_jpeg_xl_keeps_the_depth(tmp_path: Path, dtype: type[np.unsignedinteger]) -> None:
    content = _write(tmp_path / "a.jxl", _smooth(dtype), Loss(100), SRGB).read_bytes()
    assert np.array_equal(imagecodecs.jpegxl_decode(content), _smooth(dtype))
    smaller = _write(tmp_path / "b.jxl", _smooth(dtype), Loss(90), SRGB).read_bytes()
    difference = np.abs(imagecodecs.jpegxl_decode(smaller).astype(float) - _smooth(dtype))
    assert difference.mean() < 0.02 * np.iinfo(dtype).max


def test_jpeg_xl_has_exif_in_its_box(tmp_path: Path) -> None:
    """Right behind the head, with the four bytes before it that the standard asks for."""
    content = _write(tmp_path / "a.jxl", _smooth(), Loss(90), SRGB).read_bytes()
    assert content[:12] == b"\0\0\0\x0cJXL \r\n\x87\n"
    place = content.index(b"Exif")
    assert content[place + 4 : place + 8] == bytes(4)
    assert read_exif(read_block(content[place + 8 :])).camera == "Maker Model"


def test_jpeg_xl_of_other_colours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="sRGB alone"):
        _write(tmp_path / "a.jxl", _smooth(), Loss())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("subsampling", "steps"), [("4:4:4", (1, 1)), ("4:2:2", (2, 1)), ("4:2:0", (2, 2))])
def test_jpeg_has_the_resolution_of_colours_that_was_asked_for(
    tmp_path: Path, subsampling: str, steps: tuple[int, int]
) -> None:
    target = _write(tmp_path / "a.jpg", _smooth(), Loss(90, subsampling))  # type: ignore[arg-type]
    with Image.open(target) as picture:
        assert picture.layer[0][1:3] == steps  # type: ignore[attr-defined]


def test_webp_ends_where_the_format_does(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="16383 pixels a side"):
        _write(tmp_path / "a.webp", np.zeros((1, 16384, 3), np.uint8), Loss())


@pytest.mark.parametrize("suffix", [".jpg", ".webp", ".avif"])
def test_shallow_formats_have_eight_bits(suffix: str) -> None:
    assert Settings().depth(Path(f"a{suffix}")) == 8
    with pytest.raises(InputError, match="8 bits per channel"):
        Settings(output=Output(bits=16)).depth(Path(f"a{suffix}"))


def test_smaller_pictures_keep_their_proportions_and_brightness() -> None:
    image = (_smooth() / 255).astype(np.float32)
    small = np.asarray(shrink(image, 40))
    assert small.shape == (30, 40, 3)
    assert small.mean(axis=(0, 1)) == pytest.approx(image.mean(axis=(0, 1)), abs=0.01)
    blocks = image.reshape(30, 2, 40, 2, 3).mean(axis=(1, 3))
    assert np.abs(small - blocks)[2:-2, 2:-2].max() < 0.01
    assert shrink(image, 80) is image


@pytest.mark.parametrize(("options", "size"), [(("--resize", 24), (24, 18)), (("--half",), (24, 18))])
def test_the_command_makes_small_pictures(
    tmp_path: Path, small: Path, convert: Run, options: tuple[object, ...], size: tuple[int, int]
) -> None:
    assert convert(small, tmp_path / "a.webp", *options).exit_code == 0
    with Image.open(tmp_path / "a.webp") as picture:
        assert picture.size == size


def test_errors_are_not_told_of_small_pictures(tmp_path: Path, small: Path, convert: Run) -> None:
    result = convert(
        small, tmp_path / "a.png", "--half", "--method", "ntc", "--error-map", tmp_path / "e.tif"
    )
    assert result.exit_code in (2, 3)
    assert list(tmp_path.iterdir()) == []
