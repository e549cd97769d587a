"""Our own parsers under bytes that are changed as their coverage tells: nothing but our errors may come out.

    python -m tests.faults.fuzz tags -max_total_time=60

Needs atheris (``pip install atheris``; Linux and macOS). What follows the name of a parser are options of
libFuzzer. An input that breaks a parser is written to ``build/fuzz``, to be turned into a small test.
"""

import io
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

with atheris.instrument_imports(include=["demosaic_ntc"], enable_loader_override=False):
    from demosaic_ntc.errors import DemosaicNtcError
    from demosaic_ntc.images.picture import strip_thumbnail
    from demosaic_ntc.images.png_reading import read_png
    from demosaic_ntc.io.exif import orientation_in, read_exif, read_jpeg_exif
    from demosaic_ntc.io.header import InputLimits, read_header
    from demosaic_ntc.io.isolation.answers import Nonsense, from_plain, to_plain
    from demosaic_ntc.io.jpeg_segments import check_scans, jpeg_size, read_segments
    from demosaic_ntc.io.tiff_tags import read_block
    from demosaic_ntc.ntc.solution import load_solution
    from demosaic_ntc.raw.opcodes.lists import read_opcodes
    from demosaic_ntc.raw.photo import RawPhoto
    from demosaic_ntc.raw.reading import read_photo

import numpy as np

from tests.faults.mutants import base_file

ROOT = Path(__file__).resolve().parents[2]
_LIMITS = InputLimits(pixels=1_000_000, isolate=False)


def _tags(data: bytes) -> None:
    tags = read_block(data)
    list(tags.directories())
    read_exif(tags)
    orientation_in(tags.first())
    strip_thumbnail(data)


def _opcodes(data: bytes) -> None:
    for number in range(1, 4):
        read_opcodes(data, number, (48, 64), 1 + number % 2 * 2)


def _png(data: bytes) -> None:
    read_png(read_header(io.BytesIO(data), limits=_LIMITS))


def _jpeg(data: bytes) -> None:
    check_scans(data)
    list(read_segments(io.BytesIO(data)))
    jpeg_size(io.BytesIO(data))
    read_jpeg_exif(data)


def _npz(data: bytes) -> None:
    load_solution(io.BytesIO(data))


def _answer(data: bytes) -> None:
    """What a decoder answers, which may be anything that is JSON."""
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError):
        return
    try:
        from_plain(RawPhoto, plain, [np.zeros(64, np.uint8)] * 64)
    except (Nonsense, ValueError, TypeError, RecursionError):
        return


def _photo() -> bytes:
    plain = to_plain(read_photo(ROOT / "samples" / "small_rggb.dng", limits=_LIMITS), [])
    return json.dumps(plain).encode()


def _with_opcodes() -> bytes:
    """A list of one opcode that fixes bad pixels, and one that makes no sense."""
    fix = b"\0\0\0\5\1\3\0\0\0\0\0\0\0\0\0\x14" + bytes(4) + b"\0\0\0\1\0\0\0\0" + b"\0\0\0\3\0\0\0\4"
    return b"\0\0\0\2" + fix + b"\0\0\0\x09" + bytes(12)


PARSERS: dict[str, tuple[Callable[[bytes], None], tuple[Callable[[], bytes], ...]]] = {
    "tags": (_tags, (lambda: base_file("small_rggb.dng"), lambda: base_file("strips.tif"))),
    "opcodes": (_opcodes, (_with_opcodes,)),
    "png": (_png, (lambda: base_file("palette.png"), lambda: base_file("alpha.png"))),
    "jpeg": (_jpeg, (lambda: base_file("rgb.jpg"), lambda: base_file("passes.jpg"))),
    "npz": (_npz, (lambda: base_file("solution.npz"),)),
    "answers": (_answer, (_photo,)),
}


def main() -> None:
    """Fuzz the parser that is named, until libFuzzer has enough or something is found."""
    parse, seeds = PARSERS[sys.argv[1]]

    def try_one(data: bytes) -> None:
        with suppress(DemosaicNtcError, MemoryError):
            parse(data)

    found = ROOT / "build" / "fuzz"
    found.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds):
            Path(corpus, str(number)).write_bytes(seed())
        options = ["-max_len=65536", f"-artifact_prefix={found}/{sys.argv[1]}-", *sys.argv[2:]]
        atheris.Setup([sys.argv[0], *options, corpus], try_one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
