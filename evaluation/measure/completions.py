"""Completions of the same group tensors compared, under a colour array and under masks, and whole pictures.

Of each picture groups of similar patches are drawn, the same for all methods, and every method is handed the
same samples. What it says of the entries that nobody measured is compared with the truth. Beside them stand
the pictures that demosaicing makes of a small part.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Self

import numpy as np

from demosaic_ntc import Restored, demosaic
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import SINGLE_TENSORS
from demosaic_ntc.viewer.crops import Box, part_of

from .. import split_names
from ..data.masks import DEFAULT as MASKS
from ..data.masks import check_mask
from ..data.sets import ImageSet, SetImage
from ..methods import demosaicers
from ..methods.group_completions import DEFAULT, catalogue
from ..methods.group_tensors import MOSAIC, PLAIN, PatchTensor, make_source
from ..methods.method import Effort, Method, pick_methods
from ..methods.tensors import Floats
from ..report.tables import Cell, DataTable, figure, rows_of
from .benchmark import Benchmark, fit_box
from .case import Case, Measurement, Row, collect_proof, measure_cost, refusal_words
from .metrics import Bytes, comparable, likeness
from .protocol import machine, versions
from .results import Results, SetResults

# Names of methods that make whole pictures begin so: others complete groups.
_PICTURE = "picture: "
_PICTURED = ("bilinear", "ntc", "gaussian", "ntc-tiled", "ntc-whole")
_PICTURES = "pictures"  # their task
# The parts of pictures from which masks take pixels, and those that are made as pictures.
_DAMAGED, _MADE = (128, 128, 256, 256), (128, 128, 48, 48)
_ARRAY = "RGGB"
_LEAST_SIZE = 1e-12  # a group may be black
_HEADS = {
    MOSAIC: "as ntc has them (colour differences, mostly)",
    PLAIN: "the values themselves, samples alone",
}


@dataclass(frozen=True, eq=False)
class _Groups:
    """The pixels of a picture, and its groups by task, made once for all methods."""

    pixels: Bytes
    by_task: dict[str, list[PatchTensor]] = field(default_factory=dict)


@dataclass(frozen=True)
class CompletionBenchmark(Benchmark):
    """Which completions are compared on the groups of which pictures, and which pictures stand beside."""

    name = "completions"
    keys = ("method", "settings", "task", "drawn", "seed", "place", "sha256")
    unbounded = ("cpsnr",)

    tasks: tuple[str, ...] = ()
    groups: int = 24  # of each picture under the colour array
    hole_groups: int = 4  # under each mask
    seed: int = 0
    box: Box | None = None  # the part that is made as a picture

    @classmethod
    def of(
        cls,
        sets: Sequence[ImageSet],
        methods: str | None = None,
        pictures: str | None = None,
        masks: str | None = None,
        groups: int = 24,
        hole_groups: int = 4,
        box: Box | None = None,
        seed: int = 0,
        threads: int = 1,
    ) -> Self:
        """An empty string of pictures or masks leaves these out."""
        chosen = pick_methods(catalogue(), DEFAULT if methods is None else split_names(methods))
        names = _PICTURED if pictures is None else split_names(pictures)
        makers = pick_methods(_makers(Effort(threads=threads)), names) if names else []
        holes = split_names(MASKS if masks is None else masks)
        for mask in holes:
            check_mask(mask)
        tasks = (MOSAIC, PLAIN, *holes, *([_PICTURES] if makers else []))
        renamed = (replace(maker, name=_PICTURE + maker.name) for maker in makers)
        everything = (*chosen, *renamed)
        return cls(tuple(sets), everything, tasks, groups, hole_groups, seed, box or fit_box(_MADE, sets))

    @property
    def cases(self) -> list[Case]:
        return [
            Case(
                self._key(picture, task, method), each.name, picture.name, method, picture, task, method.name
            )
            for each in self.sets
            for picture in each.pictures
            for task in self.tasks
            for method in self.methods
            if method.name.startswith(_PICTURE) == (task == _PICTURES)
        ]

    def _key(self, picture: SetImage, task: str, method: Method) -> Row:
        return super()._key(picture, task, method) | {"drawn": self._count(task)}

    def depends(self, name: str) -> Any:
        return None if name == "drawn" else super().depends(name)

    def _count(self, task: str) -> int:
        """How many groups are drawn of each picture."""
        return 0 if task == _PICTURES else self.groups if task in _HEADS else self.hole_groups

    def load(self, source: SetImage) -> _Groups:
        return _Groups(source.pixels())

    def warm_up(self, case: Case, loaded: _Groups) -> object:
        if case.task == _PICTURES:
            return case.method.run(_array().sample(part_of(loaded.pixels, self.box)), _array())
        return case.method.run(self._draw(case.task, loaded)[0])

    def measure(self, case: Case, loaded: _Groups) -> Measurement:
        if case.task == _PICTURES:
            return self._make_picture(case, loaded.pixels)
        groups = self._draw(case.task, loaded)
        made, cost = measure_cost(lambda: [case.method.run(group) for group in groups])
        errors = np.array([sum_squares(*pair) for pair in zip(groups, made, strict=True)])
        figures = {
            "nmse": float(np.divide(*errors.sum(axis=0))),
            "completed": len(groups),
            "machine": machine(),
        }
        figures["nmse_median"] = float(np.median(errors[:, 0] / errors[:, 1]))
        return Measurement(figures | cost | {"cpu_ms_per_group": 1e3 * cost["cpu_seconds"] / len(groups)})

    def _draw(self, task: str, loaded: _Groups) -> list[PatchTensor]:
        """The groups of a task, once for all methods."""
        if task not in loaded.by_task:
            is_array = task in _HEADS
            box = None if is_array or min(loaded.pixels.shape[:2]) < sum(_DAMAGED[1:3]) else _DAMAGED
            source = make_source(task, part_of(loaded.pixels, box), _array(), self.seed)
            loaded.by_task[task] = source.draw(self._count(task), self.seed)
        return loaded.by_task[task]

    def _make_picture(self, case: Case, pixels: Bytes) -> Measurement:
        """Demosaic a part."""
        truth = part_of(pixels, self.box)
        mosaic = _array().sample(truth)
        restored, cost = measure_cost(lambda: case.method.run(mosaic, _array()))
        alike, size = likeness(comparable(restored, truth), truth, 0), truth.shape[:2]
        figures = {"height": size[0], "width": size[1], "cpsnr": alike["cpsnr"], "nmse": alike["nmse"]}
        return Measurement(figures | cost | collect_proof(restored))

    @property
    def protocol(self) -> dict[str, str]:
        return {
            "groups": f"{self.groups} of each picture under {_ARRAY}, {self.hole_groups} under each "
            f"mask, references drawn by seed {self.seed} among those of the method ntc at quality normal; "
            "patches found on the first estimate (blend; in holes biharmonic), the same for all methods",
            "masks": f"on the part left,top,width,height {','.join(map(str, _DAMAGED))} of each picture, or "
            "the whole where it is smaller; patches of the kind of hole that most missing pixels belong to",
            "tensor": "(channel, patch, pixel), as the method ntc has it: channels brought to mean 0 and "
            "deviation 1 of the group's estimate, .7 of the estimate's brightness taken off (in holes none), "
            "shifted and scaled so that samples go from 0 to 1; plain: the values, the largest sample 1",
            "observations": "what the colour array or the mask shows, exactly and nothing else; gaussian and "
            "estimate, which are no completions, know the first estimate of all entries besides",
            "result": "brought back the same way for all; what a method leaves of a channel's samples in the "
            "mean is added",
            "NMSE": "over entries that are not observed, of values in 0 … 1: sum of squared errors over sum "
            "of squares of the truth, pooled over the groups of a picture; median group: the median of "
            "those of single groups; mean over pictures",
            "CPU": "process time over the number of groups, one thread; compiled in an untimed call before",
            "pictures": f"the part left,top,width,height {self.place}, {_ARRAY}, rounded to 8 bit; PSNR of "
            "peak 255 and NMSE over all of it, mean over pictures",
            "versions": versions(),
            **self.protocol_lines,
        }

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """Of every set the groups under the colour array, those under masks, and the pictures."""
        for each in self.sets:
            found = results.of_set(each)
            by_task = found.by("task", self.tasks)
            yield from (_table_groups(by_task[task], task) for task in _HEADS if task in by_task)
            masks = [task for task in self.tasks if task not in (*_HEADS, _PICTURES)]
            if masks:
                yield _table_masks(found, {mask: by_task[mask] for mask in masks})
            if _PICTURES in by_task:
                yield _table_pictures(by_task[_PICTURES])
            if details:
                yield from (_table_details(by_task[task], task) for task in self.tasks)


def _makers(effort: Effort) -> dict[str, Method]:
    """Demosaicing methods by name; single tensors are completed as the program completes them."""

    def single(name: Any) -> Method:
        def run(mosaic: Bytes, cfa: Cfa) -> Restored:
            return demosaic(mosaic, cfa, method=name, quality=effort.quality, threads=effort.threads)

        return Method(name, f"one tensor of least norm, {effort.words}", "ours", run)

    return demosaicers.catalogue(effort) | {name: single(name) for name in SINGLE_TENSORS}


def sum_squares(group: PatchTensor, values: Floats) -> tuple[float, float]:
    """The squared errors, and the squares of the truth, summed over entries that are not observed."""
    truth = group.truth[~group.known]
    error, size = np.square(values[~group.known] - truth).sum(), np.square(truth).sum()
    return float(error), max(float(size), _LEAST_SIZE)


@cache
def _array() -> Cfa:
    """The colour array."""
    return Cfa.parse(_ARRAY)


def _name(method: str) -> str:
    """A method as tables have it."""
    return method.removeprefix(_PICTURE)


def _table_groups(found: SetResults, task: str) -> DataTable:
    """The means over a set under the colour array, the smallest error first."""
    quantities = {"nmse": ".2e", "nmse_median": ".2e", "cpu_ms_per_group": ".3g"}
    means = [found.means(quantity) for quantity in quantities]
    rows = tuple(rows_of(means[0].sort_values(kind="stable").index, means, tuple(quantities.values())))
    columns, count = ("method", "NMSE", "median group", "CPU ms per group"), len(found.set.pictures)
    notes = (
        f"{found.set.name}: {count} pictures, measured on {found.machines}",
        *refusal_words(found.refusals),
    )
    title = f"Group tensors of {found.set.name}, {_HEADS[task]}"
    return DataTable(title, columns, rows, notes, tuple(found.list_methods("ours")))


def _table_masks(found: SetResults, masks: dict[str, SetResults]) -> DataTable:
    """The errors under masks, a mask per row and a method per column."""
    names = [name for name in found.methods if not name.startswith(_PICTURE)]
    rows = tuple(
        (Cell(mask), *(figure(mean, ".2e") for mean in under.means("nmse").reindex(names)))
        for mask, under in masks.items()
    )
    return DataTable(f"Group tensors of {found.set.name} around holes: NMSE", ("mask", *names), rows)


def _table_pictures(found: SetResults) -> DataTable:
    """The pictures that demosaicing makes of a part, the best first."""
    order = found.means("cpsnr").sort_values(ascending=False, kind="stable").index
    quantities = {"cpsnr": ".2f", "nmse": ".2e", "cpu_s_per_mp": ".3g"}
    means: dict[str, Any] = {quantity: found.means(quantity) for quantity in quantities}
    rows = tuple(
        (Cell(_name(name)), *(figure(means[quantity][name], form) for quantity, form in quantities.items()))
        for name in order
    )
    columns = ("method", "PSNR", "NMSE", "CPU s/MP")
    return DataTable(f"Pictures of {found.set.name}", columns, rows, tuple(refusal_words(found.refusals)))


def _table_details(found: SetResults, task: str) -> DataTable:
    """The NMSE of each method on each picture."""
    errors = found.by_picture("nmse")
    rows = tuple((Cell(_name(name)), *(figure(e, ".2e") for e in errors.loc[name])) for name in errors.index)
    title = f"{found.set.name}, {task}: NMSE by picture"
    return DataTable(title, ("method", *map(str, errors.columns)), rows, details=True)
