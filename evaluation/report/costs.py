"""What the stages of the engine and whole conversions cost, as tables."""

from collections.abc import Iterator

import pandas as pd

from ..data.raws import REAL
from ..measure.case import refusal_words
from ..measure.protocol import measured_on
from ..measure.results import Results
from ..measure.stages import REST, STAGES
from .tables import Cell, DataTable, figure, rows_of

TOTAL = "in all"
CONVERSION_STAGES = ("decoding", "first estimate", "groups", "writing")

_GIBI = 2**30


def stage_costs(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean CPU seconds per megapixel over pictures: stages down, qualities across."""
    stages = pd.DataFrame(list(frame["stages"]), index=frame["quality"]).fillna(0.0)
    stages = stages.reindex(columns=[*STAGES, REST], fill_value=0.0)
    stages[TOTAL] = stages.sum(axis=1)
    per_megapixel = stages.div(pd.to_numeric(frame["megapixels"]).to_numpy(), axis=0)
    return per_megapixel.groupby(level=0, sort=False).mean().T


def speed_tables(results: Results, *, details: bool = False) -> Iterator[DataTable]:
    """A table for each set: stages down, qualities across."""
    for name, found in results.frame.groupby("set", sort=False):
        costs = stage_costs(found)
        rows = rows_of(costs.index, [costs[quality] for quality in costs], [".2f"] * len(costs.columns))
        counted = (found["quality"] == found["quality"].iloc[0]).sum()
        note = (
            f"Mean CPU seconds per megapixel over {counted} pictures, one thread. Measured on "
            f"{measured_on(found['machine'])}"
        )
        title, columns = f"Stages of the engine on {name}", ("stage", *map(str, costs.columns))
        yield DataTable(title, columns, tuple(rows), (note, *refusal_words(results.refusals)))


def conversion_table(results: Results) -> DataTable:
    """What every program took for every raw, and the mean over the real ones."""
    rows = [(Cell(row["image"]), *_converted(row)) for row in results.frame.to_dict("records")]
    rows += [
        (Cell(each.case.image), Cell(each.case.method.name), *[Cell("")] * 9) for each in results.refusals
    ]
    rows += ((Cell("mean of the real raws"), *_converted(mean)) for mean in _means(results.frame))
    note = (
        "CPU seconds per megapixel of all threads, in all and by stage; seconds on the wall; the share of "
        "the picture that was left to the first estimate. Measured on "
        + measured_on(results.frame.get("machine", ()))
    )
    columns = ("raw", "program", "MP", "CPU s/MP", *CONVERSION_STAGES, "s", "peak GiB", "left")
    return DataTable("Whole conversions", columns, tuple(rows), (note, *refusal_words(results.refusals)))


def conversion_tables(results: Results, *, details: bool = False) -> Iterator[DataTable]:
    """The one table."""
    if len(results.frame) or results.refusals:
        yield conversion_table(results)


def _converted(row: dict[str, object]) -> Iterator[Cell]:
    """The cells of a program on a raw."""
    known = _costs(row)
    yield Cell(str(row["program"]))
    for name, form in (("megapixels", ".1f"), ("cpu", ".2f"), *((s, ".2f") for s in CONVERSION_STAGES)):
        yield figure(known[name], form)
    for name, form in (("seconds", ".1f"), ("gibi", ".2f"), ("left", ".2f")):
        yield figure(known[name], form)


def _costs(row: dict[str, object]) -> dict[str, float]:
    """The numbers of a result; NaN where something is not known."""
    if "cpu" in row:
        return row  # type: ignore[return-value]
    numbers = {name: _number(row[name]) for name in ("megapixels", "seconds", "left")}
    size, spent = numbers["megapixels"], dict(row["stages"])  # type: ignore[call-overload]
    stages = {stage: _number(spent.get(stage)) / size for stage in CONVERSION_STAGES}
    cpu = {"cpu": _number(row["cpu_seconds"]) / size, "gibi": _number(row["peak_bytes"]) / _GIBI}
    return numbers | stages | cpu


def _number(value: object) -> float:
    """A number, or NaN."""
    return float("nan") if value is None else float(value)  # type: ignore[arg-type]


def _means(frame: pd.DataFrame) -> Iterator[dict[str, object]]:
    """The means over the real raws, program by program, of what all of them tell."""
    real = frame[frame["set"] == REAL]
    for program, found in real.groupby("program", sort=False):
        if len(found) > 1:
            costs = pd.DataFrame([_costs(row) for row in found.to_dict("records")])
            means = costs.mean(skipna=False).to_dict()
            yield means | {"program": program, "seconds": float("nan"), "gibi": float("nan")}
