"""Merged frames in a report: every way on the same bursts, with the pictures side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.engine.result import Restored
from demosaic_ntc.errors import InputError
from demosaic_ntc.viewer.crops import CropBox

from .. import split_names
from ..data.sets import ImageSet, SetImage, first, select_numbered
from ..measure.benchmark import Benchmark, Figure
from ..measure.case import Case, Measurement, measure_cost
from ..measure.metrics import Bytes, eight_bit
from ..measure.protocol import engine, machine, versions
from ..measure.results import Results
from ..methods.method import Method, Role
from ..report.tables import DataTable, rows_of
from .gains import BORDER, decibels
from .made import SCALE, choose_box, decode_view, make_burst
from .ways import OURS, SINGLE, WAYS

_USUAL, _FIRST = "6,10,14,17", 4  # pictures on which nothing was chosen, or so many


@dataclass(frozen=True, slots=True)
class BurstTask:
    """How many frames there are, and how noisy."""

    frames: int
    sigma: int

    @property
    def name(self) -> str:
        """The burst in words."""
        return f"{self.frames} frames, σ {self.sigma}"


@dataclass(frozen=True)
class MergeBenchmark(Benchmark):
    """Which ways of merging are compared on which pictures."""

    name = "merge"
    keys = ("method", "settings", "burst", "sha256")
    task_key = "burst"

    frames: tuple[int, ...] = ()
    sigmas: tuple[int, ...] = ()

    @classmethod
    def of(cls, sets: Sequence[ImageSet], frames: str = "8", sigma: str = "5,20", threads: int = 1) -> Self:
        """The usual pictures of the sets, or the first few."""
        numbers = [split_names(each) for each in (frames, sigma)]
        if not all(words and all(word.isdigit() and int(word) > 1 for word in words) for words in numbers):
            raise InputError(f"{frames!r} and {sigma!r} are not numbers above 1; give such as 4,8 and 5,20")

        def method(way: str, settings: str, role: Role) -> Method:
            return Method(way, settings, role, lambda burst: WAYS[way](burst, threads))

        others = [way for way in WAYS if way not in (OURS, SINGLE)]
        methods = [method(way, f"true motion told, {engine()}", "peer") for way in others]
        ours = method(OURS, f"motion found, {engine()}", "ours")
        alone = method(SINGLE, engine(), "part")
        counts, levels = (tuple(map(int, words)) for words in numbers)
        chosen = [usual for each in sets if (usual := _choose_usual(each)).pictures]
        return cls(tuple(chosen), (ours, *methods, alone), counts, levels)

    @property
    def work(self) -> Sequence[BurstTask]:
        return [BurstTask(count, sigma) for count in self.frames for sigma in self.sigmas]

    def load(self, source: SetImage) -> SetImage:
        """A burst is made for each case anew, always the same."""
        return source

    def measure(self, case: Case, loaded: SetImage) -> Measurement:
        burst = make_burst(loaded, case.task.frames, float(case.task.sigma), 0)
        picture, cost = measure_cost(lambda: case.method.run(burst))
        height, width = burst.mosaics[0].shape
        figures = {"height": height, "width": width, "cpsnr": decibels(picture, burst.views[0])}
        return Measurement(figures | cost | {"machine": machine()}, Restored(_show(picture)))

    def scene(self, each: ImageSet, picture: SetImage, task: BurstTask) -> str:
        return f"{picture.sha256} {task.name}"

    @property
    def looks(self) -> list[Figure]:
        return [
            Figure(
                self.scene(each, picture, task),
                f"{each.name} {picture.name}, {task.name}, twice as large",
                picture,
                CropBox(*choose_box(picture.height, picture.width)),
                lambda _, picture=picture: {"truth": _show(make_burst(picture, 1, 0.0, 0).views[0])},
            )
            for each in self.sets
            for picture in each.pictures
            for task in self.work
        ]

    @property
    def protocol(self) -> dict[str, str]:
        return {
            "frames": "made: pictures in linear light, a lens of .4 pixels, moved by up to 6 pixels and .003 "
            "radians, sampled at half size, RGGB, variance a·(x + .01)",
            "CPSNR": f"under √(x + .01), {BORDER} pixels left out on each side, not rounded",
            "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
            "versions": versions("scipy"),
            **self.protocol_lines,
        }

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """The means of each set."""
        for each in self.sets:
            found = results.of_set(each)
            by_task = found.by("burst", [task.name for task in self.work])
            means = [of_task.means("cpsnr").reindex(found.methods) for of_task in by_task.values()]
            rows = tuple(rows_of(found.methods, means, [".2f"] * len(means)))
            note = f"{len(each.pictures)} pictures; ways other than groups are told the true motion"
            if rows:
                yield DataTable(f"{each.name}: merged frames, dB", ("way", *by_task), rows, (note,), (OURS,))


def _choose_usual(each: ImageSet) -> ImageSet:
    """The usual pictures of a set, or the first few; none that would be all border."""
    enough = len(each.pictures) >= max(map(int, split_names(_USUAL)))
    usual = select_numbered(each, _USUAL if enough else first(each, _FIRST))
    fit = (picture for picture in usual.pictures if min(picture.height, picture.width) > 4 * SCALE * BORDER)
    return replace(usual, pictures=tuple(fit))


def _show(view: Float64) -> Bytes:
    """A picture of a frame, as large as the part of the picture that it shows."""
    return np.asarray(eight_bit(decode_view(view)).repeat(SCALE, 0).repeat(SCALE, 1))
