"""What mutants are let loose on: every reader, every command, the studio, and what is kept between runs."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.batch.records.report import Report
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.ntc.solution import Solution
from demosaic_ntc.raw.reading import read_embedded, read_facts, read_photo

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "samples" / "small_rggb.dng"
SIDE = 32

# A mutant may lie about its size, but no more than this may be believed.
PIXELS = 4_000_000

# The ending of names of raws that cameras took, and how large these are at most.
CAMERA, CAMERA_PIXELS = ".camera", 15_000_000


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


def cameras_at_hand() -> dict[str, Path]:
    """Raws of cameras, and fragments of such, where the test data lies; too large for whole conversions."""
    folder = Path(os.environ.get("DEMOSAIC_NTC_DATA", "")) / "raw_more"
    found = sorted(folder.rglob("*")) if "DEMOSAIC_NTC_DATA" in os.environ else []
    return {f"{path.name}{CAMERA}": path for path in found if path.is_file()}


def _read_camera(source: Path, folder: Path, options: list[str]) -> str:
    """All that decoders are asked for of a raw: its samples, its preview, its metadata."""
    limits = InputLimits(pixels=CAMERA_PIXELS)
    read_facts(source)
    photo = read_photo(source, limits=limits)
    read_embedded(source, limits)
    return "ok" if photo.mosaic.size else "finding an empty photo"


def _mask(folder: Path) -> Path:
    missing = np.zeros((SIDE, SIDE), np.uint8)
    missing[4:9, 4:9] = 255
    Image.fromarray(missing).save(folder / "mutant.mask.png")
    return folder / "mutant.mask.png"


def _read_picture(source: Path, folder: Path, options: list[str]) -> str:
    picture = read_picture(source, InputLimits(pixels=PIXELS))
    return "ok" if picture.pixels.size else "finding an empty picture"


def _read_photo(source: Path, folder: Path, options: list[str]) -> str:
    photo = read_photo(source, limits=InputLimits(pixels=PIXELS))
    return "ok" if photo.mosaic.size else "finding an empty photo"


_OUTPUTS = (".png", ".tif", ".jpg", ".webp", ".avif", ".jxl", ".dng")


def _convert(source: Path, folder: Path, options: list[str]) -> str:
    target = folder / f"o{_OUTPUTS[len(source.read_bytes()) % len(_OUTPUTS)]}"
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
    return _command(folder, "batch", "--dry-run", "--resume", "--report", source, "-o", folder / "out", SMALL)


def _bad_pixels(source: Path, folder: Path, options: list[str]) -> str:
    return _command(
        folder, "convert", SMALL, folder / "o.png", "--method", "bilinear", "--bad-pixels", source
    )


def _scheduler(source: Path, folder: Path, options: list[str]) -> str:
    return _command(folder, "batch", SMALL, "-o", folder / "out", "--scheduler", source)


def _dark_frames(source: Path, folder: Path, options: list[str]) -> str:
    words = ("--max-pixels", PIXELS, "-o", folder / "o.txt")
    return _command(folder, "bad-pixels", *words, "--", source, SMALL)


def _detected(source: Path, folder: Path, options: list[str]) -> str:
    words = ("--detect", "dust,scratches", "--method", "biharmonic", "--max-pixels", PIXELS)
    return _command(folder, "inpaint", *words, "--", source, folder / "o.png")


def _transparent(source: Path, folder: Path, options: list[str]) -> str:
    kinds = ("--mask-from", "alpha") if len(source.read_bytes()) % 2 else ("--mask-color", "#ff00ff")
    words = (*kinds, "--method", "biharmonic", "--max-pixels", PIXELS)
    return _command(folder, "inpaint", *words, "--", source, folder / "o.png")


_OF_REPAIRS = {
    *("--quality", "--method", "--threads", "--time-limit", "--max-pixels", "--threshold", "--mask-color"),
    *("--detect", "--sensitivity", "--mask-from"),
}


def _repair_options(source: Path, folder: Path, options: list[str]) -> str:
    pairs = zip(options[::2], options[1::2], strict=True)
    kept = [word for pair in pairs if pair[0] in _OF_REPAIRS for word in pair]
    words = ("--method", "biharmonic", *kept)
    return _command(folder, "inpaint", *words, "--", source, _mask(folder), folder / "o.png")


def _compare(source: Path, folder: Path, options: list[str]) -> str:
    words = ("--methods", "bilinear", "--crops", 1, "--crop-size", 32, "-o", folder / "page")
    return _command(folder, "compare", *words, "--", source)


def _batch_options(source: Path, folder: Path, options: list[str]) -> str:
    words = ("--dry-run", "-o", folder / "out", *options)
    return _command(folder, "batch", *words, "--", source)


def _pictures(folder: Path) -> Path:
    (folder / "set").mkdir()
    pixels = np.random.default_rng(0).integers(256, size=(SIDE, SIDE, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "set" / "1.png")
    return folder / "set"


def kept_results(source: Path, folder: Path, options: list[str] | None = None) -> str:
    """Results of an earlier benchmark, to be continued."""
    words = ("demosaic", _pictures(folder), "--methods", "bilinear", "--crop", 2, "--json", source)
    return _command(folder, "benchmark", *words)


def _references(source: Path, folder: Path, options: list[str]) -> str:
    words = ("demosaic", _pictures(folder), "--methods", "bilinear", "--crop", 2, "--reference", source)
    return _command(folder, "benchmark", *words)


def _benchmarked(source: Path, folder: Path, options: list[str]) -> str:
    (folder / "mutants").mkdir()
    source.rename(folder / "mutants" / source.name)
    words = ("demosaic", folder / "mutants", "--methods", "bilinear", "--crop", 2)
    return _command(folder, "benchmark", *words)


def _solution(source: Path, folder: Path, options: list[str]) -> str:
    with source.open("rb") as file:
        solution = Solution.load(file)
    entries = solution.at(np.zeros((1, len(solution.shape)), int))
    return "ok" if np.isfinite(entries).all() else "finding a solution that is not finite"


# A kernel of ours is taken from the cache, or compiled, and called.
_CALL = """
import numpy as np
from demosaic_ntc.demosaicing.interpolation.kernels import fill
row = np.zeros(4, np.float32)
fill(row, np.float32(2))
assert row.sum() == 8.0
"""


def _use_kernels(cache: Path) -> None:
    """Use a cache of kernels in a process of its own; raise what it says if it fails."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CALL], env=environment, capture_output=True, check=False
    )
    if answer.returncode:
        raise RuntimeError(f"exit {answer.returncode}: {answer.stderr.decode(errors='replace')[-300:]}")


