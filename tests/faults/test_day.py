"""A day of work: many raws, workers, decoders and the program itself killed at random, everything done once.

How many is told by ``DAY``, as files to interpolate and files to convert by default: ``DAY=2000,40``.
"""

import json
import os
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.raw.reading import read_photo
from samples.dng import Camera, write_dng
from tests.batch.batches import PATIENCE, REPORT

pytestmark = [pytest.mark.fault, pytest.mark.load]
SMALL, REAL = map(int, os.environ.get("DAY", "200,6").split(","))

# By how much a process may grow from the third quarter of the pictures of its life to the last, if these are
# enough; before the first ones it loads libraries.
_GROWTH, _ENOUGH, _FIRST = 1.05, 40, 5


@dataclass
class Process:
    """What was seen of a process: how many pictures there were, its bytes and its open files."""

    looks: list[tuple[int, int, int]] = field(default_factory=list)

    def see(self, process: psutil.Process, pictures: int) -> None:
        """Look at it once more."""
        self.looks.append((pictures, process.memory_info().rss, process.num_fds()))

    @property
    def pictures(self) -> int:
        """How many were made in its life."""
        return self.looks[-1][0] - self.looks[0][0]

    def quarter(self, number: int) -> tuple[float, float]:
        """Bytes and open files in a quarter of the pictures of its life."""
        start = self.looks[0][0] + _FIRST
        end = self.looks[-1][0]
        low, high = (start + (end - start) * share / 4 for share in (number, number + 1))
        memory, files = zip(*(seen for made, *seen in self.looks if low <= made < high), strict=True)
        return statistics.median(memory), statistics.median(files)


@dataclass
class Day:
    """A batch that is killed and taken up again until nothing is left to do."""

    start: Callable[..., Any]
    words: tuple[object, ...]
    out: Path
    kills: list[tuple[int, str]]  # after how many pictures, and whom
    seen: "defaultdict[tuple[str, int], Process]" = field(default_factory=lambda: defaultdict(Process))
    killed: Counter[str] = field(default_factory=Counter)
    pictures: dict[str, tuple[int, int]] = field(default_factory=dict)  # as they were last seen
    made: Counter[str] = field(default_factory=Counter)  # how often each

    def work(self) -> None:
        """Run until everything is done; a run that was killed, or lost a file, is taken up again."""
        for _ in range(len(self.kills) + 2):
            process = self.start(*self.words)
            while process.poll() is None:
                with suppress(psutil.Error):
                    self._look(psutil.Process(process.pid))
                time.sleep(0.02)
            errors = process.communicate(timeout=PATIENCE)[1]
            if process.returncode == 0:
                return
            assert process.returncode in (1, -9), errors
        raise AssertionError("it comes to no end")

    def _look(self, parent: psutil.Process) -> None:
        """See how much everybody takes, and kill whoever is next."""
        workers = [child for child in parent.children() if "workers.worker import" in str(child.cmdline())]
        decoders = [child for worker in workers for child in worker.children()]
        everybody = {"program": [parent], "worker": workers, "decoder": decoders}
        for kind, processes in everybody.items():
            for process in processes:
                with suppress(psutil.Error):
                    self.seen[kind, process.pid].see(process, len(self.pictures))
        for path in self.out.glob("*.png"):
            status = path.stat()
            if self.pictures.get(path.name) != (status.st_ino, status.st_mtime_ns):
                self.made[path.name] += 1
            self.pictures[path.name] = (status.st_ino, status.st_mtime_ns)
        if self.kills and len(self.pictures) >= self.kills[0][0] and everybody[self.kills[0][1]]:
            kind = self.kills.pop(0)[1]
            self.killed[kind] += 1
            everybody[kind][0].kill()

    def check(self, names: set[str]) -> None:
        """Everything was done, and once; whoever lived long took no more in the end."""
        lines = (self.out / REPORT).read_bytes().splitlines()
        done = Counter(
            Path(record["input"]).stem for record in map(json.loads, lines) if record["status"] == "done"
        )
        assert set(done) == names
        assert {path.stem for path in self.out.glob("*.png")} == names
        assert set(done.values()) == {1}, [name for name, count in done.items() if count > 1]
        # A program that is killed cannot note what its two workers are just giving names to.
        assert sum(self.made.values()) - len(self.made) <= 2 * self.killed["program"], self.made.most_common(
            9
        )
        assert not list(self.out.glob(".*.partial"))
        assert not self.kills
        for (kind, _), process in self.seen.items():
            if process.pictures >= _ENOUGH:
                for before, after in zip(process.quarter(2), process.quarter(3), strict=True):
                    assert after <= _GROWTH * before, (kind, process.looks)

    def tell(self) -> str:
        """What was seen, in a line."""
        told = []
        for kind in ("program", "worker", "decoder"):
            seen = [process for (each, _), process in self.seen.items() if each == kind]
            longest = max(seen, key=lambda process: process.pictures)
            if longest.pictures >= _ENOUGH:
                (before, files), (after, left) = longest.quarter(2), longest.quarter(3)
                sizes = f"{before / 1e6:.1f} and {after / 1e6:.1f} MB, {files:g} and {left:g} files"
                told.append(f"{kind} of {longest.pictures} pictures: {sizes}")
        again = sum(self.made.values()) - len(self.made)
        return f"{len(self.pictures)} pictures, {again} made again, killed {dict(self.killed)}; " + "; ".join(
            told
        )


