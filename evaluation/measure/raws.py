"""How well the raws below folders are converted by default, beside the cameras' own pictures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.errors import InputError
from demosaic_ntc.viewer.crops import CropBox
from demosaic_ntc.viewer.pictures import Bytes, lossless, reduce_to_webp, write_beside

from ..data.raws import MEGA, REAL, RawFile, find_raws
from ..methods.conversions import (
    CONVERTED,
    CRASHED,
    FAILED,
    OUT_OF_MEMORY,
    REFUSED,
    TIMED_OUT,
    Converter,
    Shown,
    conversion,
)
from ..methods.method import OURS, Method
from ..methods.processes import ProcessLimits, module_paths, run_command
from ..methods.programs import settings_of
from ..report.tables import Cell, DataTable, figure, table_of
from ..siblings import SAMPLE
from .benchmark import Benchmark, cannot_run
from .case import Case, Measurement, Row
from .protocol import list_machines, machine, versions
from .results import Results

#: How conversions end that should not.
FAULTS = (CRASHED, TIMED_OUT, OUT_OF_MEMORY, FAILED)

#: The pictures that a page shows of a raw, in files named after what they depend on, with their captions.
CAPTIONS = {"ours": "ours", "camera": "the camera's own", "middle": "the middle of ours, 1:1"}
PICTURES = "pictures"
#: The longer side of a picture that is shown small, and the sides of the part at 1:1.
SIDE = 600
_MIDDLE = (540, 405)

#: A median luma further than this from the camera's own is marked.
FAR = 0.12

# Columns of the table by quantity: title and format.
_COLUMNS = {
    "megapixels": ("MP", ".1f"),
    "luma": ("luma", ".0f"),
    "camera_luma": ("camera's luma", ".0f"),
    "difference": ("difference", "+.0%"),
    "clipped": ("clipped", ".2%"),
    "camera_clipped": ("camera's clipped", ".2%"),
    "newly_clipped": ("newly clipped", ".2%"),
    "cpu_seconds": ("CPU s", ".1f"),
    "cpu_s_per_mp": ("CPU s/MP", ".2f"),
    "seconds": ("s", ".1f"),
    "peak_mb": ("peak MB", ".0f"),
    "estimated_mb": ("info: MB", ".0f"),
}
_NOTE = (
    "Median luma of 255 of ours and of the picture that the camera stored, and their difference, marked ! "
    f"beyond {FAR:.0%}; pixels with any channel at 255, in both, and those of ours that are not in the "
    "neutral look (both by bilinear interpolation); seconds and peak memory of the whole process, beside the "
    "memory that `info` tells. Measured on "
)


@dataclass(frozen=True)
class RawsBenchmark(Benchmark):
    """Which raws are converted; `page` is the folder in which their pictures are kept."""

    name = "raws"
    keys = ("settings", "file", "sha256", "page")

    sources: tuple[RawFile, ...] = ()
    page: str = ""

    @classmethod
    def of(
        cls,
        sets: Sequence[Any] = (),
        raws: Iterable[Path] | None = None,
        page: Path = Path(),
        engine: Engine | None = None,
        timeout: float = inf,
        memory: float | None = None,
    ) -> Self:
        """Without raws with those of the test data; memory is in GB."""
        chosen, allowance = (
            engine or Engine(),
            ProcessLimits(timeout, inf if memory is None else 1e9 * memory),
        )
        sources = find_raws(raws, page)
        if not sources:
            raise InputError("there are no raws; name files, or folders that hold some")
        options = ["--quality", chosen.quality]
        options += ["--threads", str(chosen.threads)] if chosen.threads else []
        limits = f"at most {timeout:g} s{f' and {memory:g} GB' if memory else ''}"
        settings = f"{settings_of(chosen)}, {limits}"
        method = Method(OURS, settings, "ours", Converter(tuple(options), allowance).convert)
        return cls((), (method,), tuple(sources), str(page.absolute()))

    @property
    def cases(self) -> list[Case]:
        """Every raw."""
        (method,) = self.methods
        return [
            Case(
                {"settings": method.settings, "file": raw.name, "sha256": raw.sha256, "page": self.page},
                *(REAL, raw.name, method, raw),
            )
            for raw in self.sources
        ]

    def load(self, source: RawFile) -> RawFile:
        """A raw is read by the program alone."""
        return source

    def warm_up(self, case: Case, loaded: RawFile) -> object:
        """Convert the sample: kernels are compiled and kept."""
        with TemporaryDirectory() as folder:
            return run_command(conversion(SAMPLE, Path(folder, "sample.png")), environment=module_paths())

    def measure(self, case: Case, loaded: RawFile) -> Measurement:
        """Convert a raw and keep what a page shows of it."""
        with TemporaryDirectory() as folder:
            figures, shown = case.method.run(loaded.path, Path(folder))
        if shown is not None:
            keep_pictures(Path(self.page), case.key, shown)
        return Measurement(figures | {"machine": machine()})

    @property
    def protocol(self) -> dict[str, str]:
        return {
            "versions": versions("rawpy"),
            "conversions": "each in a process of its own, default settings, 8-bit PNG; after a small raw",
            "refused": "exit code 3, with a reason; whatever else ends without a picture is a fault",
            **self.protocol_lines,
        }

    @property
    def plan(self) -> Row:
        return super().plan | {"sources": [{"name": raw.name, "sha256": raw.sha256} for raw in self.sources]}

    @classmethod
    def from_plan(cls, plan: Row) -> Self:
        methods = tuple(Method(**method, run=cannot_run) for method in plan["methods"])
        sources = tuple(RawFile(Path(raw["name"]), **raw) for raw in plan["sources"])
        return cls((), methods, sources, plan["page"])

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """What is known of every raw that was converted, and why others were not."""
        rows = raw_rows(results)
        if made := [row for row in rows if row["outcome"] == CONVERTED]:
            yield make_converted_table(made)
        if failed := [row for row in rows if row["outcome"] != CONVERTED]:
            forms = {"raw": "", "outcome": "", "reason": ""}
            yield table_of("Raws without a picture", forms, [{"raw": row["image"], **row} for row in failed])
        if rows:
            yield DataTable("Raws in all", (), (), tuple(totals(rows)))


def keep_pictures(page: Path, key: Row, shown: Shown) -> None:
    """Write both pictures small, the camera's own at our size, and the middle of ours as it is."""
    contents = {
        "ours": reduce_to_webp(shown.ours, SIDE),
        "middle": lossless(shown.ours[middle(shown.ours).place]),
    }
    if shown.camera is not None:
        contents["camera"] = reduce_to_webp(shown.camera, SIDE)
    for name, content in contents.items():
        write_beside(page / PICTURES, _file(key, name), content)


