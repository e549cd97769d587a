"""Demosaicing methods measured on pictures whose truth is known.

Each picture is sampled by the colour array as it is (8 bit, gamma-encoded, no noise), demosaiced, clipped and
rounded to 8 bit, and compared with itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, Self

import pandas as pd

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.viewer.crops import Box, part_of

from ..data.sets import ImageSet, SetImage, check_crop
from ..methods.demosaicers import TENSORS, catalogue, default_names
from ..methods.method import COMPLETED, OURS
from ..report.gallery import Gallery
from ..report.plots import Drawing, error_maps, gains, quality_and_time
from ..report.tables import Cell, DataTable, rows_of
from .benchmark import Benchmark, Figure, Options, fit_box
from .case import Case, Measurement, collect_proof, measure_cost, refusal_words
from .metrics import Bytes, comparable, cpsnr, likeness
from .protocol import versions
from .results import Columns, Results, SetResults

# What is worth its time on arrays that few programs know.
_METHODS = ("gaussian", "gaussian-fast", "blend", "bilinear")
# The part of each picture on which plain tensors are completed.
_COMPLETED = (128, 128, 128, 128)
# The side of the crop on which a method runs untimed before it is measured.
_WARM_UP = 96

# So many pictures, the last of a set, were kept out when parameters were chosen; one of Kodak gains so much
# that it is left out of a mean of its own.
_KEPT_OUT, _LIFTING = 8, "kodim24"
_PARTS_WORDS = "parameters of gaussian were chosen on the first pictures, not on the last"

# Columns after the CPSNRs: quantity, title and format.
_COLUMNS: Columns = {
    "nmse": ("NMSE", ".2e"),
    "psnr_red": ("R", ".2f"),
    "psnr_green": ("G", ".2f"),
    "psnr_blue": ("B", ".2f"),
    "ssim": ("SSIM", ".4f"),
    "s_per_mp": ("s/MP", ".3g"),
    "cpu_s_per_mp": ("CPU s/MP", ".3g"),
    "mib": ("MiB", ".0f"),
}


@dataclass(frozen=True)
class DemosaicBenchmark(Benchmark):
    """Which methods are compared on which pictures; likeness is taken inside the crop, or with crop 0."""

    name = "demosaic"
    keys: ClassVar[tuple[str, ...]] = ("method", "settings", "cfa", "crop", "sha256")
    unbounded = ("cpsnr", "cpsnr_crop0", "psnr_red", "psnr_green", "psnr_blue", "nmse")
    prefix: ClassVar[str] = ""  # of the titles of its tables, each of which is a file of its own
    is_drawn: ClassVar[bool] = True  # whether reports show its pictures
    usual_array: ClassVar[str] = "RGGB"
    usual_methods: ClassVar[tuple[str, ...]] = ()  # where none are named; none: those that know the array

    cfa: str = "RGGB"
    crop: int = 10
    box: ClassVar[Box | None] = None  # the part of each picture that is worked on

    @classmethod
    def of(cls, sets: Sequence[ImageSet] = (), **options: Any) -> Self:
        asked = Options(**options)
        array = Cfa.parse(asked.cfa or cls.usual_array)
        methods = asked.choose(catalogue, cls.usual_methods or default_names(array))
        check_crop(sets, asked.crop)
        return cls(tuple(sets), methods, array.rows, asked.crop)

    @property
    def array(self) -> Cfa:
        """The colour array."""
        return Cfa.parse(self.cfa)

    def depends(self, name: str) -> Any:
        return self.array.name if name == "cfa" else super().depends(name)

    def scene(self, each: ImageSet, picture: SetImage, task: Any) -> str:
        return picture.sha256

    def warm_up(self, case: Case, loaded: Bytes) -> object:
        cfa = self.array
        starts = [
            (size - min(size, _WARM_UP)) // 2 // period * period
            for size, period in zip(loaded.shape[:2], cfa.period, strict=True)
        ]
        rows, columns = (slice(start, start + _WARM_UP) for start in starts)
        return case.method.run(cfa.sample(loaded[rows, columns]), cfa)

    def measure(self, case: Case, loaded: Bytes) -> Measurement:
        cfa, truth = self.array, part_of(loaded, self.box)
        mosaic = cfa.sample(truth)
        restored, cost = measure_cost(lambda: case.method.run(mosaic, cfa))
        picture = comparable(restored, truth)
        inside, size = likeness(picture, truth, self.crop), {"height": len(truth), "width": truth.shape[1]}
        figures = size | {"cpsnr": inside["cpsnr"], "cpsnr_crop0": cpsnr(picture, truth)} | inside
        return Measurement(figures | cost | collect_proof(restored), restored)

    @property
    def csv_names(self) -> dict[str, str]:
        """The crop is in a column's name; with one of 10 the file can be given back as a reference."""
        return {"cpsnr": f"cpsnr_crop{self.crop}"} if self.crop else {}

    @property
    def looks(self) -> list[Figure]:
        return [
            Figure(picture.sha256, f"{each.name} {picture.name}", picture, None, lambda p: {"truth": p})
            for each in self.sets
            for picture in each.pictures
            if self.is_drawn
        ]

    @property
    def protocol(self) -> dict[str, str]:
        array = f"{self.array.name} ({self.cfa})"
        return {
            "mosaic": f"8-bit RGB sampled by {array}, gamma-encoded as they are, no noise",
            "rounding": "results clipped to 0 … 255 and rounded to 8 bit before they are compared",
            "crop": f"{self.crop} pixels left out on each side, and 0 where it says so",
            "CPSNR": "peak 255, squared errors pooled over pixels and R, G, B; R, G, B: each channel's own",
            "SSIM": "scikit-image, Gaussian window of deviation 1.5, mean over pixels and channels",
            "NMSE": "sum of squared errors over sum of squares of the truth, all channels",
            "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
            "time": "wall and CPU seconds (all threads) per megapixel, from the 8-bit mosaic to the picture; "
            "kernels are compiled in an untimed call before; LibRaw's with a raw written and read in memory",
            "memory": "peak resident memory of the process during a call, interpreter and libraries included",
            "versions": versions("scikit-image", "rawpy", "opencv-python-headless", "colour-demosaicing"),
            **self.protocol_lines,
        }

    def conditions(self, each: ImageSet, machines: str) -> str:
        """The conditions of one set's means in a line."""
        count = f"{len(each.pictures)}{f' of {each.size}' if each.left_out else ''} pictures"
        return (
            f"{each.name}: {count} ({each.sizes}), {self.array.name}, crop {self.crop}, clipped and rounded "
            f"to 8 bit, mean over pictures of decibels, measured on {machines}"
        )

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """Of every set each picture, and the means with how they were made and what they say."""
        for each in self.sets:
            found = results.of_set(each)
            conditions = self.conditions(each, found.machines)
            told = (conditions, *_gaps(found), *findings(found), *refusal_words(found.refusals))
            means = self._means(found, told)
            notes, title = () if means else told, f"{self.prefix}{each.name}: by picture"
            if found.methods:
                yield (
                    found.details(title, self._columns, notes) if details else self._by_picture(found, notes)
                )
            if means:
                yield self._parts_of_set(found)
                yield means

    def _by_picture(self, found: SetResults, notes: tuple[str, ...]) -> DataTable:
        """The CPSNR of each method on each picture."""
        names = [picture.name for picture in found.set.pictures]
        figures = found.by_picture("cpsnr")[names]
        rows = tuple(rows_of(found.methods, [figures[name] for name in names], [".2f"] * len(names)))
        title = f"{self.prefix}{found.set.name}: CPSNR in dB, crop {self.crop}"
        return DataTable(
            title, ("method", *names), rows, notes, tuple(found.list_methods("ours")), details=True
        )

    @property
    def _columns(self) -> Columns:
        return {"cpsnr": (f"CPSNR crop {self.crop}", ".2f"), "cpsnr_crop0": ("crop 0", ".2f"), **_COLUMNS}

    def _means(self, found: SetResults, notes: tuple[str, ...]) -> DataTable | None:
        """The means over the whole set, of memory the most, the best method first; None where there are none.

        A method that refused a picture has no means, but its place among those that have.
        """
        refused, lacking = {refusal.case.method.name for refusal in found.refusals}, found.find_missing()
        shown = [name for name in found.methods if name not in lacking or name in refused]
        if all(name in lacking for name in shown):
            return None
        order = found.means("cpsnr")[shown].sort_values(ascending=False, kind="stable").index
        figures = [found.most(q) if q == "mib" else found.means(q) for q in self._columns]
        titles, forms = zip(*self._columns.values(), strict=True)
        by_picture = found.by_picture("cpsnr")
        sums = {name: found.by_picture(name).sum(axis=1, skipna=False) for name in ("norms_known", "groups")}
        proven = pd.DataFrame(sums).dropna().itertuples()
        proofs = {str(row.Index): f"{row.norms_known:.0f} of {row.groups:.0f}" for row in proven}
        worst, on = by_picture.min(axis=1, skipna=False), by_picture.fillna(inf).idxmin(axis=1)
        last = {name: Cell(f"{low:.2f} {on[name]}", float(low)) for name, low in worst.dropna().items()}
        rows = tuple(
            (*row, last.get(row[0].text, Cell("")), Cell(proofs.get(row[0].text, "")))
            for row in rows_of(order, figures, forms)
        )
        columns = ("method", *titles, "lowest CPSNR", "norms known")
        title = f"{self.prefix}{found.set.name}: means over {found.set.size} pictures"
        return DataTable(title, columns, rows, notes, tuple(found.list_methods("ours")))

    def _parts_of_set(self, found: SetResults) -> DataTable:
        """Medians and means over parts of a set: without a picture that lifts them, and of those kept out."""
        figures = found.by_picture("cpsnr").dropna()
        last = list(figures.columns[-_KEPT_OUT:]) if len(figures.columns) > _KEPT_OUT else []
        columns = {"mean": figures.mean(axis=1), "median": figures.median(axis=1)}
        if _LIFTING in figures:
            columns[f"without {_LIFTING}"] = figures.drop(columns=_LIFTING).mean(axis=1)
        if last:
            columns |= {
                f"first {len(figures.columns) - len(last)}": figures.drop(columns=last).mean(axis=1),
                f"last {len(last)}": figures[last].mean(axis=1),
            }
        rows = tuple(rows_of(list(figures.index), list(columns.values()), [".3f"] * len(columns)))
        title = f"{self.prefix}{found.set.name}: CPSNR in dB over parts of the set"
        ours = tuple(found.list_methods("ours"))
        return DataTable(title, ("method", *columns), rows, (_PARTS_WORDS,), ours)

    def drawings(self, results: Results, gallery: Gallery) -> Iterator[Drawing]:
        """What quality costs, what is gained, and what is wrong."""
        sets = [results.of_set(each) for each in self.sets if self.is_drawn]
        if whole := [found for found in sets if found.means("cpsnr").notna().any()]:
            caption = "mean CPSNR against CPU seconds per megapixel; blue ours, green its parts, grey peers"
            yield Drawing("quality-and-time", "Quality against time", caption, quality_and_time(whole))
        if gained := [found for found in sets if len(found.gains(OURS, found.list_methods("peer")))]:
            caption = f"{OURS} against the best peer of the run on each picture"
            yield Drawing("gains", "Gains by picture", caption, gains(gained, OURS))
        if rows := [row for found in gained for row in _errors(found, gallery)]:
            caption = "of each set the picture with the largest and with the smallest gain over the best peer"
            yield Drawing("errors", "Errors", caption, error_maps(rows), kind="png")


