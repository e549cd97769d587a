"""Decoding in a process apart: the same results, and nothing but an error whatever happens there."""

import io
import json
import mmap
import operator
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc import develop, read_mosaic
from demosaic_ntc.errors import Crashed, InputError, NotAnImage, TooLarge
from demosaic_ntc.images.mask import _read_picture
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.io.header import InputLimits, open_header
from demosaic_ntc.io.isolation import decoder, process
from demosaic_ntc.io.isolation.answers import Nonsense, from_plain, to_plain
from demosaic_ntc.io.isolation.decoder import announced_pixels, decode_apart
from demosaic_ntc.raw.photo import Box
from demosaic_ntc.raw.preview import decode_preview
from demosaic_ntc.raw.reading import check_photo, read_embedded, read_facts, read_photo
from tests.images.picture_files import KINDS, rgb, two_tone
from tests.made_raws import MADE, made

pytestmark = pytest.mark.skipif(not decoder.can_isolate(), reason="Linux only")

HERE = InputLimits(isolate=False)
APART = InputLimits()
SAMPLES = ("small_rggb.dng", "small_xtrans.dng")


def assert_same(one: Any, other: Any) -> None:
    """Types, values and bytes are equal at any depth."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
        assert one.flags.writeable
    elif is_dataclass(one):
        for field in fields(one):
            if field.name != "isolated":
                assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for each, its in zip(one, other, strict=True):
            assert_same(each, its)
    elif isinstance(one, dict):
        assert_same(list(one.items()), list(other.items()))
    else:
        assert one == other


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Processes of this test alone."""
    fresh = decoder._Children()
    monkeypatch.setattr(decoder, "_children", fresh)
    yield fresh
    fresh.end()


@pytest.mark.parametrize("name", [*SAMPLES, *MADE])
def test_raws_are_the_same(tmp_path: Path, samples: Path, name: str) -> None:
    source = samples / name
    if name in MADE:
        source = tmp_path / name
        source.write_bytes(made(name).content)
    photo = read_photo(source, limits=APART)
    assert photo.isolated
    assert_same(photo, read_photo(source, limits=HERE))
    assert_same(read_embedded(source, APART), read_embedded(source, HERE))
    assert_same(decode_preview(photo.preview, isolate=True), decode_preview(photo.preview))


@pytest.mark.parametrize("name", KINDS)
def test_pictures_are_the_same(tmp_path: Path, name: str) -> None:
    KINDS[name](tmp_path / name)
    assert_same(read_picture(tmp_path / name, APART), read_picture(tmp_path / name, HERE))


