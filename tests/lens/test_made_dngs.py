"""A made DNG for each opcode: the picture is that of the same DNG without it, taken by the formula."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from scipy.ndimage import map_coordinates

import demosaic_ntc
from demosaic_ntc.arrays import Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.developing.settings import Development, Engine, Settings
from demosaic_ntc.io.tiff_tags import SHORT, Field
from demosaic_ntc.raw.opcodes.area import Area, Window
from demosaic_ntc.raw.opcodes.parameters import Opcode
from demosaic_ntc.raw.opcodes.pixel_opcodes import (
    DeltaPerColumn,
    DeltaPerRow,
    FixVignetteRadial,
    GainMap,
    MapPolynomial,
    MapTable,
    PixelOpcode,
    ScalePerColumn,
    ScalePerRow,
)
from demosaic_ntc.raw.opcodes.sensor_opcodes import FixBadPixelsConstant, FixBadPixelsList, TrimBounds
from demosaic_ntc.raw.opcodes.warps import Warp, WarpFisheye, WarpRectilinear
from demosaic_ntc.workflows.api import Developed
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import Camera, write_dng
from samples.linear_dng import linear_dng
from samples.opcodes import opcode_fields

HEIGHT, WIDTH = 96, 128
SIZE = (HEIGHT, WIDTH)
RGGB = Cfa.from_name("RGGB")
CAMERA = Camera(black=1024, white=15000, neutral=(1.0, 1.0, 1.0))
WHOLE = Area(0, 0, HEIGHT, WIDTH, 0, 1, 1, 1)
GAINS = np.linspace(1, 1.8, 12, dtype=np.float32).reshape(3, 4, 1)
PLAIN: dict[str, Any] = {
    "look": "neutral",
    "linear": True,
    "color_space": "camera",
    "white": "metadata",
    "bits": "float",
    "denoise": "off",
    "threads": 1,
}


def _scene(planes: int = 1) -> Float64:
    """A grey scene so smooth that any interpolation has it, (height, width, planes)."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    light = 0.25 + 0.12 * np.sin(x / 30) * np.cos(y / 25) + 0.0005 * x
    return np.repeat(light[..., None], planes, axis=2)


def _codes(light: Float64) -> Any:
    return np.rint(light * (CAMERA.white - CAMERA.black) + CAMERA.black).astype(np.uint16)


def _develop(
    folder: Path, kind: str, lists: Mapping[str, tuple[Opcode, ...]], camera: Camera = CAMERA, **how: Any
) -> Developed:
    """What we make of a scene in a mosaic or a linear DNG with some opcodes."""
    path = folder / "made.dng"
    if kind == "mosaic":
        write_dng(path, _codes(_scene())[..., 0], RGGB, camera, changed=opcode_fields(**lists))
    else:
        path.write_bytes(linear_dng(_codes(_scene(3)), camera, changed=opcode_fields(**lists)))
    method = {"method": "bilinear"} if kind == "mosaic" else {}
    return demosaic_ntc.develop(path, **{**PLAIN, **method, **how})


def _light(developed: Developed) -> Float64:
    return developed.image.astype(np.float64)


LINES = np.linspace(0.8, 1.2, WIDTH, dtype=np.float32)
OF_PIXELS: dict[str, PixelOpcode] = {
    "GainMap": GainMap(WHOLE, (0.5, 1 / 3), (0.0, 0.0), GAINS),
    "GainMap of a part": GainMap(Area(10, 20, 60, 90, 0, 1, 1, 1), (0.5, 1 / 3), (0.0, 0.0), GAINS),
    "FixVignetteRadial": FixVignetteRadial((0.4, 0.2, 0.1, 0.05, 0.02), (0.45, 0.55)),
    "MapTable": MapTable(WHOLE, np.rint(np.linspace(0, 1, 65536) ** 1.2 * 65535).astype(np.uint16)),
    "MapPolynomial": MapPolynomial(WHOLE, (0.01, 0.6, 0.5)),
    "DeltaPerRow": DeltaPerRow(WHOLE, (LINES[:HEIGHT] / 20).astype(np.float32)),
    "DeltaPerColumn": DeltaPerColumn(WHOLE, (LINES / 20).astype(np.float32)),
    "ScalePerRow": ScalePerRow(WHOLE, LINES[:HEIGHT]),
    "ScalePerColumn": ScalePerColumn(WHOLE, LINES),
}


