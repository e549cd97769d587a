"""Colour fringes of photos: put back where asked for, in levels and balance, and told."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.detection.chromatic_aberration import Fringes
from demosaic_ntc.developing.preprocess import prepare
from demosaic_ntc.developing.settings import Development, Engine, Settings
from demosaic_ntc.raw.chromatic_aberration import correct_photo_fringes
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.photo import RawPhoto

BALANCE = (2.0, 1.0, 1.5, 1.0)
WHITE, BLACK = 16000.0, 500.0


def _photo(fringes: Fringes) -> RawPhoto:
    """A grey scene, seen by a camera whose lens draws red and blue larger."""
    grey = 0.8 * gaussian_filter(np.random.default_rng(4).random((420, 600)), 2.0)
    middle = [(length - 1) / 2 for length in grey.shape]
    places = np.indices(grey.shape).astype(float)
    planes = []
    for scale in (fringes.red, 0.0, fringes.blue):
        seen = [m + (place - m) / (1 + scale) for m, place in zip(middle, places, strict=True)]
        planes.append(map_coordinates(grey, seen, order=3, mode="nearest"))
    light = np.stack(planes, axis=2) / np.asarray(BALANCE[:3])
    cfa = Cfa.from_name("RGGB")
    mosaic = np.rint(cfa.sample(light) * (WHITE - BLACK) + BLACK).astype(np.uint16)
    return RawPhoto(mosaic, cfa.pattern, np.full((1, 1), BLACK), WHITE, camera_balance=BALANCE)


def _exposure() -> Exposure:
    gains = tuple(value / (WHITE - BLACK) for value in BALANCE)
    return Exposure(gains, BALANCE, "camera", (WHITE, WHITE, WHITE))  # type: ignore[arg-type]


def test_fringes_are_put_back_and_told() -> None:
    clean, drawn = _photo(Fringes()), _photo(Fringes(0.003, -0.002))
    mended = correct_photo_fringes(drawn)
    assert any("red was +0.3" in notice and "blue -0.2" in notice for notice in mended.notices)
    difference = [np.abs(each.mosaic.astype(float) - clean.mosaic).mean() for each in (mended, drawn)]
    assert difference[0] < 0.3 * difference[1]


def test_clean_photos_and_other_arrays_stay() -> None:
    clean = _photo(Fringes())
    kept = correct_photo_fringes(clean)
    assert np.array_equal(kept.mosaic, clean.mosaic)
    assert kept.notices == ("no colour fringes were found",)
    other = replace(clean, channels=Cfa.from_name("XTRANS").pattern)
    assert "Bayer arrays only" in correct_photo_fringes(other).notices[0]


def test_nothing_is_looked_for_unasked(small: Path) -> None:
    engine = Engine(method="bilinear")
    for fringes, told in (("off", False), ("auto", True)):
        how = Development(fringes=fringes)  # type: ignore[arg-type]
        notices = prepare(small, Settings(development=how, engine=engine)).photo.notices
        assert any("colour fringes" in notice for notice in notices) is told
