"""Inputs that are not what they seem: each is refused in a line that names the file and what to do."""

import os
import socket
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.tiff_tags import BYTE, LONG, SHORT, Field
from samples.dng import Camera, write_dng
from tests.faults.memory import peak_of

pytestmark = pytest.mark.fault
Run = Callable[..., Any]


def _refused(convert: Run, source: Path, target: Path, *options: object) -> str:
    """What the program says of an input that it must refuse, after checking that it left nothing behind."""
    before = sorted(os.listdir(target.parent))
    result = convert(source, target, *options)
    assert result.exit_code == 3, result.output
    assert sorted(os.listdir(target.parent)) == before
    message = str(result.stderr)
    assert source.name[:20] in message
    assert "; " in message, "what is wrong; what to do"
    assert "Traceback" not in message
    assert len(message.splitlines()) == 1
    return message


def test_empty_file(tmp_path: Path, convert: Run) -> None:
    (tmp_path / "a.dng").touch()
    assert "a.dng: empty file" in _refused(convert, tmp_path / "a.dng", tmp_path / "a.png")


@pytest.mark.parametrize("kept", [512, 0.5, 0.95])
def test_truncated_raw_whose_tags_come_last(tmp_path: Path, convert: Run, small: Path, kept: float) -> None:
    data = small.read_bytes()
    length = int(kept * len(data)) if isinstance(kept, float) else kept
    (tmp_path / "a.dng").write_bytes(data[:length])
    assert "truncated or damaged" in _refused(convert, tmp_path / "a.dng", tmp_path / "a.png")


def _write_with_tifffile(path: Path, mosaic: NDArray[Any], **options: Any) -> None:
    """A DNG written by others, with its tags before its samples."""
    tags = [
        (33421, 3, 2, (2, 2), True),
        (33422, 1, 4, bytes((0, 1, 1, 2)), True),
        (50706, 1, 4, bytes((1, 4, 0, 0)), True),
    ]
    tifffile.imwrite(
        path, mosaic, photometric=32803, metadata=None, rowsperstrip=64, extratags=tags, **options
    )


@pytest.mark.parametrize("kept", [512, 0.5, 0.95, -1])
def test_truncated_raw_whose_tags_come_first(tmp_path: Path, convert: Run, kept: float) -> None:
    path = tmp_path / "a.dng"
    _write_with_tifffile(path, np.full((64, 64), 1000, dtype=np.uint16))
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data)) if isinstance(kept, float) else kept])
    assert "truncated or damaged" in _refused(convert, path, tmp_path / "a.png")


@pytest.mark.data
@pytest.mark.parametrize("name", ["IMG_0848.CR2", "RAW_KODAK_DC50.KDC", "minhtcai_test.dng"])
@pytest.mark.parametrize("kept", [512, 0.5, 0.95, -1])
def test_truncated_camera_raws(tmp_path: Path, convert: Run, data: Path, name: str, kept: float) -> None:
    whole = (data / "raw" / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])
    assert "truncated or damaged" in _refused(convert, path, tmp_path / "a.png")


@pytest.mark.data
def test_flipped_bytes_in_a_compressed_raw(tmp_path: Path, convert: Run, data: Path) -> None:
    raw = bytearray((data / "raw" / "RAW_KODAK_DC50.KDC").read_bytes())
    middle = len(raw) // 2
    raw[middle : middle + 4096] = bytes(byte ^ 0xFF for byte in raw[middle : middle + 4096])
    (tmp_path / "a.kdc").write_bytes(raw)
    assert "damaged" in _refused(convert, tmp_path / "a.kdc", tmp_path / "a.png")


def test_zeroed_half_is_done_with_a_warning(tmp_path: Path, convert: Run) -> None:
    mosaic = np.random.default_rng(0).integers(600, 16000, (64, 64)).astype(np.uint16)
    mosaic[32:] = 0
    write_dng(tmp_path / "a.dng", mosaic, Cfa.from_name("RGGB"), Camera())
    result = convert(tmp_path / "a.dng", tmp_path / "a.png")
    assert result.exit_code == 0
    assert "constant rows: 50%" in result.stderr


@pytest.mark.parametrize("content", [b"just some text\n" * 100, bytes(5000), os.urandom(5000)])
def test_text_zeros_and_noise(tmp_path: Path, convert: Run, content: bytes) -> None:
    (tmp_path / "a.dng").write_bytes(b"\x01" + content)
    assert "is not a raw file" in _refused(convert, tmp_path / "a.dng", tmp_path / "a.png")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_pictures_named_as_raws(tmp_path: Path, convert: Run, kind: str) -> None:
    Image.new("RGB", (64, 48), (200, 100, 50)).save(tmp_path / "a.dng", kind)
    message = _refused(convert, tmp_path / "a.dng", tmp_path / "a.png")
    assert f"is {'RGB TIFF' if kind == 'TIFF' else kind}, not a raw file" in message
    assert "`inpaint`" in message