@dataclass(frozen=True)
class XTransBenchmark(DemosaicBenchmark):
    """Fujifilm's array: ours, and one that knows it."""

    name = "xtrans"
    prefix = "X-Trans, "
    is_drawn = False
    usual_array = "XTRANS"
    usual_methods = (*_METHODS, "libraw-markesteijn-3")


@dataclass(frozen=True)
class QuadBenchmark(DemosaicBenchmark):
    """Bayer's array of two by two pixels each, as phones have it."""

    name = "quad"
    prefix = "Quad-Bayer, "
    is_drawn = False
    usual_array = "QUAD_RGGB"
    usual_methods = _METHODS


@dataclass(frozen=True)
class TensorBenchmark(DemosaicBenchmark):
    """Completions of the plain tensor, height × width × 3, beside ours.

    A small part of each picture is enough: they take long, and are not worth a look.
    """

    name = "tensors"
    prefix = "Plain tensors, "
    is_drawn = False
    usual_methods = ("gaussian", "ntc", "bilinear", *TENSORS)
    keys = (*DemosaicBenchmark.keys, "place")
    box: Box | None = None  # type: ignore[misc]

    @classmethod
    def of(cls, sets: Sequence[ImageSet] = (), **options: Any) -> Self:
        """Without a box on one that all pictures have; all of them where one is small."""
        box = Options(**options).box or fit_box(_COMPLETED, sets)
        return replace(super().of(sets, **options), box=box)

    @property
    def protocol(self) -> dict[str, str]:
        return super().protocol | {"part": f"left,top,width,height of each picture {self.place}"}

    def conditions(self, each: ImageSet, machines: str) -> str:
        return f"{super().conditions(each, machines)}, part {self.place}"


