"""What the benchmark of noise found, as tables and sentences, with how it was made."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import cast

from .data_table import Cell, DataTable, figure
from .datasets import PictureSet
from .demosaic_summary import Line, SetSummary, cost_figures, refused_by
from .demosaicers import CONTROL, OURS
from .denoisers import Denoiser
from .noise_benchmark import CFA, LEVEL, Job, Noise, Record
from .noise_results import Reference
from .protocol import measured_on, versions
from .running import Refusal

_PACKAGES = ("demosaic-ntc", "numpy", "numba", "scipy", "scikit-image", "PyWavelets")


@dataclass(frozen=True, slots=True)
class NoiseSummary:
    """All methods on one set with one noise."""

    noise: str
    estimated: tuple[float, ...]  # of each picture's mosaic: the deviation that is found, over the true one
    results: SetSummary


def summarise(
    each: PictureSet,
    noises: Iterable[Noise],
    methods: Sequence[Denoiser],
    records: Iterable[Record],
    refusals: Iterable[Refusal] = (),
    reference: Reference | None = None,
) -> list[NoiseSummary]:
    """The lines of every method, and of those of the reference, with every noise, on one set."""
    refusals = list(refusals)
    of_set = [record for record in records if record.set == each.name]
    return [_summary(each, noise, methods, of_set, refusals, reference or {}) for noise in noises]


def _summary(
    each: PictureSet,
    noise: Noise,
    methods: Sequence[Denoiser],
    records: Iterable[Record],
    refusals: Iterable[Refusal],
    reference: Reference,
) -> NoiseSummary:
    """One noise on one set."""
    of_noise = [record for record in records if record.noise == noise.name]
    refused = [refusal for refusal in refusals if cast(Job, refusal.job).noise.name == noise.name]
    lines = [_measured(each, method, of_noise, refused) for method in methods]
    if not noise.poisson:
        lines += _published(each, noise, reference)
    estimates = {record.image: record.estimated for record in of_noise}
    shown = tuple(line for line in lines if line.is_shown)
    return NoiseSummary(noise.name, tuple(estimates.values()), SetSummary(each, shown))


def _measured(
    each: PictureSet, method: Denoiser, records: Iterable[Record], refusals: Iterable[Refusal]
) -> Line:
    """What this run, or an earlier one, measured."""
    figures = {
        record.image: {"cpsnr": record.cpsnr} | cost_figures(record)
        for record in records
        if record.method == method.name
    }
    refused = refused_by(method.name, each, refusals)
    return Line(method.name, method.role, figures, each.unmeasured(figures), refused)


def _published(each: PictureSet, noise: Noise, reference: Reference) -> list[Line]:
    """What a reference has of the pictures; a part of a set goes by the set's name and its numbers."""
    names = {picture.name for picture in each.pictures}
    lines = []
    for method, by_noise in reference.get(each.name.split()[0], {}).items():
        known = {
            image: {"cpsnr": value}
            for image, value in by_noise.get(noise.sigma, {}).items()
            if image in names
        }
        lines.append(Line(f"{method} (reference)", "reference", known, each.unmeasured(known)))
    return lines


def mean_table(summaries: Sequence[NoiseSummary], conditions: str = "") -> DataTable | None:
    """Mean CPSNR of every method with every noise, and what it costs; None where there are no means."""
    methods = dict.fromkeys(line.method for each in summaries for line in each.results.lines)
    rows = []
    for method in methods:
        lines = [_line(each, method) for each in summaries]
        costs = [mean for line in lines if line and (mean := line.mean("cpu_s_per_mp")) is not None]
        cost = sum(costs) / len(costs) if costs else None
        likeness = (figure(line.mean("cpsnr") if line else None, ".2f") for line in lines)
        rows.append((Cell(method), *likeness, figure(cost, ".3g")))
    if not any(cell.text for row in rows for cell in row[1:]):
        return None
    columns = ("method", *(each.noise for each in summaries), "CPU s/MP")
    title = f"{summaries[0].results.set.name}: CPSNR in dB of noisy mosaics"
    return DataTable(title, conditions, columns, tuple(rows), emphasised=(OURS,))


def estimate_table(summaries: Sequence[NoiseSummary]) -> DataTable | None:
    """How the estimated noise compares with the true one, over the pictures of a set."""
    rows = tuple(
        (
            Cell(each.noise),
            figure(median(each.estimated), ".3f"),
            figure(min(each.estimated), ".3f"),
            figure(max(each.estimated), ".3f"),
        )
        for each in summaries
        if each.estimated
    )
    if not rows:
        return None
    name = summaries[0].results.set.name
    caption = (
        "the deviation at half of white that is estimated from a mosaic, over that of the noise that was "
        "added (the noise of the pictures themselves comes on top of it)"
    )
    return DataTable(f"{name}: noise estimated", caption, ("noise", "median", "least", "largest"), rows)


def findings(summaries: Sequence[NoiseSummary]) -> Iterator[str]:
    """What completion adds to its control, and which methods have no mean."""
    for each in summaries:
        ours, control = each.results.line(OURS), each.results.line(CONTROL)
        means = [line.mean("cpsnr") if line else None for line in (ours, control)]
        if means[0] is not None and means[1] is not None:
            yield f"{each.noise}: completion adds {means[0] - means[1]:+.3f} dB to {CONTROL}"
        without = [line.method for line in each.results.lines if line.missing]
        if without:
            yield f"{each.noise}: no mean, since pictures are missing, for {', '.join(without)}"


def protocol(noises: Iterable[Noise], methods: Iterable[Denoiser], crop: int) -> dict[str, str]:
    """How the figures are made, line by line."""
    noises = list(noises)
    kind = (
        f"Gaussian, of a variance in proportion to the level (no less than at .05), σ at {LEVEL:g} of white"
        if noises[0].poisson
        else "white and Gaussian"
    )
    return {
        "mosaic": f"8-bit RGB sampled by {CFA.name}, gamma-encoded as the files are, white 1",
        "noise": f"{', '.join(noise.name for noise in noises)} in 255ths of white, {kind}, drawn by numpy's "
        "default_rng(σ), the same for all methods; neither clipped nor rounded, but clipped to 0 … 1 for "
        "methods that take samples for exact",
        "part": "left,top,width,height " + noises[0].place if noises[0].box else "whole pictures",
        "CPSNR": f"results clipped to 0 … 1, not rounded, {crop} pixels left out on each side; squared "
        "errors pooled over pixels and R, G, B",
        "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
        "time": "CPU seconds (all threads) per megapixel of the part; kernels are compiled before",
        "versions": versions(_PACKAGES),
        **{f"method {method.name}": method.settings for method in methods},
    }


def set_protocol(each: PictureSet, noises: Sequence[Noise], crop: int, machines: Iterable[str]) -> str:
    """The conditions of one set's means in a line."""
    return (
        f"{each.name}: {len(each.pictures)} pictures, part {noises[0].place}, {CFA.name}, crop {crop}, not "
        f"rounded, mean over pictures of decibels, measured on {measured_on(machines)}"
    )


def _line(summary: NoiseSummary, method: str) -> Line | None:
    """The line of a method, be it measured or a reference's."""
    return next((line for line in summary.results.lines if line.method == method), None)