@pytest.mark.parametrize("options", [[], ["--cfa", "RGGB"]])
@pytest.mark.parametrize("suffix", [".png", ".JPG"])
def test_raw_named_as_picture(
    tmp_path: Path, convert: Run, small: Path, suffix: str, options: list[str]
) -> None:
    (tmp_path / f"in{suffix}").write_bytes(small.read_bytes())
    message = _refused(convert, tmp_path / f"in{suffix}", tmp_path / "out.png", *options)
    assert f"in{suffix}: is a raw file named {suffix}; rename it to .dng" in message


def test_raw_named_as_tiff_is_read_as_some_cameras_name_theirs_so(
    tmp_path: Path, convert: Run, small: Path
) -> None:
    (tmp_path / "in.tif").write_bytes(small.read_bytes())
    assert convert(tmp_path / "in.tif", tmp_path / "out.png").exit_code == 0


def test_headerless_data_that_the_decoder_would_take_by_its_length(tmp_path: Path, convert: Run) -> None:
    (tmp_path / "a.raw").write_bytes(np.random.default_rng(0).bytes(786_432))
    message = _refused(convert, tmp_path / "a.raw", tmp_path / "a.png")
    assert "no known header; give --width --height --bits --cfa" in message


@pytest.mark.parametrize(
    ("side", "words"), [(60000, "too large"), (2**31 - 1, "too large"), (0, "invalid size")]
)
def test_sizes_that_only_the_header_has(tmp_path: Path, convert: Run, side: int, words: str) -> None:
    path = tmp_path / "a.dng"
    tags = {256: Field(LONG, (side,)), 257: Field(LONG, (side,))}
    write_dng(path, np.zeros((32, 32), dtype=np.uint16), Cfa.from_name("RGGB"), Camera(), changed=tags)
    start = time.thread_time()
    assert words in _refused(convert, path, tmp_path / "a.png")
    assert time.thread_time() - start < 10
    assert peak_of("convert", path, tmp_path / "a.png") < 100e6


def _png(width: int, height: int, data: bytes) -> bytes:
    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">L", len(content)) + name + content + struct.pack(">L", zlib.crc32(name + content))
        )

    header = struct.pack(">LLBBBBB", width, height, 16, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("width", "height"), [(50000, 50000), (20000, 20000)])
def test_png_that_claims_to_be_huge(tmp_path: Path, convert: Run, width: int, height: int) -> None:
    (tmp_path / "a.png").write_bytes(_png(width, height, zlib.compress(bytes(1000))))
    message = _refused(convert, tmp_path / "a.png", tmp_path / "out.png", "--cfa", "RGGB")
    assert f"{width * height} pixels, the limit is 150000000; raise it with --max-pixels" in message


def test_png_within_the_limit_but_without_its_data(tmp_path: Path, convert: Run) -> None:
    (tmp_path / "a.png").write_bytes(_png(1200, 1000, zlib.compress(bytes(1000))))
    assert "damaged" in _refused(convert, tmp_path / "a.png", tmp_path / "out.png", "--cfa", "RGGB")


def test_real_png_bomb(tmp_path: Path, convert: Run) -> None:
    """20000×20000 samples of one colour: 800 MB once unpacked, under 1 MB as a file."""
    packer = zlib.compressobj(9)
    row = bytes(40001)
    data = b"".join(packer.compress(row * 100) for _ in range(200)) + packer.flush()
    (tmp_path / "a.png").write_bytes(_png(20000, 20000, data))
    assert "400000000 pixels" in _refused(convert, tmp_path / "a.png", tmp_path / "out.png", "--cfa", "RGGB")


def test_limit_on_pixels_can_be_set(tmp_path: Path, convert: Run, small: Path) -> None:
    assert "1728 pixels, the limit is 1000" in _refused(
        convert, small, tmp_path / "a.png", "--max-pixels", 1000
    )


def test_linear_dng_of_four_samples_per_pixel(tmp_path: Path, convert: Run) -> None:
    path = tmp_path / "a.dng"
    version = [(50706, 1, 4, bytes((1, 4, 0, 0)), True)]
    linear = np.zeros((64, 64, 4), dtype=np.uint16)
    tifffile.imwrite(path, linear, photometric=34892, planarconfig="contig", metadata=None, extratags=version)
    assert "4 samples per pixel" in _refused(convert, path, tmp_path / "a.png")


@pytest.mark.parametrize(("kind", "words"), [(np.float32, "floating-point"), (np.float16, "floating-point")])
def test_floating_point_dng_would_lose_precision(
    tmp_path: Path, convert: Run, kind: type, words: str
) -> None:
    _write_with_tifffile(tmp_path / "a.dng", np.full((64, 64), 0.5, dtype=kind))
    assert words in _refused(convert, tmp_path / "a.dng", tmp_path / "a.png")


