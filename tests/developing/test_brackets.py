"""Frames of several exposures: their light made alike, and highlights from those that saw them."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab

from demosaic_ntc import develop, merge, read_mosaic
from demosaic_ntc.developing.brackets import prepare_burst
from demosaic_ntc.developing.frames import find_gains, light_gathered
from demosaic_ntc.developing.preprocess import read_clean
from demosaic_ntc.developing.settings import Development, Merging, Settings
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.raw.dng.colours import BASELINE_EXPOSURE
from demosaic_ntc.workflows.merging import merge_files
from tests.bursts import Light, Shot, moved_light, still_light, take, take_all

NOISE = (2e-4, 2e-6)
MIDDLE = Shot(noise=NOISE)
SHORT = Shot((1.4, -2.3), NOISE, Fraction(1, 1000))
LONG = Shot((-3.1, 0.7), NOISE, Fraction(1, 60))
# Two stops darker, so that what lies above white is seen.
DARKER: dict[str, Any] = {
    "look": "neutral", "highlights": "reconstruct", "linear": True, "exposure": -2, "bits": "float"
}  # fmt: skip


@pytest.fixture(scope="module")
def bright() -> Light:
    """A scene of which two fifths lie above white."""
    return 2.0 * still_light()


@pytest.fixture(scope="module")
def bracket(tmp_path_factory: pytest.TempPathFactory, bright: Light) -> list[Path]:
    return take_all(tmp_path_factory.mktemp("bracket"), bright, [MIDDLE, SHORT, LONG])


def colour_errors(image: Any, bright: Light) -> Any:
    """How far off the colours of pixels above white are."""
    truth = moved_light(bright, (0, 0))
    lab, known = (
        rgb2lab(np.clip(SRGB_CURVE.encode(np.clip(each, 0, 1)), 0, 1)) for each in (image, truth / 4)
    )
    far: Any = deltaE_ciede2000(lab, known)  # type: ignore[no-untyped-call]
    return far[8:-8, 8:-8][truth.max(axis=-1)[8:-8, 8:-8] > 1]


def test_highlights_come_from_the_frame_that_saw_them(bracket: list[Path], bright: Light) -> None:
    merged = merge(bracket, quality="fast", **DARKER)
    assert merged.source == bracket[0]  # the middle exposure
    assert [round(frame.stops) for frame in merged.frames] == [0, -2, 2]
    alone, together = (
        colour_errors(photo.image, bright)
        for photo in (develop(bracket[0], quality="fast", **DARKER), merged)
    )
    assert together.mean() < 0.4 * alone.mean()
    assert np.median(together) < 1.6


def test_a_linear_dng_states_its_highlights(bracket: list[Path], tmp_path: Path, bright: Light) -> None:
    target = tmp_path / "a.dng"
    merge_files(bracket, target, Settings(), Merging())
    stated = read_mosaic(target).stated[BASELINE_EXPOSURE]
    assert 0.9 < float(stated.values[0]) < 1.5  # the brightest pixels lie a stop above white
    shown = develop(target, **DARKER).image
    assert np.median(colour_errors(shown, bright)) < 2.0


def test_highlights_of_finished_pictures_roll_off_and_are_told_apart(
    bracket: list[Path], bright: Light
) -> None:
    """What lies above white is drawn below it, brighter where there is more light; or clipped to it."""
    light = moved_light(bright, (0, 0))[8:-8, 8:-8].mean(axis=-1)
    above, below = (light > 1.1) & (light < 1.8), light < 0.4
    how: dict[str, Any] = {"quality": "fast", "bits": "float", "look": "neutral"}
    rolled, clipped = (
        merge(bracket, reference="first", highlights=kind, **how).image[8:-8, 8:-8].mean(axis=-1)
        for kind in ("reconstruct", "clip")
    )
    assert np.corrcoef(rolled[above], light[above])[0, 1] > 0.8
    assert np.median(rolled[above]) < 0.99
    assert np.median(clipped[above]) > np.median(rolled[above])
    assert np.median(np.abs(rolled - clipped)[below]) < 0.05


def test_what_moved_in_front_of_highlights_is_not_taken(tmp_path: Path, bright: Light) -> None:
    """A dark bar before the highlights of the short frame: the reference was clipped there, so it is not."""
    barred = bright.copy()
    barred[:, 60:90] = 0.05
    paths = [
        take(tmp_path / "a.dng", bright, MIDDLE),
        take(tmp_path / "b.dng", barred, replace(SHORT, move=(0.0, 0.0))),
    ]
    settings = Settings(development=Development())
    frames = [read_clean(path, settings) for path in paths]
    burst = prepare_burst(frames, settings, Merging("first", "none"))
    guessed = prepare_burst(frames[:1], settings, Merging("first")).ready
    ready, bar = burst.ready, slice(32, 44)
    assert ready.highlights is not None
    clipped = ready.highlights.flags(guessed.photo.mosaic, 0)
    assert clipped[:, bar].any()
    assert np.array_equal(ready.photo.mosaic[:, bar], guessed.photo.mosaic[:, bar])
    beside = clipped[:, 60:]
    changed = ready.photo.mosaic[:, 60:] != guessed.photo.mosaic[:, 60:]
    assert changed[beside].mean() > 0.9
    assert not changed[~beside].any()


def test_gains_are_those_of_exif_and_of_the_samples(tmp_path: Path) -> None:
    light = 0.6 * still_light()
    settings = Settings()
    true = [Fraction(1, 250), Fraction(1, 950), Fraction(1, 250)]
    paths = take_all(tmp_path, light, [Shot(noise=NOISE, time=time) for time in true])
    frames = [read_clean(path, settings) for path in paths]
    rounded = [Fraction(1, 250), Fraction(1, 1000), Fraction(1, 250)]
    told = [
        replace(frame, photo=replace(frame.photo, exif=read_clean(other, settings).photo.exif))
        for frame, other in zip(
            frames,
            take_all(tmp_path / "told", light, [Shot(noise=NOISE, time=time) for time in rounded]),
            strict=True,
        )
    ]
    assert light_gathered(told[0].photo) / light_gathered(told[1].photo) == pytest.approx(4)
    gains = find_gains(told, 0)
    assert gains[0] == gains[2] == 1.0
    assert gains[1] == pytest.approx(950 / 250, rel=0.01)


def test_noise_is_told_in_the_light_of_the_reference(bracket: list[Path]) -> None:
    settings = Settings()
    frames = [read_clean(path, settings) for path in bracket]
    burst = prepare_burst(frames, settings, Merging("first"))
    middle, short, long = (mosaic.noise for mosaic in burst.mosaics)
    assert middle is not None
    assert short is not None
    assert long is not None
    at = middle.shape[1] // 2  # a quarter of the photons have four times the variance in the same light
    assert np.median(short[:, at] / middle[:, at]) == pytest.approx(4, rel=0.4)
    assert np.median(long[:, at] / middle[:, at]) == pytest.approx(0.24, rel=0.4)
    assert burst.mosaics[2].missing is not None  # what the long frame clips
