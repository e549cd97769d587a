"""Mutants of files and options, each made from a seed, and what becomes of them."""

import io
import json
import random
import shutil
import struct
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc import complete
from demosaic_ntc.errors import Crashed, DemosaicNtcError
from tests.faults.targets import CAMERA, REQUESTS, SIDE, TARGETS, cameras_at_hand, kept_kernels, kept_results
from tests.made_raws import MADE, crw, heap, made, shorts

ROOT = Path(__file__).resolve().parents[2]
Mutation = tuple[str, float, int]
Files = dict[str, bytes]

_NUMBERS = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFF0,
    0xFFFFFFFF,
)
_KINDS = ("byte", "bit", "number", "cut", "insert", "remove", "repeat", "zero")
_TEXTS = (
    *("", "nan", "inf", "-inf", "1e300", "1e-300", "-1", "0", "99999999999999999999", "1,1,1", "1,,1", ","),
    *(
        "auto",
        "metadata",
        "{stem:d}",
        "{stem!x}",
        "{stem:>99999999}",
        "{",
        "}",
        "{stem}{stem}",
        "../x",
        "\x01",
    ),
    *("RGGB", "RG/GB", "RG/G", "R", "5200K", "5200K,+999", "0x10", "#ff00ff", "é", "\udcff", "a" * 300),
)
_OPTIONS = (
    *("--wb", "--white", "--black", "--exposure", "--noise", "--denoise", "--cfa", "--quality", "--method"),
    *("--jpeg-quality", "--bits", "--time-limit", "--threads", "--max-pixels", "--resize", "--look", "--ca"),
    *(
        "--wb-from",
        "--contrast",
        "--saturation",
        "--color-space",
        "--crop",
        "--denoise-color",
        "--highlights",
    ),
    *("--jpeg-subsampling", "--raw-bits", "--width", "--height", "--bad-pixels", "--threshold", "--detect"),
    *("--mask-color", "--mask-from", "--sensitivity"),
)

# Half of those that are about options have a file in order: else most are refused before they are looked at.
_WHOLE = ("convert options", "inpaint options", "batch options")


@dataclass(frozen=True)
class Mutant:
    """A file with mutations, and what is done with it."""

    seed: int
    target: str
    base: str
    mutations: tuple[Mutation, ...]
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, seed: int) -> "Mutant":
        """The mutant that a seed stands for."""
        draw = random.Random(seed)
        target = draw.choice(sorted(TARGETS))
        names = sorted({*_at_hand(), *_MADE, *cameras_at_hand()})
        base = draw.choice([name for name in names if name.endswith(TARGETS[target].suffixes)])
        options: list[str] = []
        for _ in range(draw.choice((1, 2, 3) if target in _WHOLE else (0, 0, 0, 1, 2))):
            options += [draw.choice(_OPTIONS), draw.choice(_TEXTS)]
        mutations = () if target in _WHOLE and draw.random() < 0.5 else _mutations(seed)
        return cls(seed, target, base, mutations, tuple(options))

    @staticmethod
    def count(seed: int) -> int:
        """How many mutations a seed has."""
        return len(_mutations(seed))

    def with_only(self, kept: Sequence[int]) -> "Mutant":
        """The mutant with some of its mutations, counted from one."""
        return replace(self, mutations=tuple(self.mutations[number - 1] for number in kept if self.mutations))

    @property
    def mutated(self) -> bytes:
        """The content with all mutations."""
        data = bytearray(base_file(self.base))
        for kind, share, value in self.mutations:
            _mutate(data, kind, int(share * max(len(data) - 1, 0)), value)
        return bytes(data)


def _mutations(seed: int) -> tuple[Mutation, ...]:
    """The mutations of a seed, whatever it is that they are made to."""
    draw = random.Random(f"mutations of {seed}")
    return tuple(_drawn(draw) for _ in range(draw.randint(1, 6)))


def _drawn(draw: random.Random) -> Mutation:
    """A mutation: its kind, its place as a share of the file, often close to the start, and a value."""
    place = draw.random() ** draw.choice((1, 4))
    return draw.choice(_KINDS), place, draw.choice((draw.randrange(256), *_NUMBERS))


def _mutate(data: bytearray, kind: str, place: int, value: int) -> None:
    """Change some bytes."""
    number = value.to_bytes(4, "big" if value % 2 else "little")
    match kind:
        case "byte":
            data[place : place + 1] = bytes([value & 255])
        case "bit":
            data[place : place + 1] = bytes([byte ^ (1 << value % 8) for byte in data[place : place + 1]])
        case "number":
            data[place : place + 4] = number
        case "cut":
            del data[place:]
        case "insert":
            data[place:place] = number * (1 + value % 64)
        case "remove":
            del data[place : place + 1 + value % 64]
        case "repeat":
            data[place:place] = data[place : place + 1 + value % 512]
        case _:
            length = len(data[place : place + 1 + value % 256])
            data[place : place + length] = bytes(length)