def _all_planes(opcode: PixelOpcode) -> PixelOpcode:
    """The same for all planes of a picture."""
    if isinstance(opcode, FixVignetteRadial):
        return opcode
    area = replace(opcode.area, planes=3)
    fields = [getattr(opcode, name) for name in opcode.__slots__ if name != "area"]
    return type(opcode)(area, *fields)


@pytest.mark.parametrize("place", ["linear", "pixels"])
@pytest.mark.parametrize("kind", ["mosaic", "linear"])
@pytest.mark.parametrize("name", OF_PIXELS)
def test_pixels_are_taken_by_the_formula(tmp_path: Path, name: str, kind: str, place: str) -> None:
    one_plane = kind == "mosaic" and place == "linear"
    opcode = OF_PIXELS[name] if one_plane else _all_planes(OF_PIXELS[name])
    before = _light(_develop(tmp_path, kind, {}))
    after = _light(_develop(tmp_path, kind, {place: (opcode,)}))
    expected = before.astype(np.float32)
    for plane in range(3):  # in a mosaic every sample is of the one plane there is
        own = expected[..., plane : plane + 1].copy()
        (OF_PIXELS[name]).apply(own, Window.whole(SIZE))
        expected[..., plane] = own[..., 0]
    inner = slice(2, -2), slice(2, -2)
    wide = np.abs(after - expected)
    if name == "GainMap of a part" and one_plane:  # interpolation mixes rows on both sides of its border
        wide[8:12], wide[58:62], wide[:, 18:22], wide[:, 88:92] = 0, 0, 0, 0
    assert wide[inner].max() < 6e-4
    assert np.abs(after - before).max() > 0.01


@pytest.mark.parametrize("name", ["MapTable", "MapPolynomial", "DeltaPerRow", "ScalePerColumn"])
def test_the_first_list_acts_on_stored_values(tmp_path: Path, name: str) -> None:
    opcode = OF_PIXELS[name]
    after = _light(_develop(tmp_path, "mosaic", {"stored": (opcode,)}))
    stored = (_codes(_scene()) / 65535).astype(np.float32)
    opcode.apply(stored, Window.whole(SIZE))
    expected = (stored.astype(np.float64) * 65535 - CAMERA.black) / (CAMERA.white - CAMERA.black)
    inner = slice(2, -2), slice(2, -2)
    assert np.abs(after - np.clip(expected, 0, 1))[inner].max() < 1e-3


def test_maps_of_the_four_sites_even_out_a_shading_of_colours(tmp_path: Path) -> None:
    levels = np.array([[1.9, 1.5], [1.52, 1.3]])
    gains = np.linspace(1, 2, 5, dtype=np.float32) - 1
    maps = tuple(
        GainMap(
            Area(site[0], site[1], HEIGHT, WIDTH, 0, 1, 2, 2),
            (1.0, 0.25),
            (0.0, 0.0),
            (1 + gains * (levels[site] - 1))[None, :, None].repeat(2, axis=0),
        )
        for site in np.ndindex(2, 2)
    )
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    shade = 1 / (1 + (x + 0.5) / WIDTH * (levels[y % 2, x % 2] - 1))
    path, even = tmp_path / "shaded.dng", _light(_develop(tmp_path, "mosaic", {}))
    write_dng(path, _codes(_scene()[..., 0] * shade), RGGB, CAMERA, changed=opcode_fields(linear=maps))
    for method in ("bilinear", "gaussian"):
        found = _light(demosaic_ntc.develop(path, **{**PLAIN, "method": method}))
        assert np.abs(found - even)[2:-2, 2:-2].max() < 1.5e-3
    off = _light(demosaic_ntc.develop(path, **PLAIN, lens="off", method="bilinear"))
    assert np.abs(off - even).max() > 0.1


def _move(before: Float64, warp: Any) -> Float64:
    """A picture moved by cubic interpolation, which has any smooth scene."""
    places = np.meshgrid(*(np.arange(side) + 0.5 for side in SIZE), indexing="ij")
    moved = [
        map_coordinates(
            before[..., channel],
            np.stack(warp.find_sources((places[0], places[1]), SIZE, channel)) - 0.5,
            order=3,
            mode="nearest",
        )
        for channel in range(3)
    ]
    return np.stack(moved, axis=2)


