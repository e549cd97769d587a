"""What the benchmark of noise found, as tables and sentences."""

from collections.abc import Iterator, Sequence
from typing import cast

import pandas as pd

from ..measure.case import refusal_words
from ..measure.noise import NoisePart
from ..measure.results import Results, SetResults
from ..methods.method import CONTROL, OURS
from .tables import Cell, DataTable, figure, rows_of

#: What is known with one noise: its name, and the results.
Noisy = tuple[str, SetResults]


def tables(results: Results, *, details: bool = False) -> Iterator[DataTable]:
    """The means of each set, and how well noise was estimated."""
    part = cast(NoisePart, results.part)
    for each in part.sets:
        found = results.of_set(each)
        noises = by_noise(found, part)
        told = (part.conditions(each, found.machines), *_findings(noises), *refusal_words(found.refusals))
        yield from (table for table in (_means(found, noises, told), _estimates(found, noises)) if table.rows)


def by_noise(found: SetResults, part: NoisePart) -> list[Noisy]:
    """The results of a set, noise by noise."""
    return [(noise.name, found.where("noise", noise.name)) for noise in part.noises]


def _means(found: SetResults, noises: Sequence[Noisy], notes: tuple[str, ...]) -> DataTable:
    """Mean CPSNR of every method with every noise, and what it costs."""
    means = [with_noise.means("cpsnr").reindex(found.methods) for _, with_noise in noises]
    costs = [with_noise.means("cpu_s_per_mp").reindex(found.methods) for _, with_noise in noises]
    cost = pd.concat(costs, axis=1).mean(axis=1)
    rows = tuple(rows_of(found.methods, [*means, cost], [*[".2f"] * len(means), ".3g"]))
    columns = ("method", *(name for name, _ in noises), "CPU s/MP")
    return DataTable(f"{found.set.name}: CPSNR in dB of noisy mosaics", columns, rows, notes, (OURS,))


def _estimates(found: SetResults, noises: Sequence[Noisy]) -> DataTable:
    """How the estimated noise compares with the true one, over the pictures of a set."""
    rows = []
    for name, with_noise in noises:
        known = with_noise.frame.reindex(columns=["image", "estimated"]).dropna().drop_duplicates("image")
        if len(known):
            values = pd.to_numeric(known["estimated"])
            cells = (figure(value, ".3f") for value in (values.median(), values.min(), values.max()))
            rows.append((Cell(name), *cells))
    note = (
        "the deviation at half of white that is estimated from a mosaic, over that of the noise that was "
        "added (the noise of the pictures themselves comes on top of it)"
    )
    columns = ("noise", "median", "least", "largest")
    return DataTable(f"{found.set.name}: noise estimated", columns, tuple(rows), (note,))


def _findings(noises: Sequence[Noisy]) -> Iterator[str]:
    """What completion adds to its control, and which methods have no mean."""
    for name, found in noises:
        means = found.means("cpsnr")
        added = means.get(OURS, float("nan")) - means.get(CONTROL, float("nan"))
        if added == added:
            yield f"{name}: completion adds {added:+.3f} dB to {CONTROL}"
        if without := list(found.missing()):
            yield f"{name}: no mean, since pictures are missing, for {', '.join(without)}"