def tried(mutant: Mutant, folder: Path) -> str:
    """Let a mutant loose: ``ok``, ``refused``, ``crashed`` apart, or ``finding`` and what is wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out").mkdir(parents=True)
    source = folder / f"mutant{Path(mutant.base).suffix}"
    source.write_bytes(mutant.mutated)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return TARGETS[mutant.target].attack(source, folder, list(mutant.options))
    except Crashed:  # a flaw of a decoder, which cost nothing but this file
        return "crashed"
    except (DemosaicNtcError, MemoryError):
        return "refused"
    except Exception as error:
        return (
            f"finding {mutant.target} {mutant.base}: {type(error).__name__}: {' '.join(str(error).split())}"
        )


@cache
def base_file(name: str) -> bytes:
    """What is mutated: a small file; some take a while to make."""
    if name.endswith(CAMERA):
        return cameras_at_hand()[name].read_bytes()
    return _MADE[name]() if name in _MADE else _at_hand()[name]


@cache
def _at_hand() -> Files:
    """Small files of every kind, by name."""
    with TemporaryDirectory() as folder:
        return {**_of_pictures(Path(folder)), **_of_words()}


def _of_pictures(folder: Path) -> Files:
    """Raws and pictures."""
    draw = np.random.default_rng(0)
    colours = draw.integers(256, size=(SIDE, SIDE, 3), dtype=np.uint8)
    files = {name: (ROOT / "samples" / name).read_bytes() for name in ("small_rggb.dng", "small_xtrans.dng")}
    files |= {name: made(name, (36, 48)).content for name in MADE}
    files["records.crw"] = _canon_heap()
    files |= _of_astronomers(colours[..., 0])
    grey, deep = colours[..., 0], (colours[..., 0].astype(np.uint16) << 7)
    pictures = {
        "rgb": Image.fromarray(colours),
        "grey": Image.fromarray(grey),
        "deep": Image.fromarray(deep),
        "alpha": Image.fromarray(colours).convert("RGBA"),
        "palette": Image.fromarray(colours).quantize(16),
        "bits": Image.fromarray(grey).convert("1"),
    }
    for name, image in pictures.items():
        files[f"{name}.png"] = _saved(image, "PNG")
    for name in ("rgb", "grey"):
        files[f"{name}.jpg"] = _saved(pictures[name], "JPEG", quality=80)
    files["passes.jpg"] = _saved(pictures["rgb"], "JPEG", progressive=True)
    for name, options in _TIFFS.items():
        path = folder / f"{name}.tif"
        tifffile.imwrite(path, colours.astype(np.float32) if name == "float" else colours, **options)
        files[path.name] = path.read_bytes()
    for kind in ("BMP", "WEBP", "GIF"):
        files[f"mask.{kind.lower()}"] = _saved(pictures["bits"].convert("L"), kind)
    return files


def _canon_heap() -> bytes:
    """A Canon raw of the first generation, all its records but no samples."""
    shot = shorts(33, {1: 32, 2: 160, 21: 7 * 32 + 20, 22: 7 * 32 + 12})
    focal = struct.pack("<4H", 0, 800, 914, 610)
    records = {0x080A: b"Canon\0Canon EOS D30\0", 0x180E: bytes(12), 0x5029: focal}
    return crw(records, heap({0x102A: shot, 0x102D: shorts(46, {23: 1760, 24: 544, 25: 32})}))


def _of_astronomers(grey: NDArray[np.uint8]) -> Files:
    """FITS files, plain and packed; none without the library that writes them."""
    try:
        from astropy.io import fits
    except ImportError:
        return {}
    words = fits.Header({"BAYERPAT": "RGGB", "EXPTIME": 1.5, "DATE-OBS": "2026-01-02T03:04:05"})
    units: dict[str, list[Any]] = {"plain.fits": [fits.PrimaryHDU(grey.astype(np.uint16), words)]}
    for kind in ("RICE_1", "GZIP_1", "PLIO_1", "HCOMPRESS_1"):
        samples = np.repeat(grey[:, :4], 8, axis=1) if kind == "PLIO_1" else grey  # astropy packs runs alone
        packed = fits.CompImageHDU(samples.astype(np.int16), words, compression_type=kind)
        units[f"{kind}.fits"] = [fits.PrimaryHDU(), packed]
    return {name: _fits(fits.HDUList(each)) for name, each in units.items()}


def _of_words() -> Files:
    """Reports, lists, requests, and what benchmarks read."""
    record = {"input": "/a.dng", "output": "/out/a.png", "status": "done", "settings": "x"}
    more = {"input_sha256": "a", "input_bytes": 1, "input_mtime_ns": 1, "output_sha256": None}
    files = {"report.jsonl": (json.dumps({**record, **more}) + "\n").encode() * 3}
    files["bad.txt"] = b"1 2\n3 4\n# dead\n10 11\n"
    files["reference.csv"] = b"set,image,method,psnr\nset,1,lmmse,38.5\nset,2,lmmse,39.25\n"
    for name, body in REQUESTS.items():
        files[f"{name}.request"] = json.dumps(body).encode()
    return files


def _solution() -> bytes:
    """A completed tensor as it is kept."""
    file = io.BytesIO()
    complete((3, 3, 2), [[0, 0, 0], [1, 1, 1], [2, 0, 1]], [1.0, 2.0, 0.5], radius=4.0).save(file)
    return file.getvalue()


def _results() -> bytes:
    """Results of a benchmark, as the next run finds them."""
    with TemporaryDirectory() as folder:
        kept_results(Path(folder) / "results.json", Path(folder))
        return (Path(folder) / "results.json").read_bytes()


def _kernel(suffix: str) -> bytes:
    """A file of a cache of kernels."""
    return next(content for name, content in kept_kernels().items() if name.endswith(suffix))


_MADE: dict[str, Callable[[], bytes]] = {
    "solution.npz": _solution,
    "results.json": _results,
    "kernel.nbi": partial(_kernel, ".nbi"),
    "kernel.nbc": partial(_kernel, ".nbc"),
}

_TIFFS: dict[str, dict[str, Any]] = {
    "strips": {"rowsperstrip": 8, "photometric": "rgb"},
    "tiles": {"tile": (16, 16), "photometric": "rgb"},
    "packed": {"compression": "zlib", "predictor": True, "photometric": "rgb"},
    "float": {"photometric": "rgb"},
}


def _saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def _fits(units: Any) -> bytes:
    buffer = io.BytesIO()
    units.writeto(buffer)
    return buffer.getvalue()
