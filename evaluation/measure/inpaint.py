"""Inpainting methods measured on pictures whose truth is known.

Of each picture, or of a part of it, a mask takes pixels away, all channels at once and the same ones for
every method. Results are rounded to 8 bit and compared with the truth: over the whole part, as in the
literature, and over the missing pixels alone, which does not flatter masks that take little.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any, Self

import numpy as np

from demosaic_ntc.arrays import Flags
from demosaic_ntc.viewer.crops import Box, CropBox, part_of

from .. import split_names
from ..data.masks import DEFAULT as MASKS
from ..data.masks import check_mask, make_mask
from ..data.sets import ImageSet, SetImage, first, select_numbered
from ..methods.inpainters import BASELINE, DEFAULT, catalogue
from ..methods.method import COMPLETED, OURS
from ..report.gallery import Gallery
from ..report.plots import Drawing, mask_gains
from ..report.tables import Cell, DataTable, figure
from .benchmark import Benchmark, Figure, Options, fit_box
from .case import Case, Measurement, Row, collect_proof, measure_cost, refusal_words
from .metrics import Bytes, comparable, cpsnr, likeness
from .protocol import versions
from .results import Columns, Results, SetResults

# The side of the crop on which a method runs untimed before it is measured.
_WARM_UP = 96
# Of each picture of a report the part that is measured, and how many pictures of a set: as time allows.
_REPAIRED, _FIRST = (128, 128, 256, 256), 8

_TABLES: Columns = {
    "cpsnr": ("PSNR in dB over the whole picture", ".2f"),
    "nmse": ("NMSE over the whole picture", ".2e"),
    "psnr_missing": ("PSNR in dB over the missing pixels", ".2f"),
    "ssim": ("SSIM", ".4f"),
    "cpu_s_per_mp": ("CPU seconds per megapixel", ".3g"),
}
_COLUMNS: Columns = {
    "cpsnr": ("PSNR", ".2f"),
    "nmse": ("NMSE", ".2e"),
    "psnr_missing": ("missing", ".2f"),
    "ssim": ("SSIM", ".4f"),
    "s_per_mp": ("s/MP", ".3g"),
    "cpu_s_per_mp": ("CPU s/MP", ".3g"),
    "mib": ("MiB", ".0f"),
}
_GAINS = (  # each name once, or a file would lose some
    *("mask", "over biharmonic", "least over biharmonic", "on (biharmonic)"),
    *("over group mean", "least over group mean", "on (group mean)"),
)


@dataclass(frozen=True)
class InpaintBenchmark(Benchmark):
    """Which methods are compared on which pictures, or on a part of each, under which masks."""

    name = "inpaint"
    keys = ("method", "settings", "mask", "seed", "place", "sha256")
    task_key = "mask"
    stamps = ("mask_sha256",)  # of the flags themselves: a mask's file may have changed under its name
    unbounded = ("cpsnr", "psnr_missing")
    warms_each_task = True

    masks: tuple[str, ...] = ()
    seed: int = 0
    box: Box | None = None

    @classmethod
    def of(cls, sets: Sequence[ImageSet] = (), **options: Any) -> Self:
        asked = Options(**options)
        methods, box = asked.choose(catalogue, DEFAULT), asked.box
        names = split_names(asked.masks) or split_names(MASKS)
        for name in names:
            check_mask(name)
        if asked.usual is not False:  # then on a part that all of them have
            sets = [select_numbered(each, str(asked.usual) or first(each, _FIRST)) for each in sets]
            box = fit_box(_REPAIRED, sets)
        return cls(tuple(sets), methods, tuple(names), asked.seed, box)

    @property
    def work(self) -> Sequence[str]:
        return self.masks

    def scene(self, each: ImageSet, picture: SetImage, task: str) -> str:
        return f"{each.name} {picture.sha256} {task}"

    def stamp(self, case: Case) -> Row:
        shape = (case.source.height, case.source.width) if self.box is None else (self.box[3], self.box[2])
        return {"mask_sha256": _mask_sha256(case.task, shape, self.seed)}

    def warm_up(self, case: Case, loaded: Bytes) -> object:
        part = np.ascontiguousarray(part_of(loaded, self.box)[:_WARM_UP, :_WARM_UP])
        return case.method.run(part, self._make_mask(case.task, part))

    def measure(self, case: Case, loaded: Bytes) -> Measurement:
        truth = part_of(loaded, self.box)
        missing = self._make_mask(case.task, truth)
        damaged = np.where(missing[..., None], 0, truth).astype(np.uint8)
        restored, cost = measure_cost(lambda: case.method.run(damaged, missing))
        picture = comparable(restored, truth)
        whole = likeness(picture, truth, 0)
        figures = {
            "height": truth.shape[0],
            "width": truth.shape[1],
            "missing_share": float(missing.mean()),
            "cpsnr": whole["cpsnr"],
            "psnr_missing": cpsnr(picture[missing], truth[missing]),
            "ssim": whole["ssim"],
            "nmse": whole["nmse"],
        }
        return Measurement(figures | cost | collect_proof(restored), restored)

    def _make_mask(self, mask: str, part: Bytes) -> Flags:
        """The pixels that are taken away from a part."""
        return make_mask(mask, (part.shape[0], part.shape[1]), self.seed)

    @property
    def looks(self) -> list[Figure]:
        """Of each set every mask once, each on another picture."""
        frame = CropBox(*self.box) if self.box else None

        def look(each: ImageSet, number: int, mask: str) -> Figure:
            picture = each.pictures[number % len(each.pictures)]
            key, name = self.scene(each, picture, mask), f"{picture.name}, {mask}"
            return Figure(key, name, picture, frame, lambda pixels: self._versions(mask, pixels))

        return [look(each, *entry) for each in self.sets for entry in enumerate(self.masks)]

    def _versions(self, mask: str, pixels: Bytes) -> dict[str, Bytes]:
        """What is damaged, white where pixels are missing, and the truth."""
        truth = part_of(pixels, self.box)
        damaged = np.where(self._make_mask(mask, truth)[..., None], np.uint8(255), truth)
        return {"damaged": damaged, "truth": truth}

    @property
    def protocol(self) -> dict[str, str]:
        return {
            "masks": f"{', '.join(self.masks)}; drawn by seed {self.seed}, whole pixels, the same for all "
            "methods and for all pictures of one size",
            "part": "left,top,width,height " + self.place if self.box else "whole pictures",
            "rounding": "results clipped to 0 … 255 and rounded to 8 bit before they are compared",
            "PSNR": "peak 255, squared errors pooled over pixels and R, G, B; over the part with its known "
            "pixels, and over missing pixels alone",
            "SSIM": "scikit-image, Gaussian window of deviation 1.5, mean over pixels and channels",
            "NMSE": "sum of squared errors over sum of squares of the truth, over the part",
            "grain": "none is added (`grain=off`): it would be noise beside the truth's own",
            "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
            "time": "wall and CPU seconds (all threads) per megapixel of the part, from the 8-bit picture to "
            "the result; kernels are compiled in an untimed call before",
            "memory": "peak resident memory of the process during a call, interpreter and libraries included",
            "versions": versions("scipy", "scikit-image", "opencv-python-headless"),
            **self.protocol_lines,
        }

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """Of every set the means, a mask per row and a method per column, and what is gained."""
        for each in self.sets:
            found = results.of_set(each)
            masks = found.by("mask", self.masks)
            if details:
                title = f"{each.name}, {{}}: by picture"
                yield from (u.details(title.format(m), _COLUMNS, proofs=True) for m, u in masks.items())
            conditions = (
                f"{each.name}: {len(each.pictures)} pictures, part {self.place}, seed {self.seed}, rounded "
                f"to 8 bit, mean over pictures of decibels, measured on {found.machines}"
            )
            gaps = (
                f"{mask}: no mean, since pictures are missing, for {', '.join(lacking)}"
                for mask, under in masks.items()
                if (lacking := under.find_missing())
            )
            shown = [
                table for table in (*_means(found, masks), _compare_gains(found, masks)) if not table.is_empty
            ]
            *others, last = shown or [DataTable(f"Inpainting {each.name}", ("mask",), ())]
            yield from others
            yield replace(last, notes=(conditions, *gaps, *refusal_words(found.refusals)))

    def drawings(self, results: Results, gallery: Gallery) -> Iterator[Drawing]:
        """What is gained, mask by mask."""
        for each in self.sets:
            masks = results.of_set(each).by("mask", self.masks)
            bars = {
                "over biharmonic": [mean_gain(under, BASELINE) for under in masks.values()],
                "over completion": [mean_gain(under, COMPLETED) for under in masks.values()],
            }
            if any(len(under.gains(OURS, [BASELINE])) for under in masks.values()):
                caption = f"{each.name}: mean gains of {OURS}, mask by mask"
                name = f"inpaint-gains-{each.name.replace(' ', '-')}"
                drawn = mask_gains(list(masks), bars)
                yield Drawing(name, f"Inpainting {each.name}: gains", caption, drawn)


def mask_name(mask: str, under: SetResults, form: str = ".1%") -> str:
    """A mask and how much it takes."""
    shares = under.frame.get("missing_share", ())
    return f"{mask} ({sum(shares) / len(shares):{form}})" if len(shares) else mask


def _means(found: SetResults, masks: dict[str, SetResults]) -> Iterator[DataTable]:
    """The means over the whole set, quantity by quantity."""
    for quantity, (title, form) in _TABLES.items():
        rows = []
        for mask, under in masks.items():
            means = under.means(quantity).reindex(found.methods)
            rows.append((Cell(mask_name(mask, under)), *(figure(mean, form) for mean in means)))
        yield DataTable(f"Inpainting {found.set.name}: {title}", ("mask", *found.methods), tuple(rows))


def _compare_gains(found: SetResults, masks: dict[str, SetResults]) -> DataTable:
    """By how much ours is above biharmonic and above completion, with the worst picture of each mask."""
    rows = tuple(
        (Cell(mask_name(mask, under)), *_gain(under, BASELINE), *_gain(under, COMPLETED))
        for mask, under in masks.items()
        if len(under.gains(OURS, [BASELINE])) or len(under.gains(OURS, [COMPLETED]))
    )
    return DataTable(f"Inpainting {found.set.name}: gains of {OURS} in dB", _GAINS, rows)


def _gain(under: SetResults, other: str) -> tuple[Cell, Cell, Cell]:
    """A gain on the mean, the least one, and where."""
    gained = under.gains(OURS, [other])
    if not len(gained):
        return Cell(""), Cell(""), Cell("")
    return figure(mean_gain(under, other), "+.2f"), figure(gained.min(), "+.2f"), Cell(str(gained.idxmin()))


def mean_gain(under: SetResults, other: str) -> float:
    """By how much ours is above another method on the mean over the whole set; NaN without one."""
    gained = under.gains(OURS, [other])
    whole = len(gained) and not {OURS, other} & set(under.find_missing())
    return float(gained.mean()) if whole else float("nan")


@lru_cache
def _mask_sha256(mask: str, shape: tuple[int, int], seed: int) -> str:
    """The checksum of a mask and its shape; every case asks for it."""
    flags = make_mask(mask, shape, seed)
    return sha256(f"{flags.shape}".encode() + np.packbits(flags).tobytes()).hexdigest()