@pytest.mark.parametrize("suffix", ["bmp", "gif", "webp"])
def test_masks_are_the_same(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mask.{suffix}"
    two_tone().convert("RGB").save(path)
    with open_header(path, APART) as apart, open_header(path, HERE) as here:
        assert_same(_read_picture(apart), _read_picture(here))


def test_linear_dng_and_metadata_are_the_same(tmp_path: Path, samples: Path) -> None:
    target = tmp_path / "a.jpg"
    rgb().save(target, exif=Image.Exif(), progressive=True)
    assert_same(read_picture(target, APART), read_picture(target, HERE))
    assert read_facts(samples / SAMPLES[0])["camera"]


@pytest.mark.parametrize(
    "content",
    [
        b"none at all",
        b"II*\0\x08\0\0\0" + bytes(40),
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0\0",
        b"\xff\xd8\xff",
    ],
)
def test_errors_are_the_same(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.dng"
    path.write_bytes(content)
    said = []
    for limits in (APART, HERE):
        for read in (read_photo, read_picture):
            with pytest.raises(InputError) as raised:
                read(path, limits=limits)
            said.append((raised.type, str(raised.value)))
    assert said[:2] == said[2:]


def test_one_process_is_kept_and_replaced_after_a_crash(children: Any, samples: Path) -> None:
    read_photo(samples / SAMPLES[0])
    (first,) = children._idle
    with pytest.raises(NotAnImage):
        read_photo(Path(__file__))
    read_photo(samples / SAMPLES[1])
    assert children._idle == [first]
    with pytest.raises(Crashed, match=r"the decoder crashed \(signal 6, SIGABRT\)"):
        decode_apart(os.abort, None)
    assert children._idle == []
    read_photo(samples / SAMPLES[0])
    assert children._idle != [first]


def test_in_process_starts_nothing(children: Any, samples: Path) -> None:
    develop(samples / SAMPLES[0], method="bilinear", isolate=False)
    read_mosaic(samples / SAMPLES[0], isolate=False)
    assert children._idle == []
    develop(samples / SAMPLES[0], method="bilinear")
    assert len(children._idle) == 1


def test_decoders_that_take_too_long_are_ended(children: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "_LEAST_SECONDS", 0.5)
    monkeypatch.setattr(process, "_CLOCK", 1000.0)  # other programs may use the processors
    with pytest.raises(Crashed, match="took too long"):
        decode_apart(operator.pow, None, 3, 10**9)
    monkeypatch.setattr(process, "_CLOCK", 1.0)
    with pytest.raises(Crashed, match="took longer than"):
        decode_apart(time.sleep, None, 1000)
    assert children._idle == []


def test_memory_is_what_the_pixels_explain(children: Any, samples: Path) -> None:
    with pytest.raises(TooLarge, match="far more memory to decode than its size explains"):
        decode_apart(bytes, None, 2**32)
    with open_header(samples / SAMPLES[0], APART) as header:
        assert announced_pixels(header) == 36 * 48


_PLACE = str(Path(__file__))


@pytest.mark.parametrize(
    ("forbidden", "arguments"),
    [
        (io.open, (_PLACE,)),
        (os.listdir, ("/",)),
        (os.mkdir, ("/tmp/made-by-a-decoder",)),
        (os.unlink, ("/tmp/made-by-a-decoder",)),
        (os.stat, ("/",)),
        (socket.socket, ()),
        (os.fork, ()),
        (os.execv, (sys.executable, (sys.executable,))),
        (os.kill, (os.getpid(), 0)),
        (os.memfd_create, ("more",)),
    ],
)
def test_nothing_else_can_be_reached(children: Any, forbidden: Callable[..., Any], arguments: Any) -> None:
    with pytest.raises(PermissionError):
        decode_apart(forbidden, None, *arguments)


def test_fences_are_told(children: Any, samples: Path) -> None:
    read_photo(samples / SAMPLES[0])
    assert children._idle[0].fences == ["limits", "landlock", "seccomp"]


def test_it_ends_with_its_parent(samples: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from demosaic_ntc.io.isolation import decoder\n"
        "from demosaic_ntc.raw.reading import read_photo\n"
        "read_photo(Path(sys.argv[1]))\n"
        "print(decoder._children._idle[0]._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    command = [sys.executable, "-c", code, str(samples / SAMPLES[0])]
    pid = int(subprocess.run(command, capture_output=True, text=True).stdout)
    end = time.monotonic() + 30
    while os.path.exists(f"/proc/{pid}") and "Z" not in Path(f"/proc/{pid}/stat").read_text():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_forks_let_go_of_it(children: Any, samples: Path) -> None:
    read_photo(samples / SAMPLES[0])
    pid = os.fork()
    if pid == 0:
        os._exit(len(decoder._children._idle))
    assert os.waitpid(pid, 0)[1] == 0
    read_photo(samples / SAMPLES[0])


def test_memory_is_taken_once_nobody_can_change_it() -> None:
    with decoder._shared_files(None, 8192) as (memory,):
        os.pwrite(memory, b"samples", 64)
        with mmap.mmap(memory, 8192), pytest.raises(Nonsense, match="still held"):
            decoder._map_blocks(memory, [[64, 7]])
        seen = decoder._map_blocks(memory, [[0, 0], [64, 7]])[1]
        with pytest.raises(PermissionError):
            os.pwrite(memory, b"changed", 64)
    seen[0] = ord("S")  # one's own, as any array is
    assert seen.tobytes() == b"Samples"


def test_small_blocks_do_not_hold_large_ones_in_memory() -> None:
    size = 2**20
    with decoder._shared_files(None, size) as (memory,):
        os.pwrite(memory, b"few", 0)
        small, large = decoder._map_blocks(memory, [[0, 3], [64, size - 64]])
    assert small.tobytes() == b"few"
    assert small.base is None
    assert isinstance(large.base, mmap.mmap)  # seen where it lies


@pytest.mark.parametrize("place", [[-1, 2], [0, 9000], [8192, 1], [0], ["a", 1], 3])
def test_places_beyond_the_memory_are_nonsense(place: Any) -> None:
    with decoder._shared_files(None, 8192) as (memory,), pytest.raises((ValueError, TypeError)):
        decoder._map_blocks(memory, [place])


def test_decoders_load_nothing_that_is_slow() -> None:
    code = "import sys; from demosaic_ntc.io.isolation.child import _load; _load(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"scipy", "numba", "skimage", "astropy"} & set(loaded.split())


# What is loaded when raws are read, one after the other, with the camera's own pictures in them.
_LATE = """
import sys
from pathlib import Path
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.isolation.child import _load
_load(())
from demosaic_ntc.raw.reading import read_embedded, read_photo
before = set(sys.modules)
for path in map(Path, sys.argv[1:]):
    limits = InputLimits(isolate=False)
    read_photo(path, limits=limits)
    read_embedded(path, limits)
print(*sorted(set(sys.modules) - before))
"""


def test_raws_need_no_decoders_of_pictures(tmp_path: Path, samples: Path) -> None:
    for name in MADE:
        (tmp_path / name).write_bytes(made(name).content)
    sources = [*tmp_path.iterdir(), *(samples / name for name in SAMPLES)]
    words = [sys.executable, "-c", _LATE, *map(str, sources)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "\n"


# Answers ----------------------------------------------------------------------------------------------------


def _sent(value: Any) -> tuple[Any, list[NDArray[np.uint8]]]:
    """A value as it arrives."""
    blocks: list[Any] = []
    plain = json.loads(json.dumps(to_plain(value, blocks)))
    return plain, [np.frombuffer(bytes(block), np.uint8).copy() for block in blocks]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (float, 0.1),
        (float | None, None),
        (tuple[int, ...], (1, 2)),
        (tuple[int, str], (1, "é\udc80")),
        (dict[int, list[int]], {3: [1, 2]}),
        (bytes | NDArray[np.uint8], b"\0\xff"),
        (bytes | NDArray[np.uint8], np.zeros((2, 0, 3), np.uint8)),
        (NDArray[np.float64], np.array([[np.nan, -0.0]])),
        (Fraction | int, Fraction(1, 3)),
        (datetime, datetime(2020, 1, 2, 3, 4, 5)),
        (Box | None, Box(1, 2, 3, 4)),
    ],
)
def test_values_arrive_as_they_were(kind: Any, value: Any) -> None:
    assert_same(from_plain(kind, *_sent(value)), value)


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (int, "1"),
        (int, True),
        (bool, 1),
        (str, None),
        (float, "nan"),
        (tuple[int, int], [1]),
        (tuple[int, ...], {"0": 1}),
        (Box, {"kind": "Box", "fields": {"top": 0}}),
        (Box, {"kind": "CameraMatrix", "fields": {"top": 0, "left": 0, "height": 1, "width": 1}}),
        (NDArray[np.uint16], {"array": 0, "dtype": "<u1", "shape": [8]}),
        (NDArray[np.uint8], {"array": 0, "dtype": "|O8", "shape": [1]}),
        (NDArray[np.uint8], {"array": 0, "dtype": "|u1", "shape": [9]}),
        (NDArray[np.uint8], {"array": 0, "dtype": "|u1", "shape": [-1, -8]}),
        (NDArray[np.uint8], {"array": "0", "dtype": "|u1", "shape": [8]}),
        (NDArray[np.uint8], {"array": 1, "dtype": "|u1", "shape": [8]}),
        (NDArray[np.uint8], {"array": -1, "dtype": "|u1", "shape": [8]}),
        (bytes, {"bytes": None}),
        (dict[int, int], {"pairs": [[1]]}),
    ],
)
def test_nonsense_is_refused(kind: Any, plain: Any) -> None:
    with pytest.raises(Nonsense):
        from_plain(kind, plain, [np.zeros(8, np.uint8)])


def test_photos_that_kernels_could_not_trust_are_refused(samples: Path) -> None:
    photo = read_photo(samples / SAMPLES[0])
    check_photo(photo, APART)
    wrong: list[dict[str, Any]] = [
        {"channels": photo.channels + np.uint8(4)},
        {"orientation": 9},
        {"camera_crop": Box(0, 0, 37, 48)},
        {"camera_crop": Box(-1, 0, 3, 4)},
        {"mosaic": photo.mosaic[None]},
    ]
    for each in wrong:
        with pytest.raises(InputError):
            check_photo(replace(photo, **each), APART)
