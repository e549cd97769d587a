"""Dark frames and flat fields: made raws come out without dark current, hot pixels, dust and shading."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demosaic_ntc
from demosaic_ntc.arrays import Float64
from demosaic_ntc.batch.operations import Convert
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Development, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.exif import EXPOSURE_TIME, ISO, MODEL, Exif
from demosaic_ntc.io.tiff_tags import ASCII, RATIONAL, SHORT, Field
from demosaic_ntc.raw.opcodes.area import Area
from demosaic_ntc.raw.opcodes.pixel_opcodes import GainMap
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import Camera, write_dng
from samples.make_samples import EXIF
from samples.opcodes import opcode_fields

HEIGHT, WIDTH = 96, 128
CAMERA = Camera(black=512, white=15000, neutral=(1.0, 1.0, 1.0))
PLAIN: dict[str, Any] = {
    "look": "neutral",
    "linear": True,
    "color_space": "camera",
    "white": "metadata",
    "bits": "float",
    "denoise": "off",
    "method": "bilinear",
    "threads": 1,
}


def _scene() -> Float64:
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.asarray(0.3 + 0.1 * np.sin(x / 25) * np.cos(y / 21))


def _glow() -> Float64:
    """What the sensor reads in the dark: a glow in a corner, and a few hot pixels."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    glow = 400 * np.exp(-((x - 127.0) ** 2 + (y - 95.0) ** 2) / 1500)
    glow[20, 30], glow[61, 77], glow[40, 101] = 9000, 4000, 14000
    return np.asarray(glow)


