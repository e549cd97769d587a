"""The segments of a JPEG: whatever ends early is told as such."""

import io

import pytest

from demosaic_ntc.errors import Truncated
from demosaic_ntc.io.jpeg_segments import read_segments


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xd8", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xff\x10!"]
)
def test_a_cut_header_is_told(content: bytes) -> None:
    with pytest.raises(Truncated, match="truncated or damaged JPEG"):
        list(read_segments(io.BytesIO(content)))


def test_segments_are_read_up_to_the_pixels() -> None:
    content = b"\xff\xd8\xff\xe0\0\5abc\xff\xfe\0\2\xff\xda"
    assert list(read_segments(io.BytesIO(content))) == [(0xE0, b"abc"), (0xFE, b"")]
