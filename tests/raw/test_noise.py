"""The noise of a photo: given, stated by its DNG, or estimated; wrong profiles are scaled or not used."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc import develop
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.io.tiff_tags import DOUBLE, LONG, Field
from demosaic_ntc.raw.noise import NOISE_PROFILE, linear_samples, noise_of, span_of
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.reading import read_photo
from samples.dng import Camera, exposed, write_dng

RGGB = Cfa.from_name("RGGB")


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
        ((-1e-4, 2e-6), "slope -0.0001 is not a variance"),
        ((1e-4, -2e-6), "floor -2e-06 is not a variance"),
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


def _stating(path: Path, deviation: float, stated: float) -> RawPhoto:
    """Write and read a DNG of one level, whose noise and stated noise are these, in sample values."""
    profile = Field(DOUBLE, (0.0, (stated / 15500) ** 2))
    camera = Camera(black=500, white=16000)
    write_dng(path, _exposed(3000, deviation), RGGB, camera, changed={NOISE_PROFILE: profile})
    return read_photo(path)


def test_what_is_given_goes_before_the_profile_and_that_before_an_estimate(tmp_path: Path) -> None:
    photo, given = _stating(tmp_path / "a.dng", 40, 42), NoiseModel.from_user(3e-4, 0.0)
    assert (noise_of(photo, given).model, noise_of(photo, given).source) == (given, "given")
    assert (noise_of(photo).model, noise_of(photo).source) == (photo.noise, "profile")


@pytest.mark.parametrize(
    ("told", "is_noticed"), [(20, True), (33, False), (40, False), (50, False), (80, True)]
)
def test_noise_that_is_given_and_that_samples_contradict_is_noticed(
    tmp_path: Path, told: float, is_noticed: bool
) -> None:
    found = noise_of(_stating(tmp_path / "a.dng", 40, 40), NoiseModel.from_user(0.0, (told / 15500) ** 2))
    assert (found.source, bool(found.notices)) == ("given", is_noticed)
    assert found.shown == pytest.approx(40 / told, rel=0.1)


@pytest.mark.parametrize("stated", [33, 40, 48])
def test_a_profile_that_the_samples_bear_out_stays(tmp_path: Path, stated: float) -> None:
    photo = _stating(tmp_path / "a.dng", 40, stated)
    found = noise_of(photo)
    assert (found.model, found.source, found.stated) == (photo.noise, "profile", photo.noise)
    assert found.measured == pytest.approx(40 / stated, rel=0.1)
    assert found.notices == ()


@pytest.mark.parametrize("off", [1.6, 1 / 1.6])
def test_a_profile_that_the_samples_contradict_is_scaled_and_noticed(tmp_path: Path, off: float) -> None:
    photo = _stating(tmp_path / "a.dng", 40, 40 * off)
    found = noise_of(photo)
    assert found.source == "scaled"
    assert found.model.typical_deviation() * 15500 == pytest.approx(40, rel=0.1)
    described = found.describe(span_of(photo))
    assert described["stated_mid_grey"] * 15500 == pytest.approx(40 * off)
    assert described["measured_mid_grey"] == pytest.approx(found.model.typical_deviation())
    (notice,) = found.notices
    assert notice.startswith(f"the file's noise profile states {100 * 40 * off / 15500:.2g} % of white")
    assert f"show {100 * found.model.typical_deviation():.2g} %" in notice


@pytest.mark.parametrize("off", [8, 1 / 8])
def test_a_profile_is_scaled_by_two_at_most(tmp_path: Path, off: float) -> None:
    found = noise_of(_stating(tmp_path / "a.dng", 40, 40 * off))
    assert found.model.typical_deviation() * 15500 == pytest.approx(40 * off * (0.5 if off > 1 else 2))


@pytest.mark.data
@pytest.mark.parametrize(("name", "place"), [("kodak/kodim05.png", 128), ("kodak/kodim19.png", 128)])
def test_a_profile_1_6_times_too_strong_gives_the_picture_of_the_right_one(
    data: Path, tmp_path: Path, name: str, place: int
) -> None:
    with Image.open(data / name) as opened:
        encoded = np.asarray(opened.convert("RGB"))[place : place + 192, place : place + 192] / 255
    truth = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    camera, noise = Camera(black=512), NoiseModel.from_user(1e-3, 2e-6)
    light = (exposed(truth, RGGB, camera) - 512) / 15871
    drawn = np.random.default_rng(5).standard_normal(light.shape)
    codes = np.clip(np.round((light + noise.deviation(light, 0) * drawn) * 15871 + 512), 0, 16383)
    found = dict[float, float]()
    for off in (1.0, 1.6):
        pair = (noise.slope[0] * off**2, noise.floor[0] * off**2)
        write_dng(
            tmp_path / "a.dng",
            codes.astype(np.uint16),
            RGGB,
            camera,
            changed={NOISE_PROFILE: Field(DOUBLE, pair)},
        )
        done = develop(tmp_path / "a.dng", look="neutral", quality="fast", bits="float", threads=1)
        assert done.metadata["noise"]["source"] == ("profile" if off == 1 else "scaled")
        assert any("noise profile states" in notice for notice in done.facts.notices) == (off != 1)
        found[off] = -10 * math.log10(np.square(done.image - encoded)[10:-10, 10:-10].mean())
    assert found[1.0] > 24
    assert found[1.6] == pytest.approx(found[1.0], abs=0.2)


def test_noise_is_estimated_from_the_samples(tmp_path: Path) -> None:
    path = tmp_path / "a.dng"
    write_dng(path, _exposed(3000, 40), RGGB, Camera(black=500, white=16000))
    photo = read_photo(path)
    found = noise_of(photo)
    light = (3000 - 500) / 15500
    assert found.source == "estimated"
    assert found.model.typical_deviation(light) * span_of(photo) == pytest.approx(40, rel=0.1)
    assert found.describe(span_of(photo))["read_noise"] == pytest.approx(40, rel=0.1)


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
