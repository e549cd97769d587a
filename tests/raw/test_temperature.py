"""White balance by temperature, by name and from a grey patch."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import BALANCES, Crop
from demosaic_ntc.developing.preprocess import locate_grey_patch, prepare
from demosaic_ntc.developing.settings import Development, Engine, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.pixels import orient, unorient_point
from demosaic_ntc.raw.levels import GreyPatch, expose
from demosaic_ntc.raw.photo import Box, CameraMatrix, RawPhoto
from demosaic_ntc.raw.temperature import PRESETS, Temperature, balance_under, light_under
from samples.dng import Camera, exposed, write_dng

MATRIX = np.array([[1.7, -0.6, -0.1], [-0.2, 1.5, -0.3], [0.0, -0.5, 1.5]])
CAMERA = RawPhoto(
    mosaic=np.full((40, 60), 500, dtype=np.uint16),
    channels=Cfa.from_name("RGGB").pattern,
    black=np.zeros((1, 1)),
    white=4000.0,
    daylight_balance=(2.1, 1.0, 1.4, 1.0),
    matrix=CameraMatrix(MATRIX, "camera table"),
)


def test_the_white_of_srgb_is_daylight() -> None:
    """D65 lies at 6504 K, ten 3000ths above the glowing bodies."""
    light = light_under(CAMERA.daylight_balance or (1, 1, 1, 1), CAMERA)
    assert light is not None
    assert light.kelvin == pytest.approx(6504, abs=15)
    assert light.tint == pytest.approx(9.7, abs=1)


@pytest.mark.parametrize("kelvin", [2000.0, 2856.0, 4000.0, 5500.0, 9000.0])
@pytest.mark.parametrize("tint", [-40.0, 0.0, 25.0])
def test_temperature_and_tint_come_back_from_the_balance(kelvin: float, tint: float) -> None:
    found = light_under(balance_under(Temperature(kelvin, tint), CAMERA), CAMERA)
    assert found is not None
    assert found.kelvin == pytest.approx(kelvin, rel=1e-3)
    assert found.tint == pytest.approx(tint, abs=0.1)


def test_glowing_bodies_have_the_colours_of_the_tables() -> None:
    """Illuminant A (2856 K) has the chromaticities .4476 and .4074: its balance is that of its XYZ."""
    unknown = replace(CAMERA, matrix=CameraMatrix(np.eye(3), "none"), daylight_balance=None)
    red, green, blue, _ = balance_under(Temperature(2856), unknown)
    x, y = 0.4476, 0.4074
    srgb = np.linalg.solve(
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]),
        [x / y, 1, (1 - x - y) / y],
    )
    assert (red, green, blue) == pytest.approx(tuple(srgb[1] / srgb), rel=0.02)
    assert light_under((red, green, blue, green), unknown) is None


def test_warm_light_needs_more_blue_and_green_light_more_magenta() -> None:
    cold, warm = (balance_under(Temperature(kelvin), CAMERA) for kelvin in (9000, 3000))
    assert warm[2] > cold[2]
    assert warm[0] < cold[0]
    plain, greenish = (balance_under(Temperature(5000, tint), CAMERA) for tint in (0, 40))
    assert min(greenish[0] / plain[0], greenish[2] / plain[2]) > 1


@pytest.mark.parametrize("wrong", [(900.0, 0.0), (5000.0, 200.0), (float("nan"), 0.0)])
def test_what_is_no_light_is_refused(wrong: tuple[float, float]) -> None:
    with pytest.raises(InputError):
        Temperature(*wrong)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_are_lights(name: str) -> None:
    exposure = expose(CAMERA, name, "metadata", keep_highlights=False)  # type: ignore[arg-type]
    assert exposure.balance_source == name
    assert exposure.light is not None
    assert exposure.light.kelvin == pytest.approx(PRESETS[name].kelvin, rel=1e-3)


def test_every_preset_has_a_name() -> None:
    assert set(PRESETS) < set(BALANCES)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_what_lies_under_a_pixel_is_found(orientation: int) -> None:
    pixels = np.arange(6 * 9).reshape(6, 9)
    shown = orient(pixels, orientation)
    for place in np.ndindex(shown.shape):
        assert pixels[unorient_point((place[0], place[1]), (6, 9), orientation)] == shown[place]


def _with_patch(folder: Path, orientation: int) -> Path:
    """A raw of a coloured wall with a grey card, columns 20 to 31 and rows 8 to 19 of the sensor."""
    light = np.full((36, 48, 3), (0.5, 0.2, 0.1))
    light[8:20, 20:32] = (0.2, 0.4, 0.3)
    cfa, camera = Cfa.from_name("RGGB"), Camera(orientation=orientation)
    write_dng(folder / "a.dng", exposed(light, cfa, camera), cfa, camera)
    return folder / "a.dng"


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_grey_patch_is_given_as_the_picture_shows_it(tmp_path: Path, orientation: int) -> None:
    source = _with_patch(tmp_path, orientation)
    marked = np.zeros((36, 48), dtype=bool)
    marked[14, 26] = True
    (row,), (column,) = np.nonzero(orient(marked, orientation))
    how = Development(balance=GreyPatch(int(column), int(row), 4))
    ready = prepare(source, Settings(development=how, engine=Engine(method="bilinear")))
    exposure = ready.exposure
    card = ready.mosaic.samples[10:18, 22:30]
    assert exposure.balance_source == "patch"
    assert np.ptp(card) < 2e-3 * card.mean()


@pytest.mark.parametrize(
    ("place", "why"), [((47, 40), "outside"), ((70, 3), "outside"), ((26, 14), "clipped"), ((2, 30), "black")]
)
def test_patches_that_tell_nothing_are_refused(place: tuple[int, int], why: str) -> None:
    mosaic = np.full((36, 48), 800, dtype=np.uint16)
    mosaic[14, 26], mosaic[24:, :12] = 4000, 0
    photo = replace(CAMERA, mosaic=mosaic, camera_crop=Box(0, 0, 36, 48))
    with pytest.raises(InputError, match=why):
        _exposed_by(photo, GreyPatch(*place, 2))


@pytest.mark.parametrize(("crop", "place"), [(None, (14, 23)), ("camera", (14, 23)), ("visible", (10, 20))])
def test_a_patch_lies_in_the_picture_that_is_kept(crop: Crop | None, place: tuple[int, int]) -> None:
    photo = replace(CAMERA, mosaic=np.full((36, 48), 800, np.uint16), camera_crop=Box(4, 3, 20, 30))
    found = locate_grey_patch(GreyPatch(20, 10, 2), photo, Development(crop=crop))
    assert found == GreyPatch(place[1], place[0], 2)


def _exposed_by(photo: RawPhoto, patch: GreyPatch) -> None:
    """What is done with a grey patch."""
    expose(photo, locate_grey_patch(patch, photo, Development()), "metadata", keep_highlights=False)