def _shade(cfa: Cfa) -> Float64:
    """Shading of a lens that differs by colour, and a shadow of dust."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    square = ((x - 60.0) ** 2 + (y - 50.0) ** 2) / 80**2
    strength = np.array([0.45, 0.35, 0.25])[cfa.pattern[y % cfa.period[0], x % cfa.period[1]]]
    dust = 1 - 0.15 * np.exp(-((x - 90.0) ** 2 + (y - 30.0) ** 2) / (2 * 14**2))
    return np.asarray(dust / (1 + strength * square))


def _codes(light: Float64, above: Float64 | float = 0, seed: int | None = None) -> NDArray[np.uint16]:
    codes = light * (CAMERA.white - CAMERA.black) + CAMERA.black + above
    if seed is not None:
        codes = codes + np.random.default_rng(seed).normal(0, 12, light.shape)
    return np.clip(np.rint(codes), 0, CAMERA.white).astype(np.uint16)


def _write(path: Path, codes: NDArray[np.uint16], cfa: str = "RGGB", **more: Any) -> Path:
    write_dng(
        path, codes, Cfa.from_name(cfa), more.pop("camera", CAMERA), exif=more.pop("exif", EXIF), **more
    )
    return path


def _exif(**photo: Field) -> Exif:
    tags = {"iso": ISO, "seconds": EXPOSURE_TIME}
    return replace(EXIF, photo={**EXIF.photo, **{tags[name]: field for name, field in photo.items()}})


def _develop(path: Path, **how: Any) -> Float64:
    return demosaic_ntc.develop(path, **{**PLAIN, **how}).image.astype(np.float64)


@pytest.fixture(name="darks")
def _darks(tmp_path: Path) -> Path:
    folder = tmp_path / "darks"
    folder.mkdir()
    for seed in range(4):
        _write(folder / f"{seed}.dng", _codes(np.zeros((HEIGHT, WIDTH)), _glow(), seed))
    return folder


@pytest.fixture(name="flats")
def _flats(tmp_path: Path) -> Path:
    folder = tmp_path / "flats"
    folder.mkdir()
    for seed in range(4):
        even = np.full((HEIGHT, WIDTH), 0.6) * _shade(Cfa.from_name("RGGB"))
        codes = _codes(even, 0, seed)
        codes[12, 12] = CAMERA.white  # a hot pixel of the flats is no part of the light
        _write(folder / f"{seed}.dng", codes)
    return folder


@pytest.mark.parametrize("black", [512, 0])
def test_dark_current_and_hot_pixels_are_gone(tmp_path: Path, black: int) -> None:
    """Also where black is zero and noise has no room below it."""
    camera = replace(CAMERA, black=black)
    truth = _develop(_write(tmp_path / "truth.dng", _codes(_scene()) - 512 + black, camera=camera))
    paths = []
    for seed in range(8):
        codes = _codes(np.zeros((HEIGHT, WIDTH)), _glow() + 60, seed).astype(int) - 512 + black
        paths.append(_write(tmp_path / f"dark{seed}.dng", codes.astype(np.uint16), camera=camera))
    noisy = (_codes(_scene(), _glow() + 60) - 512 + black).astype(np.uint16)
    photo = _write(tmp_path / "photo.dng", noisy, camera=camera)
    found = _develop(photo, dark=paths, method="gaussian", bad_pixels="auto")
    assert np.abs(found - truth).max() < 0.006
    assert abs((found - truth).mean()) < 2e-4
    assert np.abs(_develop(photo, bad_pixels="off") - truth).max() > 0.2


def test_what_is_saturated_stays_so(tmp_path: Path, darks: Path) -> None:
    light = _scene()
    light[30:60, 100:] = 2.0
    found = _develop(_write(tmp_path / "photo.dng", _codes(light, _glow())), dark=darks)
    assert found[34:56, 104:124].min() > 0.999


def test_hot_pixels_are_only_subtracted_where_none_are_to_be_replaced(tmp_path: Path, darks: Path) -> None:
    photo = _write(tmp_path / "photo.dng", _codes(_scene(), _glow()))
    notices = demosaic_ntc.develop(photo, **PLAIN, dark=darks, bad_pixels="off").facts.notices
    assert any("mean of 4 dark frames" in each and "hot" not in each for each in notices)
    notices = demosaic_ntc.develop(photo, **PLAIN, dark=darks).facts.notices
    assert any("3 hot pixels were replaced" in each for each in notices)


@pytest.mark.parametrize("array", ["RGGB", "XTRANS"])
def test_shading_and_dust_are_gone(tmp_path: Path, array: str) -> None:
    """Every colour by its own gains, within a percent of the even picture."""
    cfa = Cfa.from_name(array)
    flats = [
        _write(tmp_path / f"flat{seed}.dng", _codes(0.6 * _shade(cfa), 0, seed), array) for seed in range(6)
    ]
    truth = _develop(_write(tmp_path / "truth.dng", _codes(_scene()), array))
    photo = _write(tmp_path / "photo.dng", _codes(_scene() * _shade(cfa)), array)
    found, inner = _develop(photo, flat=flats), (slice(8, -8), slice(8, -8))
    ratio = (found / truth)[inner]
    assert np.abs(ratio - 1).max() < 0.02
    assert np.abs(ratio.mean(axis=(0, 1)) - 1).max() < 0.006
    assert np.abs((_develop(photo) / truth)[inner] - 1).max() > 0.2


def test_flats_stand_in_for_the_shading_that_a_file_states(tmp_path: Path, flats: Path) -> None:
    map_ = GainMap(Area(0, 0, HEIGHT, WIDTH, 0, 1, 1, 1), (1, 1), (0, 0), np.full((2, 2, 1), 1.5, np.float32))
    codes = _codes(_scene() * _shade(Cfa.from_name("RGGB")))
    stated = _write(tmp_path / "stated.dng", codes, changed=opcode_fields(linear=(map_,)))
    plain = _write(tmp_path / "plain.dng", codes)
    assert np.array_equal(_develop(stated, flat=flats), _develop(plain, flat=flats))
    notices = demosaic_ntc.develop(stated, **PLAIN, flat=flats).facts.notices
    assert any("by flat frames" in each for each in notices)


def test_both_are_in_a_linear_dng(tmp_path: Path, darks: Path, flats: Path) -> None:
    codes = _codes(_scene() * _shade(Cfa.from_name("RGGB")), _glow())
    photo, frames = _write(tmp_path / "photo.dng", codes), {"dark": darks, "flat": flats}
    settings = Settings.of(
        {
            **{name: value for name, value in PLAIN.items() if name not in ("bits", "linear", "color_space")},
            **{name: tuple(sorted(folder.iterdir())) for name, folder in frames.items()},
        }
    )
    convert_file(photo, tmp_path / "linear.dng", settings)
    direct, again = _develop(photo, **frames), _develop(tmp_path / "linear.dng", method="gaussian")
    assert np.abs(direct - again).max() < 2e-3


def test_frames_are_named_by_file_folder_or_pattern(tmp_path: Path, darks: Path) -> None:
    photo = _write(tmp_path / "photo.dng", _codes(_scene(), _glow()))
    wanted = _develop(photo, dark=darks)
    assert np.array_equal(_develop(photo, dark=str(darks / "*.dng")), wanted)
    assert np.array_equal(_develop(photo, dark=[str(each) for each in darks.iterdir()]), wanted)
    assert not np.array_equal(_develop(photo, dark=darks / "0.dng"), wanted)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "size": ({"codes": _codes(np.zeros((64, 128)))}, "of 128×64 pixels"),
    "array": ({"cfa": "BGGR"}, "BGGR"),
    "camera": (
        {"exif": replace(EXIF, image={**EXIF.image, MODEL: Field(ASCII, b"Other\0")})},
        "use the same camera",
    ),
    "iso": ({"exif": _exif(iso=Field(SHORT, (800,)))}, "ISO 800, the photo at ISO 200"),
    "exposure": ({"exif": _exif(seconds=Field(RATIONAL, (Fraction(1, 30),)))}, "expose it as long"),
    "light": ({"codes": _codes(np.full((HEIGHT, WIDTH), 0.5))}, "is not dark"),
}


@pytest.mark.parametrize("name", WRONG)
def test_dark_frames_that_do_not_fit_are_refused(tmp_path: Path, name: str) -> None:
    given, reason = WRONG[name]
    usual = {"codes": _codes(np.zeros((HEIGHT, WIDTH)))}
    dark, photo = (
        _write(tmp_path / "dark.dng", **{**usual, **given}),
        _write(tmp_path / "a.dng", _codes(_scene())),
    )
    with pytest.raises(InputError, match=reason) as raised:
        _develop(photo, dark=dark)
    assert str(dark) in str(raised.value)


@pytest.mark.parametrize(("light", "reason"), [(0.005, "too dark"), (1.5, "overexposed")])
def test_flat_frames_without_use_are_refused(tmp_path: Path, light: float, reason: str) -> None:
    flat = _write(tmp_path / "flat.dng", _codes(np.full((HEIGHT, WIDTH), light)))
    with pytest.raises(InputError, match=reason):
        _develop(_write(tmp_path / "a.dng", _codes(_scene())), flat=flat)


def test_no_frames_are_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for given in (tmp_path / "empty", str(tmp_path / "*.nef")):
        with pytest.raises(InputError, match="there is no file"):
            _develop(_write(tmp_path / "a.dng", _codes(_scene())), dark=given)


def test_a_frame_that_changed_is_read_again(tmp_path: Path) -> None:
    photo, dark = _write(tmp_path / "a.dng", _codes(_scene())), tmp_path / "dark.dng"
    _write(dark, _codes(np.zeros((HEIGHT, WIDTH)), 100))
    first = _develop(photo, dark=dark)
    _write(dark, _codes(np.zeros((HEIGHT, WIDTH)), 200), exif=None)
    assert np.median(first - _develop(photo, dark=dark)) == pytest.approx(100 / 14488, rel=0.05)


def test_batches_tell_frames_apart_by_their_content(tmp_path: Path, darks: Path) -> None:
    def name(dark: tuple[Path, ...] | None = None, flat: tuple[Path, ...] | None = None) -> str:
        return Convert(Settings(development=Development(dark=dark, flat=flat))).fingerprint

    one, two = darks / "0.dng", darks / "1.dng"
    copied = tmp_path / "copied.dng"
    copied.write_bytes(one.read_bytes())
    names = [name(), name((one,)), name((two,)), name((one, two)), name(flat=(one,))]
    assert len(set(names)) == len(names)
    assert name((copied,)) == name((one,))