WARPS: dict[str, Warp] = {
    "WarpRectilinear": WarpRectilinear(
        ((0.94, 0.03, 0, 0, 0.001, 0.002), (0.95, 0.03, 0, 0, 0, 0.002), (0.93, 0.03, 0, 0, 0, 0)),
        (0.5, 0.48),
    ),
    "WarpFisheye": WarpFisheye(((0.9, 0.2, 0, 0), (0.91, 0.2, 0, 0), (0.92, 0.2, 0, 0)), (0.5, 0.5)),
}


@pytest.mark.parametrize("kind", ["mosaic", "linear"])
@pytest.mark.parametrize("name", WARPS)
def test_pixels_are_moved_by_the_formula(tmp_path: Path, name: str, kind: str) -> None:
    before = _light(_develop(tmp_path, kind, {}))
    after = _light(_develop(tmp_path, kind, {"pixels": (WARPS[name],)}))
    inner = slice(3, -3), slice(3, -3)
    assert np.abs(after - _move(before, WARPS[name]))[inner].max() < 1e-3
    assert np.abs(after - before)[inner].max() > 0.01


def test_two_warps_and_gains_around_them_are_done_in_their_order(tmp_path: Path) -> None:
    """Red and blue are moved in samples, before the first gains, which vary a little."""
    first, second = WARPS["WarpRectilinear"], WarpRectilinear(((0.97, 0, 0, 0, 0.01, 0),), (0.5, 0.5))
    vignette = OF_PIXELS["FixVignetteRadial"]
    before = _light(_develop(tmp_path, "mosaic", {}))
    after = _light(_develop(tmp_path, "mosaic", {"pixels": (vignette, first, second, vignette)}))
    expected = before.astype(np.float32)
    vignette.apply(expected, Window.whole(SIZE))
    expected = _move(_move(expected.astype(np.float64), first), second).astype(np.float32)
    vignette.apply(expected, Window.whole(SIZE))
    off = np.abs(after - expected)[4:-4, 4:-4]
    assert off[..., 1].max() < 1.5e-3
    assert off.max() < 0.02


