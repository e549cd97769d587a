"""Noise as it is added for the benchmark, and how results are compared."""

import json
from math import inf
from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.errors import InputError, Unsupported
from evaluation.data.sets import ImageSet, SetImage
from evaluation.measure.noise import CFA, Noise, NoiseBenchmark, measure_clipped_cpsnr
from evaluation.methods.denoisers import DEFAULT, catalogue, deviations
from evaluation.methods.method import Effort, Method


def _set(name: str, count: int, side: int = 400) -> ImageSet:
    """A set of pictures that nobody opens."""
    return ImageSet(name, tuple(SetImage(Path(f"{n}.png"), f"{n}", side, side) for n in range(1, count + 1)))


def test_white_noise_is_that_of_the_protocol() -> None:
    part = np.full((192, 192, 3), 0.25)
    noise = Noise(10).mosaic(part) - np.float32(0.25)
    drawn = np.random.default_rng(10).normal(0, 10 / 255, (192, 192))
    assert noise == pytest.approx(drawn, abs=1e-6)


def test_noise_of_light_has_its_deviation_at_half_of_white() -> None:
    noise = Noise(10, poisson=True)
    assert noise.model.typical_deviation(0.5) == pytest.approx(10 / 255)
    bright, dark = (noise.mosaic(np.full((200, 200, 3), level)) - level for level in (0.9, 0.1))
    ratio = (0.9 + 0.05) / (0.1 + 0.05)
    assert bright.std() / dark.std() == pytest.approx(ratio**0.5, rel=1e-3)


def test_the_engine_is_told_the_deviation_at_every_level() -> None:
    assert deviations(Noise(5).model) == pytest.approx(np.full((3, 1), 5 / 255))
    told = deviations(Noise(5, poisson=True).model)
    assert told.shape[0] == 3
    assert told[1, told.shape[1] // 2] == pytest.approx(5 / 255)


@pytest.mark.parametrize("sigma", ["0", "256", "2.5", ""])
def test_what_is_no_noise_is_refused(sigma: str) -> None:
    with pytest.raises(InputError, match="255ths of white"):
        NoiseBenchmark.of((), sigma=sigma)


def test_pictures_are_compared_clipped_not_rounded_and_without_their_border() -> None:
    truth = np.full((6, 6, 3), 0.5)
    picture = truth.astype(np.float32)
    picture[0] = 9.0
    assert measure_clipped_cpsnr(picture, truth, 1) == inf
    picture[2, 2] = 1.5  # counts as 1
    assert measure_clipped_cpsnr(picture, truth, 1) == pytest.approx(-10 * np.log10(0.25 / 16))
    picture[2, 2, 0] = np.nan
    with pytest.raises(Unsupported):
        measure_clipped_cpsnr(picture, truth, 1)


@pytest.mark.parametrize("name", [name for name in DEFAULT if "wavelet" not in name])
def test_every_method_makes_a_picture_of_a_mosaic_with_negative_samples(name: str) -> None:
    _check_runs(catalogue(Effort("fast"))[name])


def test_wavelets_are_run_where_they_are_installed() -> None:
    pytest.importorskip("pywt")
    _check_runs(catalogue(Effort("fast"))["gaussian-off+wavelet"])


def _check_runs(method: Method) -> None:
    """Run a method on a dark mosaic."""
    noise = Noise(10)
    mosaic = noise.mosaic(np.full((48, 40, 3), 0.02))
    assert mosaic.min() < 0
    picture = method.run(mosaic, CFA, noise.model).image
    assert picture.shape == (48, 40, 3)
    assert abs(float(picture.mean()) - 0.02) < 0.02


def _usual_box(*sets: ImageSet) -> object:
    """The part of the pictures that is measured where none is named."""
    return NoiseBenchmark.of(sets, methods="lmmse", sigma="5", quality="fast").box


def test_usual_pictures_and_parts() -> None:
    sets = [_set("kodak", 24), _set("kodak", 4), _set("mine", 9)]
    assert [each.name for each in NoiseBenchmark.of(sets, usual=True).sets] == [
        "kodak 1,5,8,13,19,23",
        "kodak 1-4",
        "mine 1-6",
    ]
    assert _usual_box(_set("mine", 2)) == (128, 128, 192, 192)
    assert _usual_box(_set("mine", 2), _set("small", 1, side=300)) is None


@pytest.mark.parametrize("box", [(1, 2, 30, 40), None])
def test_a_part_of_a_report_comes_back_as_it_was_described(box: tuple[int, int, int, int] | None) -> None:
    methods = tuple(catalogue(Effort("fast"))[name] for name in ("ntc", "lmmse"))
    part = NoiseBenchmark((_set("mine", 2),), methods, (5, 7), True, box, 4)
    again = NoiseBenchmark.from_plan(json.loads(json.dumps(part.plan)))
    assert again.work == part.work
    assert [case.key for case in again.cases] == [case.key for case in part.cases]