def source_of(page: Path, key: Row, name: str) -> str | None:
    """The address of a picture on the page; None where it is not kept."""
    file = _file(key, name)
    return f"{PICTURES}/{file}" if (page / PICTURES / file).is_file() else None


def middle(picture: Bytes) -> CropBox:
    """The part of a picture in its middle that is shown at 1:1."""
    height, width = picture.shape[:2]
    across, down = min(width, _MIDDLE[0]), min(height, _MIDDLE[1])
    return CropBox((width - across) // 2, (height - down) // 2, across, down)


def _file(key: Row, name: str) -> str:
    """The name of a picture's file."""
    digest = sha256(repr(sorted(key.items())).encode(errors="backslashreplace")).hexdigest()[:20]
    return f"{digest}-{name}.webp"


def raw_rows(results: Results) -> list[Row]:
    """The results raw by raw, with what follows from them; None for what is not known."""
    frame = results.frame.astype(object)
    return [_complete_result(row) for row in frame.where(frame.notna(), None).to_dict("records")]


def _complete_result(row: Row) -> Row:
    """A result with what follows from it."""
    row = dict.fromkeys((*_COLUMNS, "estimated_bytes", "camera", "notices", "width", "height")) | row
    ours, camera = row["luma"], row["camera_luma"]
    return row | {
        "difference": ours / camera - 1 if ours is not None and camera else None,
        "megapixels": row["width"] * row["height"] / MEGA if row["width"] else None,
        "peak_mb": row["peak_bytes"] / 1e6,
        "estimated_mb": None if row["estimated_bytes"] is None else row["estimated_bytes"] / 1e6,
    }


def has_faults(results: Results) -> bool:
    """Whether anything but a refusal kept a raw from being converted."""
    return any(row["outcome"] in FAULTS for row in raw_rows(results))


def is_far(row: Row) -> bool:
    """Whether a picture's brightness is far from that of the camera's own."""
    return row["difference"] is not None and abs(row["difference"]) > FAR


def figures_of(row: Row) -> dict[str, Cell]:
    """The figures of a raw by the titles of their columns."""
    cells = {title: figure(row[name], form) for name, (title, form) in _COLUMNS.items()}
    if is_far(row):
        difference = cells["difference"]
        cells["difference"] = Cell(f"{difference.text} !", difference.value)
    return cells


def make_converted_table(rows: Sequence[Row]) -> DataTable:
    """The figures of the raws that were converted; those with another brightness stand out."""
    lines = tuple(
        (
            Cell(row["image"]),
            *figures_of(row).values(),
            figure(len(notices_of(row)), "d"),
            Cell(row["camera"] or ""),
        )
        for row in rows
    )
    columns = ("raw", *(title for title, _ in _COLUMNS.values()), "notices", "camera")
    note = _NOTE + list_machines(row["machine"] for row in rows)
    far = tuple(row["image"] for row in rows if is_far(row))
    return DataTable("Raws converted", columns, lines, (note,), far)


def notices_of(row: Row) -> list[str]:
    """What the program said of a raw."""
    return (row["notices"] or "").splitlines()


def totals(rows: Sequence[Row]) -> Iterator[str]:
    """What became of all raws, line by line."""
    counts = Counter(_kind(row) for row in rows)
    yield f"{len(rows)} raws: " + ", ".join(f"{count} {kind}" for kind, count in counts.items())
    beside = [row for row in rows if row["difference"] is not None]
    far = sum(map(is_far, beside))
    yield f"median luma further than {FAR:.0%} from the camera's own: {far} of {len(beside)}"
    spent = (sum(row[name] for row in rows) for name in ("cpu_seconds", "seconds"))
    yield "{:.0f} CPU seconds, {:.0f} seconds in all".format(*spent)


def _kind(row: Row) -> str:
    """How the conversion of a raw ended, in words; crashes by their signal."""
    kind: str = row["outcome"]
    if kind == REFUSED:
        return "refused for a stated reason"
    return f"{kind} ({row['reason']})" if kind == CRASHED else kind