def _gaps(found: SetResults) -> Iterator[str]:
    """Which pictures keep which methods from having a mean."""
    by_missing: dict[tuple[str, ...], list[str]] = {}
    for method, missing in found.find_missing().items():
        by_missing.setdefault(tuple(missing), []).append(method)
    for pictures, methods in by_missing.items():
        yield f"no mean over {found.set.name} without {', '.join(pictures)}: {', '.join(methods)}"
    if found.list_methods("reference"):
        yield "* figures of the reference, measured elsewhere"


def findings(found: SetResults) -> Iterator[str]:
    """How far prediction is above completion, and where a peer is closest or ahead."""
    added = found.gains(OURS, [COMPLETED])
    if len(added):
        whole = not {OURS, COMPLETED} & set(found.find_missing())
        mean = f"{added.mean():+.2f} dB on the mean" if whole else "no mean"
        yield (
            f"{OURS} over {COMPLETED} on {found.set.name}: {mean}, better on {(added > 0).sum()} of "
            f"{len(added)} pictures, least {added.min():+.2f} dB ({added.idxmin()})"
        )
    figures, peers = found.by_picture("cpsnr"), found.list_methods("peer")
    for method in found.list_methods("ours"):
        gained = found.gains(method, peers)
        if len(gained):
            image = gained.idxmin()
            peer = figures.loc[peers, image].idxmax()
            yield (
                f"{method} against the best peer of the run on each picture of {found.set.name}: at worst "
                f"{gained[image]:+.2f} dB on {image} ({figures.loc[method, image]:.2f} dB, {peer} "
                f"{figures.loc[peer, image]:.2f} dB)"
            )


def _errors(found: SetResults, gallery: Gallery) -> Iterator[tuple[str, Bytes, list[tuple[str, Bytes]]]]:
    """Truth, ours and the best peer where we gain most and least."""
    gained, figures = found.gains(OURS, found.list_methods("peer")), found.by_picture("cpsnr")
    for name in dict.fromkeys((gained.idxmax(), gained.idxmin())):
        picture = next(picture for picture in found.set.pictures if picture.name == name)
        methods = (OURS, figures.loc[found.list_methods("peer"), name].idxmax())
        cases = {case.method.name: case for case in found.part.cases if case.scene == picture.sha256}
        truth = gallery.pixels(f"truth {picture.sha256}")
        versions = [(m, pixels) for m in methods if (pixels := gallery.pixels(cases[m].key)) is not None]
        if truth is not None:
            yield str(name), truth, versions
