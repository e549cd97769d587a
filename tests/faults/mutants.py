"""Mutants of files and options, each made from a seed, and what becomes of them."""

import io
import json
import random
import shutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.batch.records.report import Report
from demosaic_ntc.errors import DemosaicNtcError
from demosaic_ntc.files.pictures.reading import read_picture
from demosaic_ntc.files.raw.reading import read_photo
from demosaic_ntc.files.sniff import Limits

ROOT = Path(__file__).resolve().parents[2]
SIDE = 32

# A mutant may lie about its size, but no more than this may be believed.
PIXELS = 4_000_000

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
    *(
        "--jpeg-quality",
        "--bits",
        "--time-limit",
        "--threads",
        "--max-pixels",
        "--resize",
        "--look",
    ),
)


@dataclass(frozen=True)
class Mutant:
    """A file with mutations, and what is done with it."""

    seed: int
    target: str
    base: str
    content: bytes
    mutations: tuple[Mutation, ...]
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, seed: int, files: Files) -> "Mutant":
        """The mutant that a seed stands for."""
        draw = random.Random(seed)
        target = draw.choice(sorted(_TARGETS))
        base = draw.choice([name for name in sorted(files) if name.endswith(_TARGETS[target].suffixes)])
        options: list[str] = []
        for _ in range(draw.choice((0, 0, 0, 1, 2))):
            options += [draw.choice(_OPTIONS), draw.choice(_TEXTS)]
        return cls(seed, target, base, files[base], _mutations(seed), tuple(options))

    @staticmethod
    def count(seed: int) -> int:
        """How many mutations a seed has."""
        return len(_mutations(seed))

    def with_only(self, kept: Sequence[int]) -> "Mutant":
        """The mutant with some of its mutations, counted from one."""
        return replace(self, mutations=tuple(self.mutations[number - 1] for number in kept))

    @property
    def mutated(self) -> bytes:
        """The content with all mutations."""
        data = bytearray(self.content)
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
    """Let a mutant loose: ``ok``, ``refused``, or ``finding`` and what is wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out").mkdir(parents=True)
    source = folder / f"mutant{Path(mutant.base).suffix}"
    source.write_bytes(mutant.mutated)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _TARGETS[mutant.target].attack(source, folder, list(mutant.options))
    except (DemosaicNtcError, MemoryError):
        return "refused"
    except Exception as error:
        return (
            f"finding {mutant.target} {mutant.base}: {type(error).__name__}: {' '.join(str(error).split())}"
        )


def bases(folder: Path) -> Files:
    """What is mutated: small files of every kind, by name."""
    draw = np.random.default_rng(0)
    colours = draw.integers(256, size=(SIDE, SIDE, 3), dtype=np.uint8)
    files = {name: (ROOT / "samples" / name).read_bytes() for name in ("small_rggb.dng", "small_xtrans.dng")}
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
    record = {"input": "/a.dng", "output": str(folder / "work/out/a.png"), "status": "done", "settings": "x"}
    more = {"input_sha256": "a", "input_bytes": 1, "input_mtime_ns": 1, "output_sha256": None}
    files["report.jsonl"] = (json.dumps({**record, **more}) + "\n").encode() * 3
    files["bad.txt"] = b"1 2\n3 4\n# dead\n10 11\n"
    return files


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


def _command(folder: Path, *words: object) -> str:
    """What a command answers: any code but that of a bug will do, half a file will not."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exit_code not in (0, 1, 2, 3, 4, 5, 6):
        return f"finding exit {result.exit_code}: {' '.join(result.stderr.split())[-300:]}"
    if "Traceback" in result.output or list(folder.rglob("*.partial")):
        return f"finding traces: {' '.join(result.output.split())[-300:]}"
    if result.exit_code and list(folder.glob("o.*")):
        return f"finding a picture in spite of exit {result.exit_code}"
    return "refused" if result.exit_code else "ok"


def _mask(folder: Path) -> Path:
    missing = np.zeros((SIDE, SIDE), np.uint8)
    missing[4:9, 4:9] = 255
    Image.fromarray(missing).save(folder / "mutant.mask.png")
    return folder / "mutant.mask.png"


def _read_picture(source: Path, folder: Path, options: list[str]) -> str:
    picture = read_picture(source, Limits(pixels=PIXELS))
    return "ok" if picture.colours.size else "finding an empty picture"


