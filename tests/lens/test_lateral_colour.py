"""Lateral colour that a file states: moved in samples, once, with what the statement leaves."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates

from demosaic_ntc.arrays import Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.preprocess import prepare
from demosaic_ntc.developing.settings import Settings
from demosaic_ntc.lens.correction import LensCorrection, WarpStep, align_colours, find_lateral_offsets
from demosaic_ntc.raw.opcodes.warps import WarpRectilinear
from demosaic_ntc.raw.photo import Box, RawPhoto
from demosaic_ntc.workflows.api import develop
from samples.dng import Camera, write_dng
from samples.opcodes import opcode_fields

SIZE = (420, 600)
CAMERA = Camera(black=500, white=16000, neutral=(1.0, 1.0, 1.0))


def _planes(red: float, blue: float) -> WarpRectilinear:
    """A lens that draws red and blue larger by shares, and bends nothing."""
    return WarpRectilinear(
        ((1 + red, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0), (1 + blue, 0, 0, 0, 0, 0)), (0.5, 0.5)
    )


def _scene() -> Float64:
    """Soft spots in grey."""
    grey = gaussian_filter(np.random.default_rng(4).random(SIZE), 2.0)
    return np.asarray(0.1 + 0.6 * (grey - grey.min()) / np.ptp(grey))


def _draw(red: float, blue: float) -> Float64:
    """The mosaic of the scene through such a lens, in light."""
    grey, places, planes = _scene(), np.indices(SIZE).astype(float), []
    middle = [(length - 1) / 2 for length in SIZE]
    for scale in (red, 0.0, blue):
        seen = [m + (place - m) / (1 + scale) for m, place in zip(middle, places, strict=True)]
        planes.append(map_coordinates(grey, seen, order=3, mode="nearest"))
    return np.asarray(Cfa.from_name("RGGB").sample(np.stack(planes, axis=2)))


def _codes(light: Float64) -> Any:
    return np.rint(CAMERA.black + light * (CAMERA.white - CAMERA.black)).astype(np.uint16)


def _photo(light: Float64) -> RawPhoto:
    pattern = Cfa.from_name("RGGB").pattern
    return RawPhoto(_codes(light), pattern, np.full((1, 1), 500.0), 16000.0)


def _lens(warp: WarpRectilinear) -> LensCorrection:
    return LensCorrection(SIZE, warps=(WarpStep(warp, Box(0, 0, SIZE[0], SIZE[1])),))


@pytest.mark.parametrize("share", [1.0, 0.55])
def test_samples_lie_where_green_does_though_too_little_is_stated(share: float) -> None:
    red, blue = 0.004, 0.003
    drawn = _photo(_draw(red, blue))
    aligned, lens = align_colours(drawn, _lens(_planes(share * red, share * blue)), None)
    clean = _codes(_draw(0, 0)).astype(float)
    before, after = (np.abs(each.mosaic - clean)[8:-8, 8:-8].mean() for each in (drawn, aligned))
    assert after < 0.25 * before
    assert lens.warps == ()  # nothing is left to move
    assert lens.applied == ("WarpRectilinear",)
    assert any("leaves" in remark for remark in lens.remarks) == (share < 1)


def test_green_stays_and_so_do_photos_without_lateral_colour() -> None:
    drawn = _photo(_draw(0.004, 0.003))
    aligned, _ = align_colours(drawn, _lens(_planes(0.004, 0.003)), None)
    green = Cfa.from_name("RGGB").masks(SIZE)[..., 1]
    assert np.array_equal(aligned.mosaic[green], drawn.mosaic[green])
    plain = _lens(WarpRectilinear(((0.99, 0.01, 0, 0, 0, 0),), (0.5, 0.5)))
    same, kept = align_colours(drawn, plain, None)
    assert same is drawn
    assert kept is plain


def test_other_arrays_are_left_to_the_resampling() -> None:
    drawn, lens = _photo(_draw(0.004, 0.003)), _lens(_planes(0.004, 0.003))
    other = replace(drawn, channels=Cfa.from_name("XTRANS").pattern)
    assert align_colours(other, lens, None) == (other, lens)


def test_saturated_samples_stay_saturated_and_others_below() -> None:
    drawn, lens = _photo(_draw(0.004, 0.003)), _lens(_planes(0.004, 0.003))
    codes = drawn.mosaic.copy()
    codes[100:320:20, 200:400:20] = 16000  # lone red sites, where red lies off by less than one pixel
    aligned, _ = align_colours(replace(drawn, mosaic=codes), lens, None)
    assert (aligned.mosaic[100:320:20, 200:400:20] >= 16000).all()
    assert aligned.mosaic.max() == 16000


def test_bad_samples_do_not_spread() -> None:
    drawn, lens = _photo(_draw(0.004, 0.003)), _lens(_planes(0.004, 0.003))
    plain, _ = align_colours(drawn, lens, None)
    hot = drawn.mosaic.copy()
    hot[200, 300] = 65535
    missing = np.zeros(SIZE, np.bool_)
    missing[200, 300] = True
    found, _ = align_colours(replace(drawn, mosaic=hot), lens, missing)
    assert np.abs(found.mosaic.astype(float) - plain.mosaic).max() < 200


def test_offsets_are_those_of_colours_at_the_place_where_green_shows_the_same() -> None:
    """Against the inverse of green's warp by iteration."""
    warp = WarpRectilinear(
        ((0.955, 0.05, 0, 0, 0, 0), (0.95, 0.05, 0, 0, 0, 0), (0.945, 0.05, 0, 0, 0, 0)), (0.5, 0.48)
    )
    y, x = np.array([[20.0, 200.0, 400.0]]), np.array([[50.0, 301.0, 580.0]])
    down, across = y + 0.5, x + 0.5
    for _ in range(60):
        seen = warp.find_sources((down, across), SIZE, 1)
        down, across = down - (seen[0] - y - 0.5), across - (seen[1] - x - 0.5)
    red = warp.find_sources((down, across), SIZE, 0)
    found = find_lateral_offsets(_lens(warp), y, x, 0)
    np.testing.assert_allclose(found, (red[0] - y - 0.5, red[1] - x - 0.5), atol=5e-3)


def test_a_linear_dng_leaves_it_to_readers_and_a_picture_does_not(tmp_path: Path) -> None:
    source = tmp_path / "a.dng"
    fields = opcode_fields(pixels=(_planes(0.004, 0.003),))
    write_dng(source, _codes(_draw(0.004, 0.003)), Cfa.from_name("RGGB"), CAMERA, changed=fields)
    photo = develop(source, look="neutral", denoise="off", quality="fast", threads=1)
    assert any("red or blue by" in notice for notice in photo.metadata["notices"])
    assert prepare(source, Settings()).lens.aligned > 0
    assert prepare(source, Settings(), linear=True).lens.aligned == 0
    off = np.ptp(photo.image.astype(float), axis=2)[20:-20, 20:-20].mean()
    plain = develop(source, look="neutral", denoise="off", quality="fast", threads=1, lens="off")
    assert off < 0.3 * np.ptp(plain.image.astype(float), axis=2)[20:-20, 20:-20].mean()
