"""Colours equal LibRaw's: the same matrices, levels and balance, compared pixel by pixel."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import rawpy
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Development, Engine, Settings
from demosaic_ntc.io.tiff_tags import BYTE, LONG, Field
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene

SPACES = {
    "srgb": rawpy.ColorSpace.sRGB,
    "adobe": rawpy.ColorSpace.Adobe,
    "prophoto": rawpy.ColorSpace.ProPhoto,
    "rec2020": rawpy.ColorSpace.Rec2020,
    "p3": rawpy.ColorSpace.P3D65,
}

# Mean absolute difference as a share of full scale; interpolating under a curve instead of linear light
# accounts for most of it.
TOLERANCE = 0.0025


def _ours(source: Path, target: Path, **development: Any) -> NDArray[np.float64]:
    """Our picture, as shares of full scale."""
    settings = Settings(
        development=Development(**{"look": "neutral", "white": "metadata", "crop": "visible", **development}),
        engine=Engine(method="bilinear"),
    )
    convert_file(source, target, settings)
    picture = cv2.imread(str(target), cv2.IMREAD_UNCHANGED)
    assert picture is not None
    return np.asarray(picture[..., ::-1], dtype=np.float64) / 65535


def _librarys(source: Path, **parameters: Any) -> NDArray[np.float64]:
    """LibRaw's picture with the same settings."""
    usual = {
        "demosaic_algorithm": rawpy.DemosaicAlgorithm.LINEAR,
        "use_camera_wb": True,
        "no_auto_bright": True,
        "adjust_maximum_thr": 0.0,
        "gamma": (2.4, 12.92),
        "output_bps": 16,
    }
    with rawpy.imread(str(source)) as raw:
        return np.asarray(raw.postprocess(**{**usual, **parameters})) / 65535.0


def _difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The mean absolute difference away from clipped pixels."""
    assert ours.shape == theirs.shape
    unclipped = (ours < 1).all(axis=-1) & (theirs < 1).all(axis=-1)
    assert unclipped.mean() > 0.5
    return float(np.abs(ours - theirs)[unclipped].mean())


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["IMG_0848.CR2", "RAW_KODAK_DC50.KDC", "colorchart_tinydng.dng", "minhtcai_test.dng"]
)
def test_camera_raws_look_as_libraw_shows_them(tmp_path: Path, raws: list[Path], name: str) -> None:
    (source,) = [raw for raw in raws if raw.name == name]
    assert _difference(_ours(source, tmp_path / "a.png"), _librarys(source)) < TOLERANCE


@pytest.mark.data
def test_every_decodable_raw_of_the_test_data_is_compared(raws: list[Path]) -> None:
    assert len(raws) == 4


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A picture without detail: only its colours are compared."""
    path = tmp_path_factory.mktemp("smooth") / "smooth.dng"
    y, x = np.mgrid[0:60, 0:80] / 80
    light = np.stack([0.1 + 0.5 * x, 0.6 - 0.4 * y, 0.2 + 0.3 * y * x], axis=-1)
    cfa = Cfa.from_name("RGGB")
    write_dng(path, exposed(light, cfa, Camera()), cfa, Camera())
    return path


@pytest.mark.parametrize("space", SPACES)
def test_every_colour_space_equals_libraws(tmp_path: Path, smooth: Path, space: str) -> None:
    ours = _ours(smooth, tmp_path / "a.png", space=space, linear=True)
    assert _difference(ours, _librarys(smooth, output_color=SPACES[space], gamma=(1, 1))) < 0.0005


@pytest.mark.parametrize("array", ["RGGB", "GRBG", "GBRG", "BGGR", "XTRANS"])
def test_every_array_equals_libraws(tmp_path: Path, array: str) -> None:
    source, cfa = tmp_path / "a.dng", Cfa.from_name(array)
    y, x = np.mgrid[0:60, 0:80] / 80
    light = np.stack([0.1 + 0.5 * x, 0.6 - 0.4 * y, 0.2 + 0.3 * y * x], axis=-1)
    write_dng(source, exposed(light, cfa, Camera()), cfa, Camera())
    inner = (slice(6, -6), slice(6, -6))
    assert _difference(_ours(source, tmp_path / "a.png")[inner], _librarys(source)[inner]) < 0.002


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_equals_libraws(tmp_path: Path, orientation: int) -> None:
    source, cfa = tmp_path / "a.dng", Cfa.from_name("GRBG")
    light = light_of(rounded(scene(36, 48)))
    camera = Camera(orientation=orientation)
    write_dng(source, exposed(light, cfa, camera), cfa, camera)
    assert _difference(_ours(source, tmp_path / "a.png"), _librarys(source)) < 0.02