def _read_photo(source: Path, folder: Path, options: list[str]) -> str:
    photo = read_photo(source, limits=Limits(pixels=PIXELS))
    return "ok" if photo.mosaic.size else "finding an empty photo"


def _convert(source: Path, folder: Path, options: list[str]) -> str:
    target = folder / f"o{('.png', '.tif', '.jpg')[len(source.read_bytes()) % 3]}"
    limits = ("--max-pixels", PIXELS, "--method", "bilinear")
    return _command(folder, "convert", *limits, *options, "--", source, target)


def _plain(source: Path, folder: Path, options: list[str]) -> str:
    words = ("--cfa", "RGGB", "--max-pixels", PIXELS, "--method", "bilinear")
    return _command(folder, "convert", *words, "--", source, folder / "o.png")


def _headerless(source: Path, folder: Path, options: list[str]) -> str:
    size = len(source.read_bytes())
    words = ("--width", max(size // 8, 1), "--height", 8, "--cfa", "RGGB", "--method", "bilinear")
    return _command(folder, "convert", *words, "--", source, folder / "o.png")


def _inpaint(source: Path, folder: Path, options: list[str]) -> str:
    words = ("--method", "biharmonic", "--max-pixels", PIXELS)
    return _command(folder, "inpaint", *words, "--", source, _mask(folder), folder / f"o{source.suffix}")


def _masked(source: Path, folder: Path, options: list[str]) -> str:
    picture = folder / "picture.png"
    Image.fromarray(np.full((SIDE, SIDE, 3), 99, np.uint8)).save(picture)
    words = ("--method", "biharmonic", "--max-pixels", PIXELS, "--threshold", 0.5)
    return _command(folder, "inpaint", *words, "--", picture, source, folder / "o.png")


def _info(source: Path, folder: Path, options: list[str]) -> str:
    return _command(folder, "info", "--json", "--max-pixels", PIXELS, "--", source)


def _batch(source: Path, folder: Path, options: list[str]) -> str:
    _mask(folder)
    words = ("--inpaint", "--dry-run", "-o", folder / "out", "--method", "biharmonic")
    return _command(folder, "batch", *words, "--", source)


def _named(source: Path, folder: Path, options: list[str]) -> str:
    name = options[1] if options else "{stem}"
    return _command(folder, "batch", "--dry-run", "-o", folder / "out", "--name", name, "--", source)


def _report(source: Path, folder: Path, options: list[str]) -> str:
    Report(source).records()
    Report(source).mend()
    small = ROOT / "samples" / "small_rggb.dng"
    return _command(folder, "batch", "--dry-run", "--resume", "--report", source, "-o", folder / "out", small)


def _bad_pixels(source: Path, folder: Path, options: list[str]) -> str:
    small = ROOT / "samples" / "small_rggb.dng"
    return _command(
        folder, "convert", small, folder / "o.png", "--method", "bilinear", "--bad-pixels", source
    )


def _scheduler(source: Path, folder: Path, options: list[str]) -> str:
    small = ROOT / "samples" / "small_rggb.dng"
    return _command(folder, "batch", small, "-o", folder / "out", "--scheduler", source)


@dataclass(frozen=True)
class _Target:
    """What mutants of some kinds of files are let loose on."""

    attack: Callable[[Path, Path, list[str]], str]
    suffixes: tuple[str, ...]


_PICTURES = (".png", ".jpg", ".tif")
_TARGETS = {
    "read_picture": _Target(_read_picture, (*_PICTURES, ".dng")),
    "read_photo": _Target(_read_photo, (*_PICTURES, ".dng")),
    "convert": _Target(_convert, (".dng",)),
    "convert --cfa": _Target(_plain, (".png", ".tif")),
    "convert headerless": _Target(_headerless, (".dng", ".txt")),
    "inpaint": _Target(_inpaint, _PICTURES),
    "inpaint mask": _Target(_masked, _PICTURES),
    "info": _Target(_info, (".dng", ".tif", ".png")),
    "batch --inpaint": _Target(_batch, _PICTURES),
    "batch --name": _Target(_named, (".dng",)),
    "batch --resume": _Target(_report, (".jsonl",)),
    "convert --bad-pixels": _Target(_bad_pixels, (".txt",)),
    "batch --scheduler": _Target(_scheduler, (".jsonl", ".txt")),
}
