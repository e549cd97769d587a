"""Headers that we do not know: LibRaw decides, but lengths that it knows make no raws of other data."""

import struct
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import NotAnImage
from demosaic_ntc.io.header import FileHeader
from demosaic_ntc.raw import checks
from demosaic_ntc.raw.reading import read_photo

ROOT = Path(__file__).resolve().parents[2]

# LibRaw takes so many bytes for a raw of 1024×768, whatever they are.
HEIGHT, WIDTH = 768, 1024
LENGTH = HEIGHT * WIDTH


def _photo() -> NDArray[np.uint16]:
    """The scene, four times as large, with some noise."""
    with Image.open(ROOT / "samples" / "scene.png") as picture:
        colours = np.asarray(picture.resize((WIDTH, HEIGHT)), np.uint16)
    noise = np.random.default_rng(1).integers(0, 4, (HEIGHT, WIDTH), dtype=np.uint16)
    return np.minimum(Cfa.from_name("RGGB").sample(colours) + noise, 255)


def test_photo_without_header_is_read_and_the_guess_is_told(tmp_path: Path) -> None:
    mosaic = _photo()
    (tmp_path / "a.raw").write_bytes(mosaic.astype(np.uint8).tobytes())
    photo = read_photo(tmp_path / "a.raw")
    assert np.array_equal(photo.mosaic, mosaic)
    assert any("by its length alone; give `width`" in notice for notice in photo.notices)


def _other_data(name: str) -> bytes:
    match name:
        case "zeros":
            return bytes(LENGTH)
        case "noise":
            return b"\1" + np.random.default_rng(0).bytes(LENGTH - 1)
        case "ramps":
            return bytes(range(256)) * (LENGTH // 256)
        case "text":
            return (Path(__file__).read_bytes() * 1000)[:LENGTH]
        case "turned":
            return _photo().T.astype(np.uint8).tobytes()
        case _:
            return (_photo()[:512, :768] * 57).astype("<u2").tobytes()


@pytest.mark.parametrize("name", ["zeros", "noise", "ramps", "text", "turned", "of two bytes"])
def test_other_data_of_that_length_is_no_raw(tmp_path: Path, name: str) -> None:
    content = _other_data(name)
    assert len(content) == LENGTH
    (tmp_path / "a.raw").write_bytes(content)
    with pytest.raises(NotAnImage, match="no known header; give `width` `height` `bits` `cfa`"):
        read_photo(tmp_path / "a.raw")


@pytest.mark.data
def test_headerless_data_is_not_taken_for_a_camera_of_the_same_length(data: Path) -> None:
    with pytest.raises(NotAnImage, match="no known header"):
        read_photo(data / "raw" / "DSC_1339_768x512_rggb.raw")


def test_quicktake(tmp_path: Path) -> None:
    head = bytearray(738)
    head[:5], head[544:548], head[552:554] = b"qktk\0", struct.pack(">HH", 480, 640), b"\0\x1e"
    (tmp_path / "a.qtk").write_bytes(bytes(head) + np.random.default_rng(0).bytes(480 * 640))
    photo = read_photo(tmp_path / "a.qtk")
    assert (photo.exif.camera, photo.size, photo.array_name) == ("Apple QuickTake 100", (480, 640), "GRBG")


def test_headers_that_libraw_knows_and_we_do_not_are_read(tmp_path: Path) -> None:
    """One of Nokia: maker, models, where the samples are, and how many; ten bits each, four in five bytes."""
    names = b"\0\1\0\1\0@" + b"Nokia\0\0\0" + b"N95\0\0\0\0\0" + bytes(16)
    head = (names + struct.pack(">4H", 64, 0, 80, 60)).ljust(64, b"\0")
    (tmp_path / "a.raw").write_bytes(head + np.random.default_rng(0).bytes(80 * 60 * 5 // 4))
    photo = read_photo(tmp_path / "a.raw")
    assert (photo.size, photo.notices) == ((58, 80), ())


def test_damaged_header_of_a_tiff_is_not_offered_to_libraw(tmp_path: Path, small: Path) -> None:
    """LibRaw would read on, and what its tags say of the samples would be unknown to us."""
    (tmp_path / "a.dng").write_bytes(b"II\x2c\0" + small.read_bytes()[4:])
    with pytest.raises(NotAnImage, match="no known header"):
        read_photo(tmp_path / "a.dng")


@pytest.mark.usefixtures("in_process")
def test_large_files_of_unknown_headers_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.raw").write_bytes(bytes(1000))
    monkeypatch.setattr(checks, "_LARGEST_UNKNOWN", 999)
    monkeypatch.setattr(FileHeader, "read", None)
    with pytest.raises(NotAnImage, match="no known header"):
        read_photo(tmp_path / "a.raw")