def test_compression_that_is_not_read_is_named(tmp_path: Path, convert: Run) -> None:
    _write_with_tifffile(tmp_path / "a.dng", np.full((64, 64), 1000, dtype=np.uint16), compression="zlib")
    assert "compressed by deflate" in _refused(convert, tmp_path / "a.dng", tmp_path / "a.png")


def test_array_that_the_decoder_misreads(tmp_path: Path, convert: Run) -> None:
    path = tmp_path / "a.dng"
    tags = {33421: Field(SHORT, (4, 4)), 33422: Field(BYTE, Cfa.from_name("QUAD_RGGB").pattern.tobytes())}
    write_dng(path, np.full((64, 64), 900, dtype=np.uint16), Cfa.from_name("RGGB"), Camera(), changed=tags)
    assert "unsupported colour filter array" in _refused(convert, path, tmp_path / "a.png")


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1)])
def test_mosaics_smaller_than_their_array(tmp_path: Path, convert: Run, shape: tuple[int, int]) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.zeros(shape, dtype=np.uint16))
    assert "smaller than one" in _refused(convert, tmp_path / "a.tif", tmp_path / "a.png", "--cfa", "RGGB")


def test_xtrans_smaller_than_its_array(tmp_path: Path, convert: Run) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((3, 3), dtype=np.uint16))
    assert "smaller than one" in _refused(convert, tmp_path / "a.tif", tmp_path / "a.png", "--cfa", "X-Trans")


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2), (5, 7), (17, 23)])
def test_tiny_and_odd_mosaics_are_done(tmp_path: Path, convert: Run, shape: tuple[int, int]) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.full(shape, 30000, dtype=np.uint16))
    result = convert(tmp_path / "a.tif", tmp_path / "a.png", "--cfa", "RGGB")
    assert result.exit_code == 0, result.stderr
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == shape[::-1]


@pytest.mark.parametrize(
    "name",
    [
        b"-x.dng",
        b"two words.dng",
        "\N{CAMERA}\N{SNOWFLAKE}.dng".encode(),
        b"new\nline.dng",
        b"not\xffutf8.dng",
        b"x" * 251 + b".dng",
        b"\x1b[31mred.dng",
    ],
)
def test_odd_names_are_processed_and_cannot_break_the_report(
    tmp_path: Path, convert: Run, small: Path, name: bytes
) -> None:
    import json

    source = tmp_path / os.fsdecode(name)
    source.write_bytes(small.read_bytes())
    target = source.with_suffix(".png")
    result = convert(source, target, "--json")
    assert result.exit_code == 0, result.stderr
    assert target.exists()
    assert json.loads(result.stdout)["source"] == str(source)
    assert len(result.stdout.splitlines()) == 1
    again = convert(source, target)
    assert "\x1b" not in again.stderr
    assert len(again.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["-x.dng", "--json.dng"])
def test_names_like_options_come_after_two_dashes(
    tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(small.read_bytes())
    result = CliRunner().invoke(app, ["--method", "bilinear", "--", name, "-out.png"])
    assert result.exit_code == 0, result.stderr
    assert Path("-out.png").exists()


def _named_pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(path))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


_NO_FILES = [
    (_named_pipe, "is a named pipe"),
    (_socket, "cannot be opened"),
    (_device, "is a device"),
    (_loop, "cannot be opened"),
    (_dangling, "which does not exist"),
    (lambda path: None, "there is no such file"),
]


@pytest.mark.parametrize(("make", "words"), [*_NO_FILES, (Path.mkdir, "is a folder")])
def test_what_is_no_regular_file(
    tmp_path: Path,
    convert: Run,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "a.dng")
    start = time.thread_time()
    assert words in _refused(convert, tmp_path / "a.dng", tmp_path / "a.png")
    assert time.thread_time() - start < 10


@pytest.mark.parametrize(("make", "words"), _NO_FILES)
def test_a_studio_opens_no_page_for_what_is_no_regular_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], words: str
) -> None:
    running = pytest.importorskip("demosaic_ntc.studio.serving.launch")
    monkeypatch.setattr(running, "serve", lambda *_: pytest.fail("a page was opened"))
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "a.png")
    result = CliRunner().invoke(app, ["studio", "--no-browser", str(tmp_path / "a.png")])
    assert result.exit_code == 3, result.output
    assert result.stderr.startswith(f"demosaic-ntc: {tmp_path / 'a.png'}: ")
    assert words in result.stderr


def test_file_without_permission(
    tmp_path: Path, convert: Run, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is forbidden to root, so the system's answer is put in its mouth."""
    path = tmp_path / "a.dng"
    path.write_bytes(small.read_bytes())
    path.chmod(0)
    if os.geteuid() == 0:
        from demosaic_ntc.io import header

        def forbidden(*_: object, **__: object) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(header, "open", forbidden, raising=False)
    assert "may not be read; check its permissions" in _refused(convert, path, tmp_path / "a.png")
