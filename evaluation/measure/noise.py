"""Demosaicing of noisy mosaics whose truth is known.

A part of each picture is sampled by the colour array as it is (gamma-encoded, white 1), noise is added, the
same for all methods, and the results are compared with the clean part: clipped to 0 … 1, not rounded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, log10
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel, estimate_noise
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.viewer.crops import Box, part_of

from .. import split_names
from ..data.sets import ImageSet, check_crop, first, select_numbered
from ..methods.denoisers import DEFAULT, catalogue
from ..methods.method import COMPLETED, OURS
from ..report.tables import Cell, DataTable, figure, rows_of
from .benchmark import Benchmark, Options, fit_box
from .case import Case, Measurement, collect_proof, measure_cost, refusal_words
from .metrics import PEAK, Bytes, crop_border
from .protocol import versions
from .results import Results, SetResults

CFA = Cfa.from_name("RGGB")

#: The level at which noise has the deviation that it is named by.
LEVEL = 0.5

# Of noise in proportion to the light, so much is there in the dark, as if the light were never less.
_DARK = 0.05
# The side of the crop on which a method runs untimed before it is measured.
_WARM_UP = 64
# The part measured where all pictures have it; the pictures of known sets that reports use, or so many.
_NOISY = (128, 128, 192, 192)
_USUAL, _FIRST = {"kodak": "1,5,8,13,19,23", "mcmaster": "1,5,9,12,17,18"}, 6

_ESTIMATES = (
    "the deviation at half of white that is estimated from a mosaic, over that of the noise that was "
    "added (the noise of the pictures themselves comes on top of it)"
)


@dataclass(frozen=True, slots=True)
class Noise:
    """What is added to mosaics: Gaussian noise of a deviation in 255ths of white, drawn by it as the seed."""

    sigma: int
    poisson: bool = False  # in proportion to the light, and of this deviation at half of white

    @property
    def name(self) -> str:
        """The noise in a word."""
        return f"σ {self.sigma}" + (" of light" if self.poisson else "")

    @property
    def model(self) -> NoiseModel:
        """The variance of samples."""
        variance = (self.sigma / PEAK) ** 2
        if not self.poisson:
            return NoiseModel.from_user(0.0, variance)
        return NoiseModel.from_user(variance / (LEVEL + _DARK), variance / (LEVEL + _DARK) * _DARK)

    def mosaic(self, part: NDArray[np.float64]) -> Float32:
        """The noisy samples of a part, white 1; they may be negative, or above 1."""
        samples = CFA.sample(part)
        drawn = np.random.default_rng(self.sigma).standard_normal(samples.shape)
        return np.asarray(samples + self.model.deviation(samples, 0) * drawn, np.float32)


@dataclass(frozen=True)
class NoiseBenchmark(Benchmark):
    """Which methods are compared on which pictures, or on a part of each, with which noise."""

    name = "noise"
    keys = ("method", "settings", "noise", "place", "crop", "sha256")
    task_key = "noise"
    unbounded = ("cpsnr",)
    usual_methods: ClassVar[tuple[str, ...]] = DEFAULT
    usual_sigma: ClassVar[str] = "5,10,20"

    sigmas: tuple[int, ...] = ()
    poisson: bool = False
    box: Box | None = None
    crop: int = 10

    @classmethod
    def of(cls, sets: Sequence[ImageSet] = (), **options: Any) -> Self:
        asked = Options(**options)
        sigma = cls.usual_sigma if asked.sigma is None else asked.sigma
        names = split_names(sigma)
        if not names or not all(n.isascii() and n.isdigit() and 1 <= int(n) <= PEAK for n in names):
            words = f"{sigma!r} is not deviations in whole 255ths of white, 1 to 255"
            raise InputError(f"{words}; give e.g. 5,10,20")
        methods = asked.choose(catalogue, cls.usual_methods)
        sets = [_usual(each) for each in sets] if asked.usual else sets
        check_crop(sets, asked.crop)
        box = asked.box or fit_box(_NOISY, sets)
        return cls(tuple(sets), methods, tuple(map(int, names)), asked.poisson, box, asked.crop)

    @property
    def work(self) -> Sequence[Noise]:
        return [Noise(sigma, self.poisson) for sigma in self.sigmas]

    def warm_up(self, case: Case, loaded: Bytes) -> object:
        part = part_of(loaded, self.box)[:_WARM_UP, :_WARM_UP] / PEAK
        return case.method.run(case.task.mosaic(part), CFA, case.task.model)

    def measure(self, case: Case, loaded: Bytes) -> Measurement:
        truth, model = part_of(loaded, self.box) / PEAK, case.task.model
        mosaic = case.task.mosaic(truth)
        restored, cost = measure_cost(lambda: case.method.run(mosaic, CFA, model))
        found = estimate_noise(mosaic, CFA).typical_deviation(LEVEL)
        figures = {
            "height": truth.shape[0],
            "width": truth.shape[1],
            "cpsnr": measure_clipped_cpsnr(restored.image, truth, self.crop),
            "estimated": found / model.typical_deviation(LEVEL),  # from the mosaic, over the true deviation
        }
        return Measurement(figures | cost | collect_proof(restored), restored)

    @property
    def protocol(self) -> dict[str, str]:
        kind = (
            f"Gaussian, of a variance in proportion to the level (at least .05), σ at {LEVEL:g} of white"
            if self.poisson
            else "white and Gaussian"
        )
        return {
            "mosaic": f"8-bit RGB sampled by {CFA.name}, gamma-encoded as the files are, white 1",
            "noise": f"{', '.join(noise.name for noise in self.work)} in 255ths of white, {kind}, drawn by "
            "numpy's default_rng(σ), the same for all methods; neither clipped nor rounded, but clipped to "
            "0 … 1 for methods that take samples for exact",
            "part": "left,top,width,height " + self.place if self.box else "whole pictures",
            "CPSNR": f"results clipped to 0 … 1, not rounded, {self.crop} pixels left out on each side; "
            "squared errors pooled over pixels and R, G, B",
            "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
            "time": "CPU seconds (all threads) per megapixel of the part; kernels are compiled before",
            "versions": versions("scipy", "scikit-image", "PyWavelets"),
            **self.protocol_lines,
        }

    def tables(self, results: Results, *, details: bool = False) -> Iterator[DataTable]:
        """The means of each set, and how well noise was estimated."""
        for each in self.sets:
            found = results.of_set(each)
            noises = found.by("noise", [noise.name for noise in self.work])
            conditions = (
                f"{each.name}: {len(each.pictures)} pictures, part {self.place}, {CFA.name}, "
                f"crop {self.crop}, not rounded, mean over pictures of decibels, measured on {found.machines}"
            )
            told = (conditions, *_findings(noises), *refusal_words(found.refusals))
            shown = (_means(found, noises, told), _estimates(found, noises))
            yield from (table for table in shown if table.rows)


@dataclass(frozen=True)
class WholeNoiseBenchmark(NoiseBenchmark):
    """Ours and the interpolations it starts with, on all pictures of the sets and all of each."""

    name = "whole-noise"
    usual_methods = ("gaussian", "gaussian-fast", "mlri")  # those that are worth their time on whole sets
    usual_sigma = "5,10,15,20"

    @classmethod
    def of(cls, sets: Sequence[ImageSet] = (), **options: Any) -> Self:
        return replace(super().of(sets, **options), box=None)


def _usual(each: ImageSet) -> ImageSet:
    """The usual pictures of a known set, or the first few."""
    usual = _USUAL.get(each.name, "0")
    enough = len(each.pictures) >= max(map(int, usual.split(",")))
    return select_numbered(each, usual if usual != "0" and enough else first(each, _FIRST))


def _means(found: SetResults, noises: dict[str, SetResults], notes: tuple[str, ...]) -> DataTable:
    """Mean CPSNR of every method with every noise, and what it costs."""
    means = [with_noise.means("cpsnr").reindex(found.methods) for with_noise in noises.values()]
    costs = [with_noise.means("cpu_s_per_mp").reindex(found.methods) for with_noise in noises.values()]
    cost = pd.concat(costs, axis=1).mean(axis=1)
    rows = tuple(rows_of(found.methods, [*means, cost], [*[".2f"] * len(means), ".3g"]))
    title, columns = f"{found.set.name}: CPSNR in dB of noisy mosaics", ("method", *noises, "CPU s/MP")
    return DataTable(title, columns, rows, notes, (OURS,))


def _estimates(found: SetResults, noises: dict[str, SetResults]) -> DataTable:
    """How the estimated noise compares with the true one, over the pictures of a set."""
    rows = []
    for name, with_noise in noises.items():
        known = with_noise.frame.reindex(columns=["image", "estimated"]).dropna().drop_duplicates("image")
        if len(known):
            values = pd.to_numeric(known["estimated"])
            cells = (figure(value, ".3f") for value in (values.median(), values.min(), values.max()))
            rows.append((Cell(name), *cells))
    columns = ("noise", "median", "least", "largest")
    return DataTable(f"{found.set.name}: noise estimated", columns, tuple(rows), (_ESTIMATES,))


def _findings(noises: dict[str, SetResults]) -> Iterator[str]:
    """How far prediction is above completion, and which methods have no mean."""
    for name, found in noises.items():
        means = found.means("cpsnr").reindex([OURS, COMPLETED])
        if means.notna().all():
            yield f"{name}: {OURS} over {COMPLETED} {means[OURS] - means[COMPLETED]:+.3f} dB"
        if without := list(found.find_missing()):
            yield f"{name}: no mean, since pictures are missing, for {', '.join(without)}"


def measure_clipped_cpsnr(picture: Float32, truth: NDArray[np.float64], crop: int) -> float:
    """The composite PSNR in decibels of a picture clipped to 0 … 1, `crop` pixels left out on each side."""
    if picture.shape != truth.shape or not np.isfinite(picture).all():
        raise Unsupported("the method returned another size, NaN or infinity; leave it out")
    squared = float(crop_border(np.square(np.clip(picture, 0, 1) - truth), crop).mean())
    return -10 * log10(squared) if squared > 0 else inf