def test_half_a_picture_is_moved_and_brightened_alike(tmp_path: Path) -> None:
    lists = {"linear": (OF_PIXELS["GainMap"],), "pixels": (WARPS["WarpRectilinear"],)}
    whole = _light(_develop(tmp_path, "mosaic", lists))
    half = _light(_develop(tmp_path, "mosaic", lists, half=True))
    means = whole.reshape(HEIGHT // 2, 2, WIDTH // 2, 2, 3).mean(axis=(1, 3))
    assert np.abs(half - means)[3:-3, 3:-3].max() < 2e-3


@pytest.mark.parametrize("orientation", [2, 6, 8])
def test_turned_pictures_are_turned_after_they_are_moved(tmp_path: Path, orientation: int) -> None:
    from demosaic_ntc.io.pixels import orient

    lists = {"linear": (OF_PIXELS["GainMap"],), "pixels": (WARPS["WarpRectilinear"],)}
    turned = Camera(black=1024, white=15000, neutral=(1.0, 1.0, 1.0), orientation=orientation)
    upright = _light(_develop(tmp_path, "mosaic", lists))
    found = _light(_develop(tmp_path, "mosaic", lists, camera=turned))
    assert np.array_equal(found, orient(upright, orientation))


def test_masked_borders_are_no_part_of_the_image(tmp_path: Path) -> None:
    lists = {"linear": (OF_PIXELS["GainMap"],), "pixels": (WARPS["WarpRectilinear"],)}
    masked = Camera(black=1024, white=15000, neutral=(1.0, 1.0, 1.0), margins=(8, 12))
    plain = _light(_develop(tmp_path, "mosaic", lists))
    assert np.array_equal(_light(_develop(tmp_path, "mosaic", lists, camera=masked)), plain)
    bad = {"stored": (FixBadPixelsList(np.array([[48, 62]], np.uint32), np.zeros((0, 4), np.uint32)),)}
    found = _develop(tmp_path, "mosaic", bad, camera=masked)
    assert any("calls 1 samples bad" in notice for notice in found.facts.notices)


@pytest.mark.parametrize("kind", ["constant", "list"])
def test_bad_samples_are_completed_from_their_neighbours(tmp_path: Path, kind: str) -> None:
    codes = _codes(_scene())[..., 0]
    truth = _light(_develop(tmp_path, "mosaic", {}, method="gaussian"))
    codes[40, 50], codes[60:62, 70:74] = 0, 0
    listed = FixBadPixelsList(np.array([[40, 50]], np.uint32), np.array([[60, 70, 62, 74]], np.uint32))
    opcode = FixBadPixelsConstant(0) if kind == "constant" else listed
    path = tmp_path / "bad.dng"
    write_dng(path, codes, RGGB, CAMERA, changed=opcode_fields(stored=(opcode,)))
    found = demosaic_ntc.develop(path, **PLAIN, method="gaussian")
    assert np.abs(_light(found) - truth).max() < 3e-3
    assert any("calls 9 samples bad" in notice for notice in found.facts.notices)
    left = _light(demosaic_ntc.develop(path, **PLAIN, method="gaussian", bad_pixels="off"))
    assert np.abs(left - truth).max() > 0.1


@pytest.mark.parametrize("place", ["stored", "linear"])
def test_bounds_trim_the_picture(tmp_path: Path, place: str) -> None:
    whole = _light(_develop(tmp_path, "mosaic", {}))
    found = _light(_develop(tmp_path, "mosaic", {place: (TrimBounds(6, 10, 90, 120),)}))
    assert np.array_equal(found, whole[6:90, 10:120])
    assert (
        _develop(tmp_path, "mosaic", {place: (TrimBounds(6, 10, 90, 120),)}, crop="visible").image.shape[:2]
        == SIZE
    )


PARTS: dict[Any, tuple[bool, bool, bool]] = {
    "auto": (True, True, True),
    "off": (False, False, False),
    ("distortion",): (True, False, False),
    ("vignetting",): (False, True, False),
    ("ca",): (False, False, True),
    ("distortion", "vignetting"): (True, True, False),
}


@pytest.mark.parametrize("wanted", PARTS)
def test_parts_are_done_that_are_asked_for(tmp_path: Path, wanted: Any) -> None:
    distorts, brightens, parts_colours = PARTS[wanted]
    lists: dict[str, tuple[Opcode, ...]] = {
        "linear": (OF_PIXELS["GainMap"],),
        "pixels": (WARPS["WarpRectilinear"], OF_PIXELS["FixVignetteRadial"]),
    }
    found = _develop(tmp_path, "mosaic", lists, lens=wanted)
    (said,) = [notice for notice in found.facts.notices if "lens corrected" in notice] or [""]
    assert ("times brighter" in said) == brightens
    assert ("FixVignetteRadial" in said) == brightens
    assert ("pixels moved" in said) == distorts
    assert ("red or blue" in said) == parts_colours
    if wanted == "off":
        assert np.array_equal(_light(found), _light(_develop(tmp_path, "mosaic", {})))


def test_noise_is_taken_off_as_if_it_were_even_and_comes_out_scaled_by_the_gain(tmp_path: Path) -> None:
    """Deviations of samples of one brightness are the gain times those of the sensor."""
    rng = np.random.default_rng(3)
    noisy = 0.2 + 0.01 * rng.standard_normal(SIZE)
    gains = np.array([1.0, 1.0, 2.5, 2.5], np.float32)[None, :, None].repeat(2, axis=0)
    step = GainMap(WHOLE, (1.0, 1 / 3), (0.0, 0.0), gains)
    path = tmp_path / "noisy.dng"
    write_dng(path, _codes(noisy), RGGB, CAMERA, changed=opcode_fields(linear=(step,)))
    found = _light(demosaic_ntc.develop(path, **PLAIN, method="bilinear"))
    left, right = found[:, :40, 1].std(), found[:, 90:, 1].std()
    assert right / left == pytest.approx(2.5, rel=0.1)
    how = {**PLAIN, "denoise": 1.0, "noise": NoiseModel.of_pairs((1e-6, 1e-4))}
    calm = _light(demosaic_ntc.develop(path, **how))
    assert calm[:, :40, 1].std() < 0.35 * left
    assert calm[:, 90:, 1].std() < 0.35 * right


def test_saturated_corners_are_white_and_not_the_colour_of_their_gains(tmp_path: Path) -> None:
    levels = {(0, 0): 1.8, (0, 1): 1.4, (1, 0): 1.4, (1, 1): 1.2}
    maps = tuple(
        GainMap(
            Area(site[0], site[1], HEIGHT, WIDTH, 0, 1, 2, 2),
            (1, 1),
            (0, 0),
            np.full((2, 2, 1), level, np.float32),
        )
        for site, level in levels.items()
    )
    path = tmp_path / "white.dng"
    write_dng(path, np.full(SIZE, CAMERA.white, np.uint16), RGGB, CAMERA, changed=opcode_fields(linear=maps))
    for highlights in ("clip", "reconstruct"):
        found = demosaic_ntc.develop(path, **{**PLAIN, "linear": False}, highlights=highlights)
        assert np.ptp(_light(found)[5:-5, 5:-5], axis=2).max() < 0.005
    path = tmp_path / "bright.dng"  # unclipped light above the white of another colour has its gains as well
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    own = np.array([[1 / 1.8, 1 / 1.4], [1 / 1.4, 1 / 1.2]])[y % 2, x % 2]
    hill = 2.6 * np.exp(-(((y - 48) / 40) ** 2 + ((x - 64) / 50) ** 2))
    write_dng(path, _codes(np.minimum(hill * own, 1)), RGGB, CAMERA, changed=opcode_fields(linear=maps))
    found = demosaic_ntc.develop(
        path, **{**PLAIN, "method": "bilinear", "exposure": -2.0}, highlights="reconstruct"
    )
    light = 4 * _light(found)[5:-5, 5:-5] / hill[5:-5, 5:-5, None]
    shown = (hill[5:-5, 5:-5] > 0.5) & (hill[5:-5, 5:-5] < 1.6)
    assert np.ptp(light[shown], axis=1).max() < 0.05


@pytest.mark.parametrize("hides", [False, True])
def test_bad_values_are_found_behind_a_linearisation_table(tmp_path: Path, hides: bool) -> None:
    """Stored numbers are a quarter of the samples; where two become the same, nothing is called bad."""
    codes, bad = _codes(_scene())[..., 0], 7
    table = (np.arange(4096) * 4 + 100).clip(0, 65535)
    if hides:
        table[8] = table[7]
    stored = np.rint((codes - 100) / 4).astype(np.uint16)
    stored[40, 50] = bad
    changed = {
        50712: Field(SHORT, tuple(table.tolist())),
        **opcode_fields(stored=(FixBadPixelsConstant(bad),)),
    }
    path = tmp_path / "table.dng"
    write_dng(path, stored, RGGB, CAMERA, changed=changed)
    found = demosaic_ntc.develop(path, **PLAIN, method="gaussian").facts.notices
    assert any("calls 1 samples bad" in notice for notice in found) != hides
    assert any("table hides its value" in notice for notice in found) == hides


def test_error_maps_are_moved_with_their_pixels(tmp_path: Path) -> None:
    """A part of a noisy scene is far less certain: where the warp takes it, the map says so."""
    rng = np.random.default_rng(1)
    light = _scene()[..., 0] + np.where(np.arange(WIDTH) > 64, 0.02, 0.001) * rng.standard_normal(SIZE)
    warp = WarpRectilinear(((0.9, 0.05, 0, 0, 0, 0),), (0.5, 0.5))
    maps = []
    for name, lists in (("plain", {}), ("warped", {"pixels": (warp,)})):
        path, place = tmp_path / f"{name}.dng", tmp_path / f"{name}.tif"
        write_dng(path, _codes(light), RGGB, CAMERA, changed=opcode_fields(**lists))
        how = Development(look="neutral", linear=True, space="camera", white="metadata", denoise=1.0)
        settings = Settings(development=how, engine=Engine(quality="fast"))
        convert_file(path, tmp_path / f"{name}.png", settings, error_map=place)
        maps.append(np.asarray(tifffile.imread(place), np.float64))
    plain, warped = maps
    y, x = np.meshgrid(*(np.arange(side) + 0.5 for side in SIZE), indexing="ij")
    places = np.stack(warp.find_sources((y, x), SIZE, 1)) - 0.5
    expected = np.stack(
        [map_coordinates(plain[..., channel], places, order=1, mode="nearest") for channel in range(3)],
        axis=2,
    )
    assert np.abs(warped - expected).max() < 0.06 * plain.max()
    assert np.abs(warped - expected).mean() < 0.01 * plain.mean()
    assert np.abs(warped - plain).max() > 0.1 * plain.max()
