import io
from pathlib import Path

import pytest

from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.errors import InputError, NotAnImage, TooLarge, Truncated, Unsupported
from demosaic_ntc.io.identify import (
    FileKind,
    InputLimits,
    check_is_complete,
    check_is_raw,
    check_pixels,
    is_xtrans,
    kind_of,
    main_directory,
    open_regular,
    prefix_path,
)
from demosaic_ntc.io.tiff_tags import LONG, SHORT, Field, write_directory
from demosaic_ntc.raw.layout import Layout
from demosaic_ntc.raw.reading import likely_array


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"II*\0", FileKind.TIFF),
        (b"MM\0*", FileKind.TIFF),
        (b"FUJIFILMCCD-RAW 0201", FileKind.RAW),
        (b"II\x1a\0\0\0HEAPCCDR", FileKind.RAW),
        (b"\0\0\0\x18ftypcrx ", FileKind.RAW),
        (b"FOVb", FileKind.FOVEON),
        (b"\x89PNG\r\n\x1a\n", FileKind.PNG),
        (b"\xff\xd8\xff\xe0", FileKind.JPEG),
        (b"%!PS-Adobe-3.0 EPSF", FileKind.POSTSCRIPT),
        (b"some text", FileKind.UNKNOWN),
    ],
)
def test_first_bytes_tell_the_kind(head: bytes, kind: FileKind) -> None:
    assert kind_of(io.BytesIO(head.ljust(40, b"\0"))) is kind


def test_unknown_bytes_are_left_to_the_decoder_unless_they_are_of_a_damaged_tiff() -> None:
    check_is_raw(io.BytesIO(b"\x14\x1a" * 100))
    with pytest.raises(NotAnImage, match="`width` `height` `bits` `cfa`"):
        check_is_raw(io.BytesIO(b"MM\0\x1a" * 100))


def test_foveon_has_no_colour_filter_array() -> None:
    with pytest.raises(Unsupported, match="no colour filter array"):
        check_is_raw(io.BytesIO(b"FOVb".ljust(100, b"\0")))


def test_sizes_are_bounded() -> None:
    check_pixels(6000, 4000, InputLimits())
    with pytest.raises(
        TooLarge, match="3600000000 pixels, the limit is 150000000; raise it with `max_pixels`"
    ):
        check_pixels(60000, 60000, InputLimits())
    with pytest.raises(NotAnImage, match="invalid size"):
        check_pixels(0, 4000, InputLimits())


def test_mosaic_is_found_in_a_dng(samples: Path) -> None:
    with (samples / "small_rggb.dng").open("rb") as file:
        directory = main_directory(file)
    assert directory is not None
    assert (directory[256], directory[257]) == ((48,), (36,))


def test_files_over_the_limit_are_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "big.dng"
    path.write_bytes(bytes(100))
    with pytest.raises(TooLarge, match="100 bytes"):
        open_regular(path, InputLimits(file_bytes=99))


def test_empty_files_are_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "empty.dng"
    path.touch()
    with pytest.raises(Truncated, match="empty file"):
        open_regular(path, InputLimits())


def test_errors_get_the_path_in_front() -> None:
    with pytest.raises(InputError, match=r"^a/b\.dng: broken; mend it$"), prefix_path(Path("a/b.dng")):
        raise InputError("broken; mend it")


@pytest.mark.parametrize(
    ("name", "layout", "array"),
    [
        ("small_rggb.dng", Layout(), "RGGB"),
        ("small_xtrans.dng", Layout(), "XTRANS"),
        ("small_rggb.dng", Layout(cfa=Cfa.from_name("QUAD_RGGB")), "QUAD_RGGB"),
        ("nowhere.dng", Layout(), "RGGB"),
    ],
)
def test_array_is_guessed_without_decoding(samples: Path, name: str, layout: Layout, array: str) -> None:
    assert likely_array(samples / name, layout).name == array


def test_raws_of_fujifilm_are_probably_xtrans() -> None:
    assert is_xtrans(io.BytesIO(b"FUJIFILMCCD-RAW 0201".ljust(200, b"\0")))


def tiled(places: int) -> io.BytesIO:
    """A mosaic of 100×70 samples in tiles of 32×32, of which some are there."""
    tags = {256: (100,), 257: (70,), 322: (32,), 323: (32,), 324: (8,) * places, 325: (1,) * places}
    fields = {tag: Field(LONG, values) for tag, values in tags.items()}
    return io.BytesIO(b"II*\0\x08\0\0\0" + write_directory({**fields, 262: Field(SHORT, (32803,))}, 8))


def test_missing_tiles_are_noticed() -> None:
    check_is_complete(tiled(12))
    with pytest.raises(Truncated, match="11 of 12 tiles are there"):
        check_is_complete(tiled(11))