def _kills(files: int, count: int) -> list[tuple[int, str]]:
    """When to kill, in the order of time; the program itself in the first half alone: then it lives long."""
    draw = random.Random(34)
    kinds = [draw.choice(("program", "worker", "decoder")) for _ in range(count)]
    places = [draw.uniform(0.02, 0.5 if kind == "program" else 0.8) for kind in kinds]
    return sorted((int(place * files), kind) for place, kind in zip(places, kinds, strict=True))


def _small(folder: Path, count: int) -> None:
    for number in range(count):
        mosaic = np.random.default_rng(number).integers(600, 16000, (32, 32)).astype(np.uint16)
        write_dng(folder / f"{number:05}.dng", mosaic, Cfa.from_name("RGGB"), Camera())


def _crops(folder: Path, raw: Path, count: int) -> None:
    """Parts of a camera's raw, 600×400 samples each."""
    photo = read_photo(raw)
    assert photo.cfa is not None
    draw, (height, width) = np.random.default_rng(34), photo.mosaic.shape[:2]
    camera = Camera(black=float(photo.black.mean()), white=int(photo.white))
    for number in range(count):
        top, left = 2 * draw.integers((height - 400) // 2), 2 * draw.integers((width - 600) // 2)
        part = np.ascontiguousarray(photo.mosaic[top : top + 400, left : left + 600])
        write_dng(folder / f"{number:05}.dng", part, photo.cfa, camera)


@pytest.mark.parametrize("work", ["small", "real"])
def test_a_day_of_work(
    tmp_path: Path, request: pytest.FixtureRequest, start: Callable[..., Any], tried: Counter[str], work: str
) -> None:
    source, out, is_small = tmp_path / "in", tmp_path / "out", work == "small"
    source.mkdir()
    out.mkdir()
    if is_small:
        _small(source, SMALL)
    else:
        _crops(source, request.getfixturevalue("data") / "raw" / "IMG_0848.CR2", REAL)
    files = SMALL if is_small else REAL
    words = ("batch", source, "-o", out, "--jobs", 2, "--resume", "-q")
    day = Day(
        start,
        (*words, *(("--method", "bilinear") if is_small else ())),
        out,
        _kills(files, 12 if is_small else 6),
    )
    day.work()
    sys.stdout.write(f"{day.tell()}\n")
    day.check({path.stem for path in source.iterdir()})
    tried["files"] += files
