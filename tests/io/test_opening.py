import io
from pathlib import Path

import pytest

from demosaic_ntc.errors import InputError, NotAnImage, TooLarge, Truncated
from demosaic_ntc.io.header import (
    FileKind,
    InputLimits,
    check_pixels,
    open_regular,
    prefix_path,
    read_header,
)


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
    assert read_header(io.BytesIO(head.ljust(40, b"\0"))).kind is kind


def test_sizes_are_bounded() -> None:
    check_pixels(6000, 4000, InputLimits())
    with pytest.raises(
        TooLarge, match="3600000000 pixels, the limit is 150000000; raise it with `max_pixels`"
    ):
        check_pixels(60000, 60000, InputLimits())
    with pytest.raises(NotAnImage, match="invalid size"):
        check_pixels(0, 4000, InputLimits())


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