def test_grey_world_balance_equals_libraws(tmp_path: Path, smooth: Path) -> None:
    theirs = _librarys(smooth, use_camera_wb=False, use_auto_wb=True)
    assert _difference(_ours(smooth, tmp_path / "a.png", balance="auto"), theirs) < 0.001


def test_given_multipliers_equal_libraws(tmp_path: Path, smooth: Path) -> None:
    theirs = _librarys(smooth, use_camera_wb=False, user_wb=[1.5, 1.0, 2.5, 1.0])
    assert _difference(_ours(smooth, tmp_path / "a.png", balance=(1.5, 1.0, 2.5)), theirs) < 0.001


def test_given_levels_equal_libraws(tmp_path: Path, smooth: Path) -> None:
    theirs = _librarys(smooth, user_black=300, user_sat=13700)  # LibRaw counts saturation from black
    assert _difference(_ours(smooth, tmp_path / "a.png", black=(300.0,), white=14000.0), theirs) < 0.001


def test_brightening_equals_libraws(tmp_path: Path, smooth: Path) -> None:
    theirs = _librarys(smooth, no_auto_bright=False)
    assert _difference(_ours(smooth, tmp_path / "a.png", exposure="auto"), theirs) < 0.002


def test_blended_highlights_equal_libraws(tmp_path: Path) -> None:
    """A light that clips in one channel after the other."""
    source, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    y, x = np.mgrid[0:60, 0:80] / 60
    light = np.stack([0.3 + 0.9 * x, 0.3 + 0.9 * x, 0.2 + 0.9 * y], axis=-1)
    write_dng(source, exposed(light, cfa, Camera()), cfa, Camera())
    theirs = _librarys(source, highlight_mode=rawpy.HighlightMode.Blend)
    ours = _ours(source, tmp_path / "a.png", highlights="blend")
    assert np.abs(ours - theirs).mean() < 0.003


def test_clipped_highlights_are_white_not_pink(tmp_path: Path) -> None:
    source, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    write_dng(source, exposed(np.full((40, 40, 3), 3.0), cfa, Camera()), cfa, Camera())
    assert _ours(source, tmp_path / "a.png").min() == 1.0


@pytest.mark.parametrize("seed", range(12))
def test_random_cameras_look_as_libraw_shows_them(tmp_path: Path, seed: int) -> None:
    """Any size, array, level, neutral, orientation and margin, odd ones included."""
    generator = np.random.default_rng(seed)
    source, cfa = (
        tmp_path / "a.dng",
        Cfa.from_name(str(generator.choice(["RGGB", "GRBG", "GBRG", "BGGR", "XTRANS"]))),
    )
    height, width, top, left = (
        int(n) for n in (*generator.integers(40, 90, 2), *generator.integers(0, 7, 2))
    )
    camera = Camera(
        black=float(generator.integers(0, 3000)),
        white=int(generator.integers(9000, 65536)),
        neutral=(float(generator.uniform(0.3, 1)), 1.0, float(generator.uniform(0.3, 1))),
        orientation=int(generator.integers(1, 9)),
    )
    y, x = np.mgrid[0:height, 0:width, 0:1][:2] / 90
    light = generator.uniform(0.05, 0.5, 3) + generator.uniform(0, 0.2, 3) * x + 0.1 * y
    tags = {
        50829: Field(LONG, (top, left, height, width)),
        33422: Field(BYTE, cfa.shift(top, left).pattern.tobytes()),
    }
    write_dng(source, exposed(light, cfa, camera), cfa, camera, changed=tags)
    inner = (slice(6, -6), slice(6, -6))
    assert _difference(_ours(source, tmp_path / "a.png")[inner], _librarys(source)[inner]) < 0.001
