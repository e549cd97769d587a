"""Levels at which colours saturate: found in clipped photos, colour by colour, and in no others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.developing.preprocess import prepare
from demosaic_ntc.developing.settings import Settings
from demosaic_ntc.raw import saturation as module
from demosaic_ntc.raw.levels import expose
from demosaic_ntc.raw.photo import BLUE, GREEN, RED, SECOND_GREEN, RawPhoto
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.raw.saturation import saturation

Light = NDArray[np.float64]

CHANNELS = np.array([[RED, GREEN], [SECOND_GREEN, BLUE]], dtype=np.uint8)
BLACK, WHITE = 100.0, 4100.0
NOMINAL = (WHITE, WHITE, WHITE)
BALANCE = (2.0, 1.0, 1.6, 1.0)


def _photo(samples: Light, **changes: object) -> RawPhoto:
    mosaic = np.clip(np.rint(samples), 0, 4095).astype(np.uint16)
    photo = RawPhoto(mosaic, CHANNELS, np.full((2, 2), BLACK), WHITE, camera_balance=BALANCE)
    return replace(photo, **changes)  # type: ignore[arg-type]


def _samples(light: Light, noise: float = 0.004) -> Light:
    """Samples of neutral light (height, width), white where green has the nominal level; with noise."""
    gains = np.array([1 / value for value in BALANCE])[CHANNELS]
    seen = light * np.tile(gains, (light.shape[0] // 2, light.shape[1] // 2))
    noisy = seen + noise * np.sqrt(np.maximum(seen, 0)) * np.random.default_rng(7).standard_normal(seen.shape)
    return np.asarray(BLACK + (WHITE - BLACK) * noisy)


def _slope(most: float, side: int = 240) -> Light:
    """Light that rises from left to right."""
    return np.tile(np.linspace(0.02, most, side), (side, 1))


def _clipped(samples: Light, levels: tuple[float, float, float], spread: float = 0.0) -> Light:
    """Samples cut at a level of each colour, which may vary."""
    tops = np.tile(np.array([*levels, levels[GREEN]])[CHANNELS], tuple(side // 2 for side in samples.shape))
    return np.minimum(samples, tops + spread * np.random.default_rng(3).standard_normal(samples.shape))


def test_every_colour_saturates_at_its_own_level() -> None:
    levels = (4000.0, 3700.0, 3400.0)
    found = saturation(_photo(_clipped(_samples(_slope(3.0)), levels)))
    assert found == pytest.approx(levels, abs=2)


def test_a_wide_pile_begins_at_its_lower_edge() -> None:
    """One sample in twenty lies below it: 1.645 standard deviations under the middle."""
    spread = 12.0
    found = saturation(_photo(_clipped(_samples(_slope(3.0)), (4000.0, 3700.0, 3400.0), spread)))
    assert found == pytest.approx(
        (4000 - 1.645 * spread, 3700 - 1.645 * spread, 3400 - 1.645 * spread), abs=6
    )


def test_a_colour_without_a_pile_keeps_the_nominal_white() -> None:
    found = saturation(_photo(_clipped(_samples(_slope(1.4)), (4000.0, 3700.0, 4000.0))))
    assert found == pytest.approx((WHITE, 3700, WHITE), abs=1)


def test_the_true_pile_is_found_above_a_larger_bright_surface() -> None:
    light = _slope(3.0)
    light[:, :200] = 0.8
    found = saturation(_photo(_clipped(_samples(light), (3950.0, 3900.0, 3950.0))))
    assert found[GREEN] == pytest.approx(3900, abs=3)


@pytest.mark.parametrize("noise", [0.0, 0.004, 0.02])
@pytest.mark.parametrize("brightness", [0.78, 0.85, 0.95])
def test_bright_surfaces_that_are_not_clipped_are_no_piles(brightness: float, noise: float) -> None:
    """A white wall or sky, and a small one, with shading and without."""
    for share in (0.9, 0.05):
        for shading in (0.0, 0.01, 0.05):
            light = _slope(0.6)
            light[:, : round(share * 240)] = brightness
            light *= 1 - shading * np.linspace(0, 1, 240)[:, None]
            assert saturation(_photo(_samples(light, noise))) == NOMINAL


def test_highlights_that_thin_out_are_no_pile() -> None:
    light = np.minimum(np.random.default_rng(0).exponential(0.08, (400, 400)), 0.97)
    assert saturation(_photo(_samples(light))) == NOMINAL


def test_hot_pixels_are_no_pile() -> None:
    samples = _samples(_slope(0.5))
    places = np.random.default_rng(0).integers(0, 240, (2, 600))
    samples[places[0], places[1]] = 3800
    assert saturation(_photo(samples)) == NOMINAL


def test_few_samples_are_no_pile() -> None:
    samples = _samples(_slope(0.5))
    samples[10:14, 10:14] = 3800
    assert saturation(_photo(samples)) == NOMINAL
    samples[10:22, 10:22] = 3800
    assert saturation(_photo(samples)) == (3800, 3800, 3800)


@pytest.mark.parametrize("side", [2, 4, 6])
def test_tiny_photos_have_the_nominal_white(side: int) -> None:
    assert saturation(_photo(np.full((side, side), 3800.0))) == NOMINAL


def test_white_that_is_reached_stays() -> None:
    samples = _samples(_slope(3.0))
    assert saturation(_photo(samples, white=4095.0)) == (4095.0, 4095.0, 4095.0)
    assert saturation(_photo(samples, white=3000.0)) == (3000.0, 3000.0, 3000.0)


def _saturated_light(photo: RawPhoto, levels: tuple[float, float, float], *, keep: bool) -> list[float]:
    """What each channel makes of a saturated sample."""
    gains = expose(photo, "camera", "auto", keep_highlights=keep).gains
    black = dict(zip(CHANNELS.ravel().tolist(), photo.black.ravel().tolist(), strict=True))
    tops = (*levels, levels[GREEN])
    return [gain * (tops[channel] - black[channel]) for channel, gain in enumerate(gains)]


def test_saturated_samples_are_white_in_every_channel() -> None:
    """The least of the balanced levels is at 1; where highlights are kept, the largest is."""
    levels = (4000.0, 3700.0, 3400.0)
    uneven = np.array([[90.0, 120.0], [120.0, 60.0]])
    photo = _photo(_clipped(_samples(_slope(3.0)), levels), black=uneven)
    light = _saturated_light(photo, levels, keep=False)
    assert min(light) == light[GREEN] == pytest.approx(1, abs=1e-3)
    kept = _saturated_light(photo, levels, keep=True)
    assert max(kept) == kept[RED] == pytest.approx(1, abs=1e-3)
    exposure = expose(photo, "camera", "auto", keep_highlights=True)
    assert exposure.clip == pytest.approx(min(kept), abs=1e-3)
    assert (exposure.white, exposure.balance) == (exposure.levels[GREEN], (1.0, 0.5, 0.8, 0.5))


def test_the_colour_that_limits_is_told_after_balance() -> None:
    levels = (3300.0, 3700.0, 3400.0)
    photo = _photo(_clipped(_samples(_slope(3.0)), levels))
    for balance, colour in (((2.0, 1.0, 1.6), GREEN), ((1.0, 1.0, 1.6), RED)):
        exposure = expose(photo, balance, "auto", keep_highlights=False)
        assert exposure.white == exposure.levels[colour]
        assert exposure.clip == 1


def test_given_levels_and_plain_mosaics_are_taken_as_they_are() -> None:
    photo = _photo(_clipped(_samples(_slope(3.0)), (4000.0, 3700.0, 3400.0)))
    for each, white in ((photo, "metadata"), (photo, 4000.0), (replace(photo, is_plain=True), "auto")):
        exposure = expose(each, "camera", white, keep_highlights=False)  # type: ignore[arg-type]
        assert (exposure.levels, exposure.clip) == (NOMINAL, 1.0)
        assert exposure.gains == tuple(value / (WHITE - BLACK) for value in BALANCE)


@pytest.mark.parametrize(
    "name", ["IMG_0848.CR2", "RAW_KODAK_DC50.KDC", "colorchart_tinydng.dng", "minhtcai_test.dng"]
)
def test_raws_without_piles_below_white_keep_it(data: Path, name: str) -> None:
    photo = read_photo(data / "raw" / name)
    assert saturation(photo) == (photo.white,) * 3


def test_real_piles_are_found(data: Path) -> None:
    """Most frequent values: 16364, 15583 and 15118 of the GoPro, 4060, 4065 and 4067 of the Canon."""
    hero = saturation(read_photo(data / "raw_more" / "gopro_hero6.dng"))
    assert hero == pytest.approx((16200, 15500, 14850), abs=130)
    assert saturation(read_photo(data / "raw_more" / "canon_d30.CRW")) == pytest.approx(
        (4056, 4057, 4062), abs=4
    )


def test_levels_are_looked_for_once_a_photo(monkeypatch: pytest.MonkeyPatch, samples: Path) -> None:
    asked, find = [], module._find_levels

    def count(photo: RawPhoto) -> module.Levels:
        asked.append(photo)
        return find(photo)

    monkeypatch.setattr(module, "_find_levels", count)
    prepare(samples / "small_rggb.dng", Settings())
    assert len(asked) == 1
