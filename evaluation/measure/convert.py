"""What whole conversions cost, from raw file to picture, by ours and by other programs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import pandas as pd

from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.errors import InputError

from .. import split_names
from ..data.raws import REAL, Raw, choose_raws, phone_raws, synthetic_raws
from ..methods.method import Method
from ..methods.programs import programs as known_programs
from ..report.tables import Cell, DataTable, figure
from ..siblings import SAMPLE
from .benchmark import Benchmark, cannot_run
from .case import Case, Measurement, Row, refusal_words
from .protocol import list_machines, machine, versions
from .results import Results

CONVERSION_STAGES = ("decoding", "first estimate", "groups", "writing")

# Columns of the table after raw and program, by quantity: title and format.
_COLUMNS = {
    "megapixels": ("MP", ".1f"),
    "cpu_seconds": ("CPU s/MP", ".2f"),
    **{stage: (stage, ".2f") for stage in CONVERSION_STAGES},
    "seconds": ("s", ".1f"),
    "peak_bytes": ("peak GiB", ".2f"),
}
_MEASURED = ("megapixels", "seconds", "cpu_seconds", "peak_bytes", "stages")
_NOTE = "CPU seconds per megapixel of all threads, in all and by stage; seconds on the wall. Measured on "


@dataclass(frozen=True)
class ConvertBenchmark(Benchmark):
    """Which programs are compared on which raws."""

    name = "convert"
    keys = ("program", "settings", "sha256")

    sources: tuple[Raw, ...] = ()

    @classmethod
    def of(
        cls,
        sets: Sequence[Any] = (),
        raws: Iterable[Path] | None = None,
        sizes: str = "6,24",
        phone: float = 0.0,
        programs: str = "demosaic-ntc,libraw-ahd,rawtherapee,darktable",
        engine: Mapping[str, Any] | None = None,
    ) -> Self:
        """Without raws with those of the test data."""
        chosen = known_programs(split_names(programs), Engine(**engine or {}), SAMPLE)
        sources = choose_raws(raws) + phone_raws(phone) + synthetic_raws(sizes)
        if not sources:
            raise InputError("there are no raws; give some, or --sizes of synthetic ones")
        return cls((), tuple(chosen), tuple(sources))

    @property
    def cases(self) -> list[Case]:
        """Every program on every raw, raw by raw."""
        return [
            Case(
                {"program": method.name, "settings": method.settings, "sha256": raw.sha256},
                *(raw.set, raw.name, method, raw),
                warmth="none",
            )
            for raw in self.sources
            for method in self.methods
        ]

    def load(self, source: Raw) -> Raw:
        """A raw is made, where it must be, for each program anew."""
        return source

    def measure(self, case: Case, loaded: Raw) -> Measurement:
        """Convert a raw in a folder that is then removed."""
        with TemporaryDirectory() as folder:
            took = case.method.run(loaded.make(Path(folder)), Path(folder))
        return Measurement({"megapixels": loaded.megapixels, **asdict(took), "machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
        return {
            "versions": versions("rawpy"),
            "raws": "real ones as they are; synthetic 14-bit DNGs, uncompressed, the sample side by side; "
            "phone: a picture enlarged twice and mirrored, with a noise of variance 8.5e-4 of the light",
            "processes": "each conversion in one of its own; ours after a small raw: kernels are there",
            "stages": "CPU seconds between reports of progress; writing includes rendering",
            "memory": "peak resident memory of the process, interpreter and libraries included",
            **{f"program {method.name}": method.settings for method in self.methods},
        }

    @property
    def plan(self) -> Row:
        names = ("set", "name", "sha256", "megapixels")
        sources = [{name: getattr(raw, name) for name in names} for raw in self.sources]
        return super().plan | {"sources": sources}

    @classmethod
    def from_plan(cls, plan: Row) -> Self:
        methods = tuple(Method(**method, run=cannot_run) for method in plan["methods"])
        return cls((), methods, tuple(Raw(**raw, make=cannot_run) for raw in plan["sources"]))

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """What every program took for every raw, and the mean over the real ones of what all of them tell."""
        if not (len(results.frame) or results.refusals):
            return
        costs = conversion_costs(results.frame)
        refused = [{"image": each.case.image, "program": each.case.method.name} for each in results.refusals]
        rows = (*costs.to_dict("records"), *refused, *_means(costs))
        columns = ("raw", "program", *(title for title, _ in _COLUMNS.values()))
        note = _NOTE + list_machines(results.frame.get("machine", ()))
        notes = (note, *refusal_words(results.refusals))
        yield DataTable("Whole conversions", columns, tuple(map(_line, rows)), notes)


def conversion_costs(frame: pd.DataFrame) -> pd.DataFrame:
    """What programs took, as the table shows it: CPU seconds per megapixel by stage, memory in GiB."""
    frame = frame.reindex(columns=list(dict.fromkeys((*frame.columns, *_MEASURED))))
    size, stages = pd.to_numeric(frame["megapixels"]), pd.DataFrame(list(frame["stages"]), index=frame.index)
    spent = stages.reindex(columns=list(CONVERSION_STAGES)).assign(cpu_seconds=frame["cpu_seconds"])
    spent = spent.apply(pd.to_numeric).div(size, axis=0)
    return frame.assign(**spent, megapixels=size, peak_bytes=frame["peak_bytes"] / 2**30)


def _means(costs: pd.DataFrame) -> list[Row]:
    """The means over several real raws, program by program; of time on the wall and memory there are none."""
    real = costs[costs["set"] == REAL].groupby("program", sort=False)
    means = real[list(_COLUMNS)].agg(lambda each: each.mean(skipna=False))[real.size() > 1]
    nothing = float("nan")
    means = means.assign(image="mean of the real raws", seconds=nothing, peak_bytes=nothing)
    return list(means.reset_index().to_dict("records"))


def _line(row: Row) -> tuple[Cell, ...]:
    """A program on a raw; what is not known stays empty."""
    cells = (figure(row.get(name), form) for name, (_, form) in _COLUMNS.items())
    return (Cell(row["image"]), Cell(row["program"]), *cells)
