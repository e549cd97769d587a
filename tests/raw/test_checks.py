"""What is refused before LibRaw sees it."""

import io

import pytest

from demosaic_ntc.errors import NotAnImage, Truncated, Unsupported
from demosaic_ntc.io.header import read_header
from demosaic_ntc.io.tiff_tags import LONG, SHORT, Field, write_directory
from demosaic_ntc.raw.checks import check_raw


def _check(content: bytes) -> None:
    check_raw(read_header(io.BytesIO(content)))


def test_unknown_bytes_are_left_to_the_decoder_unless_they_are_of_a_damaged_tiff() -> None:
    _check(b"\x14\x1a" * 100)
    with pytest.raises(NotAnImage, match="`width` `height` `bits` `cfa`"):
        _check(b"MM\0\x1a" * 100)


def test_foveon_has_no_colour_filter_array() -> None:
    with pytest.raises(Unsupported, match="no colour filter array"):
        _check(b"FOVb".ljust(100, b"\0"))


def _tiled(places: int) -> bytes:
    """A mosaic of 100×70 samples in tiles of 32×32, of which some are there."""
    tags = {256: (100,), 257: (70,), 322: (32,), 323: (32,), 324: (8,) * places, 325: (1,) * places}
    fields = {tag: Field(LONG, values) for tag, values in tags.items()}
    return b"II*\0\x08\0\0\0" + write_directory({**fields, 262: Field(SHORT, (32803,))}, 8)


def test_missing_tiles_are_noticed() -> None:
    _check(_tiled(12))
    with pytest.raises(Truncated, match="11 of 12 tiles are there"):
        _check(_tiled(11))