@cache
def kept_kernels() -> dict[str, bytes]:
    """The files of a cache of kernels in order, by their places in it."""
    with TemporaryDirectory() as folder:
        _use_kernels(Path(folder))
        paths = Path(folder).rglob("*.nb?")
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _kernel_cache(source: Path, folder: Path, options: list[str]) -> str:
    """All files of a kind in a cache are the mutant."""
    for name, content in kept_kernels().items():
        path = folder / "cache" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.read_bytes() if path.suffix == source.suffix else content)
    _use_kernels(folder / "cache")
    return "ok"


class Room:
    """A studio that is kept from mutant to mutant, because it takes a while to open."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._served: Any = None
        self._uses = 0

    def open(self, folder: Path) -> Any:
        """The studio, another one now and then: uploads stay on the disk as long as it is open."""
        from tests.studio.studios import served

        self._uses += 1
        if self._served is None or self._uses % 100 == 0:
            self.close()
            limits = InputLimits(pixels=PIXELS, file_bytes=2_000_000)
            picture = Path(self._stack.enter_context(TemporaryDirectory())) / "a.png"
            Image.fromarray(np.full((SIDE, SIDE, 3), 99, np.uint8)).save(picture)
            self._served = self._stack.enter_context(served([picture, SMALL], limits))
            for number in (1, 2):
                self._served.post(f"/api/pictures/{number}/open")
                self._served.opened(number)
        return self._served

    def close(self) -> None:
        """Leave nothing behind."""
        self._stack.close()
        self._served = None


ROOM = Room()


def _judged(answer: Any) -> str:
    if answer.status_code >= 500:
        return f"finding status {answer.status_code}: {answer.text[:300]}"
    return "ok" if answer.status_code < 400 else "refused"


def _asked(source: Path, folder: Path, options: list[str]) -> str:
    """A request to the studio; which one, the file itself says, as long as it can."""
    content, studio = source.read_bytes(), ROOM.open(folder)
    known = [name for name in REQUESTS if name.encode() in content]
    number = 2 if known and known[0] in ("develop", "command", "convert") else 1
    answer = studio.client.post(
        f"/api/pictures/{number}/{known[0] if known else 'mask'}",
        content=content,
        headers={"Content-Type": "application/json"},
    )
    judged = _judged(answer)
    if judged != "ok" or "task" not in answer.json():
        return judged
    done = studio.task(answer)
    studio.post("/api/pictures/1/mask", {"tool": "clear"})
    return f"finding {done}" if "internal error" in str(done) else "ok"


def _uploaded(source: Path, folder: Path, options: list[str]) -> str:
    """A picture or a mask that is brought to the studio."""
    content, studio = source.read_bytes(), ROOM.open(folder)
    if len(content) % 2:
        answer = studio.client.put("/api/pictures/1/mask", content=content)
        done = studio.task(answer) if answer.status_code == 200 else {}
    else:
        answer = studio.client.post("/api/pictures", content=content, headers={"X-Name": source.name})
        done = studio.opened(answer.json()["number"]) if answer.status_code == 200 else {}
    return f"finding {done}" if "internal error" in str(done) else _judged(answer)


# Bodies of requests, each with a word that names it.
REQUESTS: dict[str, dict[str, Any]] = {
    "mask": {"as": "mask", "tool": "brush", "radius": 2.0, "points": [[3.5, 4], [9, 9.25]], "erase": False},
    "find": {"as": "find", "what": "dust", "sensitivity": 0.5},
    "save": {"as": "save", "format": "png", "place": "new", "quality": "fast", "mask": True},
    "develop": {"as": "develop", "look": "neutral", "exposure": 1.5, "contrast": 10, "quality": "fast"},
    "command": {"as": "command", "look": "camera", "wb": "5200K,+8", "format": "tif", "denoise": "auto"},
}


@dataclass(frozen=True)
class Target:
    """What mutants of some kinds of files are let loose on."""

    attack: Callable[[Path, Path, list[str]], str]
    suffixes: tuple[str, ...]


_PICTURES = (".png", ".jpg", ".tif")
_RAWS = (".dng", ".raf", ".mrw", ".crw", ".fits")
TARGETS = {
    "read_picture": Target(_read_picture, (*_PICTURES, ".dng")),
    "read_photo": Target(_read_photo, (*_PICTURES, *_RAWS)),
    "convert": Target(_convert, _RAWS),
    "convert options": Target(_convert, (".dng",)),
    "convert --cfa": Target(_plain, (".png", ".tif")),
    "convert headerless": Target(_headerless, (".dng", ".txt")),
    "inpaint": Target(_inpaint, _PICTURES),
    "inpaint mask": Target(_masked, (*_PICTURES, ".bmp", ".webp", ".gif")),
    "inpaint --detect": Target(_detected, _PICTURES),
    "inpaint --mask-from": Target(_transparent, _PICTURES),
    "inpaint options": Target(_repair_options, (".png",)),
    "compare": Target(_compare, _RAWS),
    "bad-pixels": Target(_dark_frames, (".dng",)),
    "batch options": Target(_batch_options, (".dng",)),
    "benchmark": Target(_benchmarked, (".png", ".tif")),
    "benchmark --json": Target(kept_results, (".json",)),
    "benchmark --reference": Target(_references, (".csv",)),
    "solution": Target(_solution, (".npz",)),
    "kernel cache": Target(_kernel_cache, (".nbi", ".nbc")),
    "studio request": Target(_asked, (".request",)),
    "studio upload": Target(_uploaded, (*_PICTURES, *_RAWS, ".bmp", ".webp", ".gif")),
    "info": Target(_info, (*_RAWS, ".tif", ".png")),
    "batch --inpaint": Target(_batch, _PICTURES),
    "batch --name": Target(_named, _RAWS),
    "batch --resume": Target(_report, (".jsonl",)),
    "convert --bad-pixels": Target(_bad_pixels, (".txt",)),
    "batch --scheduler": Target(_scheduler, (".jsonl", ".txt")),
}
if cameras_at_hand():
    TARGETS["read a camera's raw"] = Target(_read_camera, (CAMERA,))
