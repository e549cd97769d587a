"""Looks: what they promise of grey, white, hue, the median, and the camera's own picture."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.choices import LookName
from demosaic_ntc.developing import framing
from demosaic_ntc.developing.preprocess import Prepared, complete_mosaic, prepare
from demosaic_ntc.developing.render import Finish, finish, finish_error
from demosaic_ntc.developing.settings import Development, Engine, Settings
from demosaic_ntc.developing.tone import (
    Adjustments,
    ToneMapping,
    _Curve,
    add_contrast,
    automatic_look,
    brighten,
    camera_look,
    neutral_look,
)
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.colour import SPACES, SRGB_CURVE
from demosaic_ntc.run import Run
from demosaic_ntc.workflows.conversion import convert_file

LUMINANCE = SPACES["srgb"].to_xyz[1]
NOTHING = Adjustments()
TONES = np.linspace(0, 1, 2001)
BILINEAR = Engine(method="bilinear")


def _photo(brightness: float, count: int = 4000, seed: int = 1) -> NDArray[np.float32]:
    """Pixels of many brightnesses and colours, whose luminance has about this median."""
    generator = np.random.default_rng(seed)
    light = brightness * np.exp(0.8 * generator.standard_normal((count, 1)))
    return np.clip(light * np.exp(0.3 * generator.standard_normal((count, 3))), 0, 1).astype(np.float32)


def _looks(light: NDArray[np.float32]) -> list[ToneMapping]:
    """One look of each kind."""
    own = neutral_look(LUMINANCE, Adjustments(contrast=30, saturation=20))
    assert own is not None
    shown = np.clip(light * 1.7, 0, 1) ** 0.8
    return [
        own,
        automatic_look(light, LUMINANCE, Adjustments(0.5, 10, 10)),
        camera_look(light, shown, LUMINANCE, NOTHING),
    ]


@pytest.mark.parametrize("gain", [0.3, 1.0, 2.7, 9.0])
def test_exposure_keeps_black_and_white_and_lifts_dark_tones_by_its_gain(gain: float) -> None:
    tones = brighten(TONES, gain)
    assert (tones[0], tones[-1]) == (0, pytest.approx(1))
    assert (np.diff(tones) > 0).all()
    assert float(brighten(np.array(1e-4), gain)) == pytest.approx(1e-4 * gain, rel=1e-3)


def test_two_exposures_are_one() -> None:
    assert brighten(brighten(TONES, 2.0), 3.0) == pytest.approx(brighten(TONES, 6.0))


@pytest.mark.parametrize("power", [0.6, 1.0, 1.7])
def test_contrast_turns_around_mid_grey_and_back(power: float) -> None:
    tones = add_contrast(TONES, power)
    assert (tones[0], tones[-1]) == (0, pytest.approx(1))
    assert (np.diff(tones) > 0).all()
    assert float(add_contrast(np.array(0.18), power)) == pytest.approx(0.18)
    assert (float(add_contrast(np.array(0.05), power)) < 0.05) == (power > 1)
    assert add_contrast(tones, 1 / power) == pytest.approx(TONES, abs=1e-9)


def test_grey_stays_grey_and_white_white_in_every_look() -> None:
    ramp = np.repeat(np.linspace(0, 1, 500, dtype=np.float32)[:, None], 3, axis=1)
    for look in _looks(_photo(0.1)):
        shown = look(ramp.copy())
        assert np.ptp(shown, axis=1).max() < 1e-6
        assert shown[-1] == pytest.approx([1, 1, 1], abs=1e-5)
        assert (np.diff(shown[:, 0]) > -1e-5).all()


def test_a_grey_ramp_stays_grey_through_the_whole_chain() -> None:
    """Within one code value of 8 bits, in every colour space."""
    light = np.repeat(np.linspace(0, 1, 400)[None, :, None], 3, axis=2)
    image = SRGB_CURVE.encode(light).astype(np.float32)
    for name, space in SPACES.items():
        luminance = space.to_xyz[1] / space.to_xyz[1].sum()
        look = automatic_look(_photo(0.05), luminance, NOTHING)
        pixels = finish(image, 0.0, Finish(space, np.eye(3), bits=8, look=look), lambda done, total: None)
        assert np.ptp(pixels.astype(int), axis=-1).max() <= 1, name


def test_hue_is_kept_and_no_channel_reaches_white() -> None:
    """Channels keep their order and the place of the middle one between the others, unless white itself."""
    light = 0.98 * _photo(0.2, seed=3)
    light = light[light.max(axis=1) < 0.95]
    light[:3] = [[0.9, 0.02, 0.01], [0.01, 0.02, 0.95], [0.9, 0.85, 0.01]]
    look = automatic_look(light, LUMINANCE, NOTHING)
    shown = look(light.copy())
    before, after = np.sort(light, axis=1), np.sort(shown, axis=1)
    place = (before[:, 1] - before[:, 0]) / (before[:, 2] - before[:, 0])
    kept = (after[:, 1] - after[:, 0]) / (after[:, 2] - after[:, 0])
    assert kept == pytest.approx(place, abs=1e-3)
    assert shown.max() < 1


@pytest.mark.parametrize("brightness", [0.01, 0.05, 0.1, 0.2])
def test_the_automatic_look_puts_the_median_where_it_aims(brightness: float) -> None:
    """Grey photos: the brightness of colours lies between their luminance and their largest channel."""
    light = np.repeat(_photo(brightness)[:, :1], 3, axis=1)
    median = float(np.median(light))
    shown = automatic_look(light, LUMINANCE, NOTHING)(light.copy())
    assert float(np.median(shown)) == pytest.approx(0.18 * (median / 0.1) ** 0.45, rel=0.02)


def test_bright_photos_are_not_darkened_nor_black_ones_made_grey() -> None:
    for value, least, most in ((0.7, 0.69, 0.72), (1e-3, 2e-3, 16.5e-3)):
        light = np.full((100, 3), value, dtype=np.float32)
        light[:2] = 1.0
        shown = automatic_look(light, LUMINANCE, NOTHING)(light.copy())
        assert least < float(np.median(shown)) < most


def test_the_look_of_a_camera_is_found_again() -> None:
    light = _photo(0.08, 20000)
    wanted = automatic_look(light, LUMINANCE, Adjustments(0.7, 25, 0))
    shown = wanted(light.copy())
    found = camera_look(light, np.clip(shown, 0, 1), LUMINANCE, NOTHING)(light.copy())
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        one, other = (np.quantile(picture @ LUMINANCE, share) for picture in (found, shown))
        assert one == pytest.approx(other, rel=0.05)


def test_adjustments_do_what_they_say() -> None:
    light = _photo(0.08)
    plain = automatic_look(light, LUMINANCE, NOTHING)(light.copy())
    brighter = automatic_look(light, LUMINANCE, Adjustments(exposure=1))(light.copy())
    harder = automatic_look(light, LUMINANCE, Adjustments(contrast=50))(light.copy())
    grey = automatic_look(light, LUMINANCE, Adjustments(saturation=-100))(light.copy())
    assert np.median(brighter) > 1.4 * np.median(plain)
    assert (harder @ LUMINANCE).std() > 1.1 * (plain @ LUMINANCE).std()
    assert np.ptp(grey, axis=1).max() < 1e-6
    assert grey @ LUMINANCE == pytest.approx(plain @ LUMINANCE, abs=0.05)


def test_nothing_added_to_a_neutral_look_is_no_look() -> None:
    assert neutral_look(LUMINANCE, NOTHING) is None


@pytest.mark.slow
def test_errors_pass_through_a_look_as_small_changes_do() -> None:
    """Against the finished pixels of pictures changed at random, many times."""
    generator = np.random.default_rng(5)
    image = (0.15 + 0.5 * generator.random((6, 7, 3))).astype(np.float32)
    error = np.full(image.shape, 2e-3, dtype=np.float32)
    mixing = np.array([[1.6, -0.5, -0.1], [-0.2, 1.4, -0.2], [0.0, -0.4, 1.4]])
    look = automatic_look(_photo(0.08), LUMINANCE, NOTHING)
    how = Finish(SPACES["srgb"], mixing, look=look)
    codes = finish_error(image, error, 0.0, how)
    changes = 2e-3 * generator.standard_normal((600, *image.shape)).astype(np.float32)
    draws = np.stack([finish(image + change, 0.0, how, _unheard) for change in changes])
    inside = (draws.min(axis=0) > 0) & (draws.max(axis=0) < 65535)
    assert inside.mean() > 0.5
    assert codes[inside] == pytest.approx(draws.std(axis=0)[inside], rel=0.25)


def _unheard(done: int, total: int) -> None:
    """Nobody listens."""


def test_plain_mosaics_and_linear_light_have_no_look(samples: Path) -> None:
    ready = prepare(samples / "small_rggb.dng", Settings(engine=BILINEAR))
    assert framing.look_name(ready, Development()) == "auto"
    assert framing.look_name(ready, Development(linear=True)) == "neutral"
    mosaic = replace(ready, photo=replace(ready.photo, is_plain=True))
    assert framing.look_name(mosaic, Development()) == "neutral"
    assert framing.look_name(mosaic, Development(look="auto")) == "auto"


def test_the_cameras_look_falls_back_with_a_word(tmp_path: Path, samples: Path) -> None:
    settings = Settings(development=Development(look="camera"), engine=BILINEAR)
    facts = convert_file(samples / "small_rggb.dng", tmp_path / "a.png", settings).facts
    assert facts.look == "auto"
    assert any("holds no preview" in notice for notice in facts.notices)


@pytest.mark.parametrize(
    "wrong", [{"contrast": 101.0}, {"saturation": float("nan")}, {"linear": True, "look": "camera"}]
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Development(**wrong)  # type: ignore[arg-type]


def _outdoors(sky: float, ground: float, clouds: float, tint: tuple[float, ...]) -> NDArray[np.float32]:
    """A bright sky of clouds above a dark ground, and the sun: one pixel in a hundred."""
    generator = np.random.default_rng(2)
    above = sky * (1 + clouds * generator.standard_normal((24000, 1))) * np.array(tint)
    below = ground * np.exp(0.8 * generator.standard_normal((36000, 1)))
    below = below * np.exp(0.2 * generator.standard_normal((36000, 3)))
    pixels = np.concatenate([above, below, np.full((600, 3), 1.2)])
    return np.asarray(np.maximum(pixels, 0), dtype=np.float32)


def _codes(light: NDArray[np.float32]) -> NDArray[np.float64]:
    """Light as codes of 8 bits."""
    return np.rint(255 * SRGB_CURVE.encode(np.clip(light, 0, 1)))


@pytest.mark.parametrize("aim", [None, 0.02, 0.12, 0.25])
@pytest.mark.parametrize(
    ("sky", "clouds", "tint"),
    [
        (0.8, 0.05, (0.92, 0.97, 1.0)),
        (0.9, 0.05, (0.92, 0.97, 1.0)),
        (0.95, 0.05, (0.92, 0.97, 1.0)),
        (0.98, 0.01, (1.0, 1.0, 1.0)),
        (0.99, 0.003, (1.0, 1.0, 1.0)),
    ],
)
def test_skies_are_not_burnt(sky: float, clouds: float, tint: tuple[float, ...], aim: float | None) -> None:
    """Few pixels get a channel at its end that was not, the sun stays white, and the ground is lifted."""
    light = _outdoors(sky, 0.04, clouds, tint)
    shown = automatic_look(light, LUMINANCE, NOTHING, aim)(light.copy())
    newly = (_codes(shown) == 255) & (_codes(light) < 255)
    assert newly.any(axis=1).mean() <= 0.002
    assert (_codes(shown[-600:]) == 255).all()
    median, before = (float(np.median(each @ LUMINANCE)) for each in (shown, light))
    assert median == pytest.approx(aim, rel=0.1) if aim else median > 1.5 * before


def test_skies_keep_what_is_in_them() -> None:
    """Clouds of a bright sky lie apart by more than a sharp shoulder would leave."""
    light = _outdoors(0.9, 0.04, 0.05, (0.92, 0.97, 1.0))
    shown = automatic_look(light, LUMINANCE, NOTHING)(light.copy())
    darker, brighter = np.quantile(_codes(shown[:24000]) @ LUMINANCE, [0.1, 0.9])
    assert brighter - darker > 3.3


@pytest.mark.parametrize("roundness", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("aim", [0.05, 0.2, 0.5])
def test_round_curves_rise_from_black_to_white_through_the_aim(roundness: float, aim: float) -> None:
    curve = _Curve.through(1.0, 0.08, aim, roundness)
    tones = curve(TONES)
    assert (tones[0], tones[-1]) == (0, pytest.approx(1))
    assert (np.diff(tones) > 0).all()
    assert float(curve(np.array(0.08))) == pytest.approx(aim, rel=0.01)


def test_contrast_that_ends_at_a_slope_is_as_steep_around_mid_grey() -> None:
    step = 1e-5
    for end in (0.0, 0.4, 0.8):
        values = add_contrast(np.array([0.18 - step, 0.18, 0.18 + step, 1 - step, 1.0]), 1.3, end)
        assert np.diff(values[:3]) / step == pytest.approx(1.3, rel=1e-3)
        assert (values[4] - values[3]) / step == pytest.approx(end, abs=0.05)


@pytest.mark.parametrize("aim", [0.01, 0.05, 0.2, 0.4])
def test_a_guided_look_is_as_bright_as_its_guide(aim: float) -> None:
    light = _photo(0.08) * np.array([1.0, 0.5, 0.15], dtype=np.float32)
    shown = automatic_look(light, LUMINANCE, NOTHING, aim)(light.copy())
    assert float(np.median(shown @ LUMINANCE)) == pytest.approx(aim, rel=0.05)


def test_the_cameras_own_picture_guides_the_automatic_look(samples: Path) -> None:
    """A darker one makes it darker; one of something else, or none, leaves it as it is."""
    ready = prepare(samples / "scene_grbg.dng", Settings(engine=BILINEAR))
    image = np.asarray(complete_mosaic(ready, BILINEAR, Run()).image)
    plain = _rendered(image, ready, "neutral")
    dim = (0.5 * plain).astype(np.uint8)
    guided = _rendered(image, replace(ready, embedded=dim), None)
    assert np.median(guided @ LUMINANCE) == pytest.approx(np.median(dim @ LUMINANCE), rel=0.05)
    alone = _rendered(image, ready, None)
    assert np.median(alone @ LUMINANCE) > 1.2 * np.median(guided @ LUMINANCE)
    other = np.ascontiguousarray(255 - dim)
    assert np.array_equal(_rendered(image, replace(ready, embedded=other), None), alone)


def _rendered(image: NDArray[np.float32], ready: Prepared, look: LookName | None) -> NDArray[np.uint8]:
    how = framing.finish_of(image, ready, Development(look=look), 8)
    return np.asarray(finish(image, ready.mosaic.lift, how, _unheard), np.uint8)


GUIDED = ["raw/IMG_0848.CR2", "raw/RAW_KODAK_DC50.KDC", "raw_more/canon_d30.CRW"]
OTHERS = [
    "raw/colorchart_tinydng.dng",
    "raw/minhtcai_test.dng",
    "raw_more/gopro_fusion_front.dng",
    "raw_more/gopro_hero6.dng",
]


@pytest.mark.parametrize("name", [*GUIDED, *OTHERS])
def test_real_raws_are_as_bright_as_their_cameras_show_them_and_not_burnt(data: Path, name: str) -> None:
    """Median luma of ours beside that of the picture that the camera stored; newly clipped pixels."""
    half = Engine(half=True)
    ready = prepare(data / name, Settings(development=Development(), engine=half))
    image = np.asarray(complete_mosaic(ready, half, Run()).image)
    neutral, auto = _rendered(image, ready, "neutral"), _rendered(image, ready, None)
    assert ((auto == 255) & (neutral < 255)).any(axis=-1).mean() <= 0.002
    assert (ready.embedded is not None) == (name in GUIDED)
    if ready.embedded is not None:
        wanted = np.median(ready.embedded @ LUMINANCE)
        for look, within in ((None, 0.06), ("camera", 0.12)):
            shown = _rendered(image, ready, look)  # type: ignore[arg-type]
            assert np.median(shown @ LUMINANCE) == pytest.approx(wanted, rel=within)
