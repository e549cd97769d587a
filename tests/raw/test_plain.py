import io
from pathlib import Path

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError, TooLarge, Truncated, Unsupported
from demosaic_ntc.images.png_writing import GREY, PngChunks, PngForm, write_png_as
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import read_header
from demosaic_ntc.raw.plain import read_headerless
from demosaic_ntc.raw.reading import read_photo

RGGB = Cfa.from_name("RGGB")
MOSAIC = np.arange(0, 65536, 1024, dtype=np.uint16).reshape(8, 8)


@pytest.mark.parametrize("depth", [np.uint8, np.uint16])
@pytest.mark.parametrize("suffix", [".tif", ".png"])
def test_one_channel_pictures_come_back_exactly(tmp_path: Path, suffix: str, depth: type) -> None:
    path = tmp_path / f"mosaic{suffix}"
    mosaic = (MOSAIC >> 8).astype(np.uint8) if depth is np.uint8 else MOSAIC
    if suffix == ".tif":
        tifffile.imwrite(path, mosaic)
    else:
        Image.fromarray(mosaic).save(path)
    photo = read_photo(path, Layout(cfa=RGGB))
    assert np.array_equal(photo.mosaic, mosaic)
    assert photo.white == np.iinfo(depth).max
    assert photo.cfa == RGGB


def test_depth_given_by_the_user_sets_white(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "m.tif", MOSAIC)
    assert read_photo(tmp_path / "m.tif", Layout(cfa=RGGB, bits=14)).white == 16383


def test_colour_pictures_are_no_mosaics(tmp_path: Path) -> None:
    colour = np.zeros((8, 8, 3), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "c.tif", colour, photometric="rgb")
    Image.fromarray(colour).save(tmp_path / "c.png")
    for name in ("c.tif", "c.png"):
        with pytest.raises(Unsupported, match="a mosaic "):
            read_photo(tmp_path / name, Layout(cfa=RGGB))


def test_pages_are_counted(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "m.tif", np.zeros((3, 8, 8), dtype=np.uint16), photometric="minisblack")
    with pytest.raises(Unsupported, match="3 frames"):
        read_photo(tmp_path / "m.tif", Layout(cfa=RGGB))


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_shallow_pngs_are_no_mosaics(tmp_path: Path, bits: int) -> None:
    levels = (np.indices((8, 8)).sum(axis=0) % 2**bits).astype(np.uint8)
    with (tmp_path / "m.png").open("wb") as file:
        write_png_as(file, levels, PngForm(bits, GREY), PngChunks(), lambda done, total: None)
    with pytest.raises(Unsupported, match="fewer than 8 bits"):
        read_photo(tmp_path / "m.png", Layout(cfa=RGGB))


def test_cut_png_is_damaged(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 65536, (64, 64)).astype(np.uint16)
    Image.fromarray(noise).save(tmp_path / "m.png")
    data = (tmp_path / "m.png").read_bytes()
    (tmp_path / "m.png").write_bytes(data[: len(data) // 2])
    with pytest.raises(Truncated, match="truncated or damaged"):
        read_photo(tmp_path / "m.png", Layout(cfa=RGGB))


def _headerless(data: bytes, layout: Layout) -> NDArray[np.uint16]:
    return read_headerless(read_header(io.BytesIO(data)), layout).mosaic


def test_headerless_16_bit_samples_are_little_endian() -> None:
    layout = Layout(RGGB, width=8, height=8)
    assert np.array_equal(_headerless(MOSAIC.astype("<u2").tobytes(), layout), MOSAIC)


def test_headerless_8_bit_samples() -> None:
    assert _headerless(bytes(range(64)), Layout(RGGB, 8, 8)).ravel().tolist() == list(range(64))


def test_packed_10_bit_samples() -> None:
    """Four samples 0x3FF, 0x001, 0x2A8, 0x000: high bytes, then their low pairs from the lowest bits up."""
    packed = bytes((0xFF, 0x00, 0xAA, 0x00, 0b00_00_01_11))
    mosaic = _headerless(packed * 2, Layout(RGGB, width=4, height=2))
    assert mosaic.tolist() == [[0x3FF, 0x001, 0x2A8, 0x000]] * 2


def test_packed_12_bit_samples() -> None:
    packed = bytes((0xAB, 0x12, 0x3C))
    assert _headerless(packed * 2, Layout(RGGB, width=2, height=2)).tolist() == [[0xABC, 0x123]] * 2


def test_length_that_does_not_fit_is_named() -> None:
    with pytest.raises(InputError, match="100 bytes, which 8×8 samples do not fill; check `width`"):
        _headerless(bytes(100), Layout(RGGB, 8, 8))


def test_headerless_data_needs_its_array() -> None:
    with pytest.raises(InputError, match="`width` `height` `bits` `cfa`"):
        _headerless(bytes(64), Layout(None, 8, 8))


def test_headerless_size_is_bounded() -> None:
    with pytest.raises(TooLarge):
        _headerless(bytes(64), Layout(RGGB, 60000, 60000))


def test_width_without_height_makes_no_sense() -> None:
    with pytest.raises(InputError, match="go together"):
        Layout(RGGB, width=8)


def test_mosaic_smaller_than_its_array_is_refused(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "m.tif", MOSAIC[:3, :3])
    with pytest.raises(InputError, match=r"m\.tif: .* smaller than one 6×6 period"):
        read_photo(tmp_path / "m.tif", Layout(cfa=Cfa.from_name("X-Trans")))
