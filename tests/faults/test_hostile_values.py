"""Values of the wrong kind, and files that are none where the program keeps its own: refused by name."""

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demosaic_ntc import complete, demosaic, develop, inpaint
from demosaic_ntc.cfa import make_cfa
from demosaic_ntc.detection.chromatic_aberration import find_fringes
from demosaic_ntc.errors import ClusterError, InputError
from demosaic_ntc.studio.looks import LookSettings
from evaluation.measure.store import ReportFile

pytestmark = pytest.mark.fault

BEYOND_FLOATS = 10**400
SQUARE = np.full((6, 6), 0.5)
HOLE = np.arange(36).reshape(6, 6) == 14
NO_NOISE: list[Any] = ["x", 1j, {}, [[1, 2], [3]], [None] * 3, np.ma.masked_array([1, 2, 3])]
SAMPLES: dict[str, Any] = {"shape": (2, 2), "index": [[0, 0], [1, 1]], "value": [0.5, 0.25]}


@pytest.mark.parametrize(
    "given",
    [
        *({name: BEYOND_FLOATS} for name in ("white", "denoise", "time_limit", "noise")),
        *({"noise": noise} for noise in NO_NOISE),
        {"missing": [[1, 2], [3]]},
        {"missing": np.ma.masked_array(HOLE, HOLE)},
        {"method": np.array([1, 2])},
    ],
)
def test_what_is_no_value_of_a_mosaic(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        demosaic(SQUARE, **{"cfa": "RGGB", **given})


@pytest.mark.parametrize(
    "given", [{"time_limit": BEYOND_FLOATS}, {"noise": "x"}, {"quality": np.array([1, 2])}]
)
def test_what_is_no_value_of_a_repair(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        inpaint(SQUARE, HOLE, **given)


@pytest.mark.parametrize(
    "given",
    [
        *({name: BEYOND_FLOATS} for name in ("radius", "gap", "noise", "deadline")),
        {"value": [BEYOND_FLOATS, 1]},
        {"index": [[0, 0], [1]]},
        {"start": "x"},
        {"oracle": np.array([1, 2])},
    ],
)
def test_what_is_no_value_of_a_completion(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        complete(**{**SAMPLES, **given})


def test_noise_whose_square_is_beyond_floats_explains_everything() -> None:
    assert np.isfinite(complete(**SAMPLES, radius="least", noise=1e300).dense()).all()


@pytest.mark.parametrize("name", ["exposure", "contrast", "saturation", "wb", "denoise"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), BEYOND_FLOATS, "x", [], 1j])
def test_what_is_no_value_of_a_development(small: Path, name: str, value: Any) -> None:
    with pytest.raises(InputError):
        develop(small, method="bilinear", **{name: value})


@pytest.mark.parametrize("side", [0, 1.5, float("nan"), "x"])
def test_what_is_no_side_of_a_picture(small: Path, side: Any) -> None:
    with pytest.raises(InputError):
        develop(small, method="bilinear", resize=side)


def test_what_is_no_value_of_a_slider() -> None:
    with pytest.raises(InputError, match="exposure is"):
        LookSettings.of({"exposure": BEYOND_FLOATS})


def test_a_development_needs_a_model_of_noise(small: Path) -> None:
    with pytest.raises(InputError, match="give a `NoiseModel`"):
        develop(small, method="bilinear", noise=0.1)  # type: ignore[arg-type]


def test_fractions_are_numbers(small: Path) -> None:
    third: Any = Fraction(1, 3)
    assert demosaic(SQUARE, cfa="RGGB", method="bilinear", denoise=third, white=3 * third).image.shape == (
        6,
        6,
        3,
    )
    assert develop(small, method="bilinear", contrast=third, exposure=third).image.any()


# A device that ends at once stands for those that never do.


@pytest.mark.parametrize("how", [[], ["--resume"], ["--dry-run", "--resume"]], ids=["", "resume", "dry"])
def test_a_device_is_no_report(
    tmp_path: Path, batch: Callable[..., Any], fill: Callable[..., Path], how: list[str]
) -> None:
    fill("a.dng")
    (tmp_path / "report").symlink_to(os.devnull)
    result = batch(*how, "--report", tmp_path / "report")
    assert result.exit_code == 4, result.output
    assert "report: is not a regular file" in result.stderr


def test_a_device_is_no_file_of_a_scheduler() -> None:
    cluster = pytest.importorskip("demosaic_ntc.batch.workers.cluster")
    with pytest.raises(ClusterError, match="is a device"):
        cluster._address(os.devnull)


def test_a_device_holds_no_results() -> None:
    with pytest.raises(InputError, match="holds no report") as refusal:
        ReportFile(Path(os.devnull))
    assert "is a device" in str(refusal.value.__cause__)


def test_results_that_are_nested_without_end(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="holds no report"):
        ReportFile(tmp_path / "results.json")


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (3, 200), (66, 66)])
def test_mosaics_too_small_to_show_fringes_have_none(size: tuple[int, int]) -> None:
    mosaic = np.random.default_rng(3).random(size).astype(np.float32)
    assert not find_fringes(mosaic, make_cfa("RGGB")).any
