"""The noise of a photo: given, stated by its DNG, or estimated; profiles that make no sense are not used."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.files.dng.noise_profile import NOISE_PROFILE
from demosaic_ntc.files.raw.noise import linear_samples, noise_of, span_of
from demosaic_ntc.files.raw.photo import RawPhoto
from demosaic_ntc.files.raw.reading import read_photo
from demosaic_ntc.files.tags import DOUBLE, LONG, Field
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.noise import NoiseModel
from samples.dng import Camera, write_dng

RGGB = Cfa.named("RGGB")


def _read(path: Path, *profile: float, kind: int = DOUBLE) -> RawPhoto:
    """Write and read a small DNG that states this noise profile."""
    mosaic = np.random.default_rng(1).integers(600, 16383, (40, 60)).astype(np.uint16)
    write_dng(path, mosaic, RGGB, Camera(), changed={NOISE_PROFILE: Field(kind, profile)})
    return read_photo(path)


def _exposed(level: float, deviation: float) -> NDArray[np.uint16]:
    """Expose a frame of one level with noise, both in sample values."""
    noise = deviation * np.random.default_rng(2).standard_normal((192, 256))
    return np.clip(np.round(level + noise), 0, 16383).astype(np.uint16)


def test_one_pair_stands_for_all_colours(tmp_path: Path) -> None:
    photo = _read(tmp_path / "a.dng", 1e-4, 2e-6)
    assert photo.noise == NoiseModel((1e-4,) * 3, (2e-6,) * 3)
    assert photo.notices == ()


def test_each_colour_may_have_its_pair(tmp_path: Path) -> None:
    photo = _read(tmp_path / "a.dng", 1e-4, 1e-6, 2e-4, 2e-6, 3e-4, 3e-6)
    assert photo.noise == NoiseModel((1e-4, 2e-4, 3e-4), (1e-6, 2e-6, 3e-6))


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        ((1e-4,), "has 1 numbers"),
        ((1e-4, 2e-6, 1e-4), "has 3 numbers"),
        ((1e-4, 2e-6) * 4, "has 8 numbers"),
        ((-1e-4, 2e-6), "slope -0.0001 is no variance"),
        ((1e-4, -2e-6), "floor -2e-06 is no variance"),
        ((1e-4, float("nan")), "holds no finite numbers"),
        ((float("inf"), 0.0), "holds no finite numbers"),
    ],
)
def test_a_profile_that_makes_no_sense_is_noticed_and_not_used(
    tmp_path: Path, profile: tuple[float, ...], reason: str
) -> None:
    photo = _read(tmp_path / "a.dng", *profile)
    assert photo.noise is None
    (notice,) = photo.notices
    assert notice.startswith("the file's noise profile is not used: ")
    assert reason in notice


def test_a_file_without_a_profile_states_nothing(samples: Path) -> None:
    photo = read_photo(samples / "small_rggb.dng")
    assert (photo.noise, photo.notices) == (None, ())


def test_a_profile_of_another_type_of_number_is_read(tmp_path: Path) -> None:
    assert _read(tmp_path / "a.dng", 0, 1, kind=LONG).noise == NoiseModel((0.0,) * 3, (1.0,) * 3)


def test_what_is_given_goes_before_the_profile_and_that_before_an_estimate(tmp_path: Path) -> None:
    photo, given = _read(tmp_path / "a.dng", 1e-4, 2e-6), NoiseModel.given(3e-4, 0.0)
    assert (noise_of(photo, given).model, noise_of(photo, given).source) == (given, "given")
    assert (noise_of(photo).model, noise_of(photo).source) == (photo.noise, "profile")


def test_noise_is_estimated_from_the_samples(tmp_path: Path) -> None:
    path = tmp_path / "a.dng"
    write_dng(path, _exposed(3000, 40), RGGB, Camera(black=500, white=16000))
    photo = read_photo(path)
    found = noise_of(photo)
    light = (3000 - 500) / 15500
    assert found.source == "estimated"
    assert found.model.typical_deviation(light) * span_of(photo) == pytest.approx(40, rel=0.1)
    assert found.described(span_of(photo))["read_noise"] == pytest.approx(40, rel=0.1)


@pytest.mark.parametrize("level", [0, 16000])
def test_a_frame_without_an_unclipped_sample_has_no_noise(tmp_path: Path, level: int) -> None:
    path = tmp_path / "a.dng"
    write_dng(path, np.full((192, 256), level, np.uint16), RGGB, Camera(black=500, white=16000))
    assert noise_of(read_photo(path)).model.is_zero


def test_samples_below_black_stay_negative_and_every_site_has_its_black() -> None:
    black = np.array([[100.0, 110.0], [120.0, 130.0]])
    mosaic = np.tile(np.array([[50, 110], [1120, 565]], np.uint16), (3, 2))
    photo = RawPhoto(mosaic, RGGB.pattern, black, white=1000.0)
    expected = np.tile([[-50 / 900, 0], [1000 / 880, 435 / 870]], (3, 2))
    assert linear_samples(photo) == pytest.approx(expected, abs=1e-6)
