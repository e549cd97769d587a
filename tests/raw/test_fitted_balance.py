"""A white balance fitted to the camera's own picture: found again, whatever the camera did besides."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.developing.settings import Engine, Settings
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.raw.fitted_balance import fit_balance
from demosaic_ntc.raw.levels import expose
from demosaic_ntc.raw.photo import CameraMatrix, RawPhoto
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.workflows.conversion import convert_file

Light = NDArray[np.float64]

CHANNELS = np.array([[0, 1], [3, 2]], dtype=np.uint8)
MATRIX = np.array([[1.6, -0.5, -0.1], [-0.2, 1.4, -0.2], [0.0, -0.4, 1.4]])
BALANCE = (2.1, 1.0, 1.5)
BLACK, SPAN = 200.0, 8000.0


def _scene(colour: float, seed: int = 4) -> Light:
    """Balanced camera light (96, 144, 3), smooth, of some stops and colours."""
    generator = np.random.default_rng(seed)
    stops = np.stack([_smooth(generator) for _ in range(4)], axis=-1)
    return np.asarray(np.exp2(-2.5 + 1.2 * stops[..., :1] + colour * stops[..., 1:]))


def _smooth(generator: np.random.Generator) -> Light:
    coarse = Image.fromarray(generator.standard_normal((8, 12)).astype(np.float32))
    return np.asarray(coarse.resize((144, 96), Image.Resampling.BICUBIC), dtype=np.float64)


def _photo(light: Light, own: NDArray[np.uint8] | None, **changes: object) -> RawPhoto:
    """A raw of balanced light that stores no balance, and the camera's own picture."""
    measured = (light / np.array(BALANCE)).repeat(2, axis=0).repeat(2, axis=1)
    colours = np.where(CHANNELS == 3, 1, CHANNELS)
    mosaic = np.empty(measured.shape[:2])
    for y, x in np.ndindex(2, 2):
        mosaic[y::2, x::2] = measured[y::2, x::2, colours[y, x]]
    samples = np.clip(np.rint(BLACK + SPAN * mosaic), 0, BLACK + SPAN).astype(np.uint16)
    made = RawPhoto(samples, CHANNELS, np.full((2, 2), BLACK), BLACK + SPAN, preview=own)
    return replace(made, matrix=CameraMatrix(MATRIX, "DNG"), **changes)  # type: ignore[arg-type]


def _own(light: Light, curve: float = 1.0, gain: float = 1.0) -> NDArray[np.uint8]:
    """What the camera shows: its matrix, and a power in every channel."""
    shown = (gain * np.clip(light @ MATRIX.T, 0, 1)) ** curve
    return np.rint(255 * SRGB_CURVE.encode(np.clip(shown, 0, 1))).astype(np.uint8)


@pytest.mark.parametrize(("curve", "gain"), [(1.0, 1.0), (1.4, 1.8), (0.8, 0.7)])
@pytest.mark.parametrize(("colour", "within"), [(0.1, 0.1), (0.35, 0.07)])
def test_the_balance_is_found_again(curve: float, gain: float, colour: float, within: float) -> None:
    """Of scenes of little and of much colour, that are warm as a whole, under any curve."""
    light = _scene(colour) * np.array([1.3, 1.0, 0.8])
    found = fit_balance(_photo(light, _own(light, curve, gain)), SPAN)
    assert found is not None
    assert found[::2] == pytest.approx(BALANCE[::2], rel=within)
    assert (found[1], found[3]) == (1, 1)


def test_upright_and_cut_pictures_are_compared_as_they_lie() -> None:
    light = _scene(0.3)
    own = np.ascontiguousarray(orient(_own(light)[4:-4, 6:-6], 6))
    found = fit_balance(_photo(light, own, orientation=6), SPAN)
    assert found is not None
    assert found[::2] == pytest.approx(BALANCE[::2], rel=0.05)


def test_what_is_clipped_or_odd_in_places_does_not_count() -> None:
    light = _scene(0.3)
    own = _own(light, 1.2, 1.5)
    own[:40, :60] = (180, 90, 150)
    light[60:, 100:] *= 12
    found = fit_balance(_photo(light, own), SPAN)
    assert found is not None
    assert found[::2] == pytest.approx(BALANCE[::2], rel=0.07)


def test_pictures_that_tell_nothing_of_colours_are_not_believed() -> None:
    """None, one in black and white, one of another scene, and wild colours of pixels or of parts."""
    light = _scene(0.5)
    own = _own(light)
    grey = np.repeat(own[..., 1:2], 3, axis=2)
    wild = np.random.default_rng(0).permuted(own, axis=2)
    tints = np.exp2(np.random.default_rng(0).uniform(-1, 1, (12, 12, 3))).repeat(8, axis=0).repeat(12, axis=1)
    for each in (None, grey, _own(_scene(0.5, seed=9)), wild, _own(0.5 * light * tints)):
        assert fit_balance(_photo(light, each), SPAN) is None


def test_only_raws_without_a_balance_are_fitted() -> None:
    light = _scene(0.3)
    photo = _photo(light, _own(light))
    fitted = expose(photo, "camera", "metadata", keep_highlights=False)
    assert fitted.balance_source == "preview"
    assert fitted.balance[0] == pytest.approx(2.1, rel=0.05)
    stored = replace(photo, camera_balance=(2.0, 1.0, 1.6, 1.0))
    assert expose(stored, "camera", "metadata", keep_highlights=False).balance_source == "camera"
    assert expose(photo, "auto", "metadata", keep_highlights=False).balance_source == "auto"
    plain = replace(photo, is_plain=True)
    assert expose(plain, "camera", "metadata", keep_highlights=False).balance_source == "none"
    alone = replace(photo, preview=None)
    assert expose(alone, "camera", "metadata", keep_highlights=False).balance_source == "auto"


@pytest.mark.parametrize("name", ["IMG_0848.CR2", "RAW_KODAK_DC50.KDC"])
def test_what_a_camera_stored_is_found_again(data: Path, name: str) -> None:
    photo = read_photo(data / "raw" / name)
    assert photo.camera_balance is not None
    red, green, blue, _ = photo.camera_balance
    found = fit_balance(photo, photo.white - float(photo.black.min()))
    assert found is not None
    assert found[::2] == pytest.approx((red / green, blue / green), rel=0.07)


def test_the_fit_is_told(data: Path, tmp_path: Path) -> None:
    facts = convert_file(
        data / "raw_more" / "canon_d30.CRW", tmp_path / "a.jpg", Settings(engine=Engine(half=True))
    ).facts
    assert facts.exposure.balance_source == "preview"
    assert any("fitted to the camera's own picture" in notice for notice in facts.notices)


def test_linear_raws_are_fitted_pixel_by_pixel() -> None:
    light = _scene(0.3)
    codes = np.clip(np.rint(BLACK + SPAN * light / np.array(BALANCE)), 0, BLACK + SPAN).astype(np.uint16)
    planes = np.arange(3, dtype=np.uint8).reshape(1, 1, 3)
    linear = replace(
        _photo(light, _own(light)), mosaic=codes, channels=planes, black=np.full((1, 1, 3), BLACK)
    )
    found = fit_balance(linear, SPAN)
    assert found is not None
    assert found[::2] == pytest.approx(BALANCE[::2], rel=0.05)


def test_a_raw_of_a_few_cells_is_not_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demosaic_ntc.raw.fitted_balance.way_round", lambda *_: 1)
    light = _scene(0.3)
    assert fit_balance(_photo(light[::16, ::18], _own(light)), SPAN) is None
