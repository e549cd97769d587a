"""Raws that need no demosaicing: linear DNGs of every kind of samples, against known ones."""

import io
import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest
import rawpy
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError, NotAnImage, TooLarge, Truncated, Unsupported
from demosaic_ntc.io.exif import Exif
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import InputLimits, open_header
from demosaic_ntc.io.tiff_tags import LONG, RATIONAL, SHORT, SRATIONAL, UNDEFINED, Field
from demosaic_ntc.raw import libraw
from demosaic_ntc.raw.dng.linear_reading import size_in
from demosaic_ntc.raw.photo import Box, RawPhoto
from demosaic_ntc.raw.reading import read_photo
from samples.dng import Camera, write_dng
from samples.linear_dng import Compression, linear_dng

HEIGHT, WIDTH = 40, 56
FULL = Camera(black=0, white=65535)
ONE = {50717: Field(LONG, (1,))}


def _light(planes: int = 3) -> NDArray[np.float64]:
    """A smooth picture between 0 and 1, (height, width, planes)."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    waves = [0.5 + 0.45 * np.sin(x / (5 + k) + k) * np.cos(y / (6 + 2 * k)) for k in range(planes)]
    return np.stack(waves, axis=2)


def _codes(planes: int = 3, white: int = 65535) -> NDArray[np.uint16]:
    return np.rint(_light(planes) * white).astype(np.uint16)


def _read(tmp_path: Path, content: bytes, **limits: Any) -> RawPhoto:
    path = tmp_path / "a.dng"
    path.write_bytes(content)
    return read_photo(path, limits=InputLimits(**limits) if limits else None)


@pytest.mark.parametrize("tile", [0, 16])
@pytest.mark.parametrize("compression", ["none", "deflate", "lossless JPEG", "JPEG XL"])
@pytest.mark.parametrize("planes", [1, 3])
def test_sixteen_bits_are_read_as_they_are(
    tmp_path: Path, compression: Compression, tile: int, planes: int
) -> None:
    codes = _codes(planes)
    photo = _read(tmp_path, linear_dng(codes, FULL, compression=compression, tile=tile))
    assert np.array_equal(photo.mosaic, codes if planes == 3 else codes[..., 0])
    assert (photo.white, photo.black.max()) == (65535, 0)
    assert photo.is_monochrome == (planes == 1)
    assert photo.array_name == ("linear" if planes == 3 else "MONO")


@pytest.mark.parametrize(("kind", "off"), [(np.float32, 0.51), (np.float16, 65535 / 2**11)])
@pytest.mark.parametrize("compression", ["none", "deflate"])
def test_floating_point_samples_fill_sixteen_bits(
    tmp_path: Path, kind: type, off: float, compression: Compression
) -> None:
    light = _light()
    light[3, 4] = (np.nan, 1.5, -0.2)
    photo = _read(tmp_path, linear_dng(light.astype(kind), FULL, compression=compression, changed=ONE))
    expected = np.clip(np.nan_to_num(light), 0, 1) * 65535
    assert photo.white == 65535
    assert photo.mosaic == pytest.approx(expected, abs=off)


def _map_polynomial(coefficients: tuple[float, ...], planes: int = 3, right: int = WIDTH) -> bytes:
    """An opcode list that takes the samples of all planes by a polynomial."""
    area = struct.pack(">8L", 0, 0, HEIGHT, right, 0, planes, 1, 1)
    body = area + struct.pack(f">L{len(coefficients)}d", len(coefficients) - 1, *coefficients)
    return struct.pack(">5L", 1, 8, 0x01030000, 0, len(body)) + body


def _map_table(values: tuple[int, ...]) -> bytes:
    area = struct.pack(">8L", 0, 0, HEIGHT, WIDTH, 0, 3, 1, 1)
    body = area + struct.pack(f">L{len(values)}H", len(values), *values)
    return struct.pack(">5L", 1, 7, 0x01030000, 0, len(body)) + body


def test_lossy_samples_go_through_the_curve_of_their_opcode(tmp_path: Path) -> None:
    coefficients = (0.0, 0.125, 0.0, 0.875)
    x = np.linspace(0, 1, 4001)
    curve = 0.125 * x + 0.875 * x**3
    codes = np.rint(np.interp(_light(), curve, x) * 255).astype(np.uint8)
    changed = {51009: Field(UNDEFINED, _map_polynomial(coefficients))}
    camera = Camera(black=0, white=255)
    content = linear_dng(codes, camera, compression="lossy JPEG", tile=16, changed=changed)
    photo = _read(tmp_path, content)
    assert photo.white == 65535
    assert photo.mosaic / 65535 == pytest.approx(_light(), abs=0.05)
    assert np.abs(photo.mosaic / 65535 - _light()).mean() < 0.006


def test_curves_of_opcodes_are_exact(tmp_path: Path) -> None:
    codes = _codes(white=255).astype(np.uint8)
    camera, squared = Camera(black=0, white=255), _map_polynomial((0.0, 0.0, 1.0))
    photo = _read(tmp_path, linear_dng(codes, camera, changed={51009: Field(UNDEFINED, squared)}))
    assert np.array_equal(photo.mosaic, np.rint((codes / 255.0) ** 2 * 65535))
    table = _map_table(tuple(range(0, 65536, 2)))  # twice, up to the end of the table
    photo = _read(tmp_path, linear_dng(_codes(), FULL, changed={51009: Field(UNDEFINED, table)}))
    assert np.array_equal(photo.mosaic, np.minimum(2 * _codes().astype(int), 65534))


def test_opcodes_for_a_part_of_the_picture_are_no_curve_of_its_samples(tmp_path: Path) -> None:
    part = _map_polynomial((0.0, 0.0, 1.0), right=WIDTH - 1)
    photo = _read(tmp_path, linear_dng(_codes(), FULL, changed={51009: Field(UNDEFINED, part)}))
    assert np.array_equal(photo.mosaic, _codes())


def test_linearisation_table(tmp_path: Path) -> None:
    table = tuple(int(value) for value in np.rint(np.linspace(0, 1, 200) ** 2 * 60000))
    codes = _codes(white=255).astype(np.uint8)
    changed = {50712: Field(SHORT, table), 50717: Field(LONG, (60000,))}
    photo = _read(tmp_path, linear_dng(codes, FULL, changed=changed))
    assert np.array_equal(photo.mosaic, np.array(table)[np.minimum(codes, 199)])
    assert photo.white == 60000


def test_levels_of_one_white_stay_and_others_are_scaled(tmp_path: Path) -> None:
    changed = {50714: Field(LONG, (100, 200, 300)), 50717: Field(LONG, (60000,))}
    photo = _read(tmp_path, linear_dng(_codes(), FULL, changed=changed))
    assert np.array_equal(photo.mosaic, _codes())
    assert photo.black.tolist() == [[[100, 200, 300]]]
    assert photo.white == 60000
    whites = (60000, 50000, 65000)
    photo = _read(tmp_path, linear_dng(_codes(), FULL, changed={**changed, 50717: Field(LONG, whites)}))
    black, white = np.array([100, 200, 300]), np.array(whites)
    light = np.clip((_codes() - black) / (white - black), 0, 1)
    assert photo.mosaic == pytest.approx(light * 65535, abs=0.51)
    assert (photo.white, photo.black.max()) == (65535, 0)


def test_black_levels_may_have_a_period(tmp_path: Path) -> None:
    levels = np.arange(12).reshape(2, 2, 3) * 50
    changed = {50713: Field(SHORT, (2, 2)), 50714: Field(LONG, tuple(int(v) for v in levels.ravel()))}
    photo = _read(tmp_path, linear_dng(_codes(), FULL, changed=changed))
    black = np.tile(levels, (HEIGHT // 2, WIDTH // 2, 1))
    light = np.clip((_codes() - black) / (65535 - black), 0, 1)
    assert photo.mosaic == pytest.approx(light * 65535, abs=0.51)


def test_areas_and_orientation(tmp_path: Path) -> None:
    changed = {
        50829: Field(LONG, (4, 6, 36, 50)),
        50719: Field(LONG, (3, 2)),
        50720: Field(LONG, (30, 20)),
    }
    photo = _read(tmp_path, linear_dng(_codes(), replace(FULL, orientation=6), changed=changed))
    assert np.array_equal(photo.mosaic, _codes()[4:36, 6:50])
    assert photo.camera_crop == Box(2, 3, 20, 30)
    assert photo.orientation == 6


def _rationals(*values: float) -> Field:
    return Field(SRATIONAL, tuple(Fraction(value).limit_denominator(1000) for value in values))


COLOURS: dict[str, dict[int, Field]] = {
    "one matrix": {},
    "analog balance": {50727: Field(RATIONAL, (2, 1, 1.5))},
    "calibration": {50723: _rationals(0.98, 0, 0, 0, 1, 0, 0, 0, 1.02)},
    "two lights": {
        50722: _rationals(0.7, -0.1, -0.1, -0.4, 1.2, 0.2, -0.1, 0.2, 0.6),
        50779: Field(SHORT, (17,)),
    },
}


@pytest.mark.parametrize("changed", COLOURS.values(), ids=COLOURS)
def test_colours_are_those_of_a_mosaic_that_states_the_same(
    tmp_path: Path, changed: dict[int, Field]
) -> None:
    linear = _read(tmp_path, linear_dng(_codes(), FULL, changed=changed))
    cfa, path = Cfa.from_name("RGGB"), tmp_path / "b.dng"
    write_dng(path, cfa.sample(_codes()), cfa, FULL, changed=changed)
    mosaic = read_photo(path)
    assert linear.matrix.source == mosaic.matrix.source == "DNG"
    assert linear.matrix.to_srgb == pytest.approx(mosaic.matrix.to_srgb, abs=1e-6)
    assert linear.camera_balance == pytest.approx(mosaic.camera_balance, abs=1e-6)
    assert linear.daylight_balance == pytest.approx(mosaic.daylight_balance, abs=1e-6)


def test_a_monochrome_sensor_has_no_colours(tmp_path: Path) -> None:
    photo = _read(tmp_path, linear_dng(_codes(1), FULL))
    assert photo.camera_balance is None
    assert photo.daylight_balance is None
    assert photo.matrix.source == "none"


@pytest.mark.parametrize(("share", "said"), [(0.0, False), (0.5, True)])
def test_a_file_says_whether_its_noise_was_removed(tmp_path: Path, share: float, said: bool) -> None:
    photo = _read(tmp_path, linear_dng(_codes(), FULL, changed={50935: Field(RATIONAL, (share,))}))
    assert photo.is_denoised == said


def test_samples_that_libraw_decodes_itself() -> None:
    """Raws of other formats that are linear or monochrome come from LibRaw with their samples."""
    for planes in (1, 3):
        with rawpy.RawPy() as raw:
            raw.open_buffer(io.BytesIO(linear_dng(_codes(planes), FULL)))
            photo = libraw._photo(raw, Exif(), {}, is_dng=planes == 3)
        assert np.array_equal(photo.mosaic, _codes(planes) if planes == 3 else _codes(1)[..., 0])
        assert photo.is_monochrome == (planes == 1)
        assert (photo.camera_balance is None) == (planes == 1)


def test_a_colour_array_can_be_taken_off_but_not_put_on(tmp_path: Path, small: Path) -> None:
    photo = read_photo(small, Layout(cfa=Cfa.from_name("mono")))
    assert photo.is_monochrome
    assert photo.camera_balance is None
    assert photo.matrix.source == "none"
    assert np.array_equal(photo.mosaic, read_photo(small).mosaic)
    path = tmp_path / "a.dng"
    path.write_bytes(linear_dng(_codes(), FULL))
    with pytest.raises(Unsupported, match="leave out `cfa`"):
        read_photo(path, Layout(cfa=Cfa.from_name("RGGB")))


def test_linear_raws_are_known_before_they_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "a.dng"
    path.write_bytes(linear_dng(_codes(), FULL))
    with open_header(path, InputLimits()) as header:
        assert header.array_kind == "mono"


def _with(tags: dict[int, Field], **how: Any) -> bytes:
    return linear_dng(_codes(), FULL, changed=tags, **how)


DAMAGED: dict[str, tuple[bytes, type[InputError], str]] = {
    "tile beyond the end": (_with({324: Field(LONG, (8,) * 11 + (10**8,))}, tile=16), Truncated, "missing"),
    "too few tiles": (
        _with({324: Field(LONG, (8,)), 325: Field(LONG, (900,))}, tile=16),
        Truncated,
        "1 of 12 tiles",
    ),
    "no data": (_with({273: Field(LONG, (0,))}), Truncated, "blocks"),
    "four planes": (_with({277: Field(SHORT, (4,))}), Unsupported, "4 samples per pixel"),
    "signed samples": (_with({339: Field(SHORT, (2, 2, 2))}), Unsupported, "kind of samples"),
    "interleaved": (_with({50975: Field(LONG, (2,))}), Unsupported, "interleaved"),
    "unknown compression": (_with({259: Field(SHORT, (4711,))}), Unsupported, "compression (4711)"),
    "white below black": (_with({50717: Field(LONG, (0,))}), NotAnImage, "not above black"),
    "area outside": (_with({50829: Field(LONG, (0, 0, 99, 99))}), NotAnImage, "active area"),
    "opcodes cut off": (_with({51009: Field(UNDEFINED, bytes(3) + b"\2" + bytes(7))}), Truncated, "opcode"),
    "no JPEG": (_with({259: Field(SHORT, (7,))}), Truncated, "JPEG"),
    "no JPEG XL": (_with({259: Field(SHORT, (52546,))}), Truncated, "JPEG XL"),
    "half a tile": (
        linear_dng(_codes(), FULL, compression="JPEG XL")[:900]
        + linear_dng(_codes(), FULL, compression="JPEG XL")[900:].replace(b"\x55", b"\x56"),
        Truncated,
        "damaged",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_refused_by_name(tmp_path: Path, name: str) -> None:
    content, kind, words = DAMAGED[name]
    with pytest.raises(kind, match=words.replace("(", r"\(").replace(")", r"\)")):
        _read(tmp_path, content)


@pytest.mark.parametrize("compression", ["lossless JPEG", "JPEG XL"])
def test_tiles_that_call_themselves_larger_are_not_decoded(tmp_path: Path, compression: Compression) -> None:
    """A strip of 1024 pixels in whose place a picture of many more lies."""
    large = np.zeros((256, 256, 3), np.uint16)
    changed = {tag: Field(LONG, (32,)) for tag in (256, 257, 278)}
    with pytest.raises(TooLarge, match="calls itself 256×256"):
        _read(tmp_path, linear_dng(large, FULL, compression=compression, changed=changed))


def test_limits_hold_before_anything_is_decoded(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="2240 pixels, the limit is 2000"):
        _read(tmp_path, linear_dng(_codes(), FULL), pixels=2000)


@pytest.mark.parametrize(
    "size", [(8, 8), (16, 256), (40, 56), (48, 64), (24, 36), (300, 7), (9, 16), (4, 5), (600, 9000)]
)
def test_sizes_of_tiles_are_read_in_their_headers(size: tuple[int, int]) -> None:
    picture = np.zeros(size, np.uint8)
    height, width = size
    assert size_in(bytes(imagecodecs.jpegxl_encode(picture, lossless=True)), 52546) == (width, height)
    container = imagecodecs.jpegxl_encode(picture, lossless=True, usecontainer=True)
    assert size_in(bytes(container), 52546) == (width, height)
    assert size_in(bytes(imagecodecs.jpeg8_encode(picture)), 7) == (width, height)
    assert size_in(b"anything", 8) is None
