"""Expected errors from the engine to the file: every step changes them as it changes the pixels."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing import preprocess
from demosaic_ntc.developing.render import Finish, finish_error
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.errors import DiskFull, Exists, InputError, NotWritable
from demosaic_ntc.images.error_map import Expected, check_asked, write_error_map
from demosaic_ntc.io.colour import LINEAR_CURVE, SPACES, SRGB_CURVE, Curve
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.io.tiff_tags import LONG, Field
from demosaic_ntc.run import Run
from demosaic_ntc.workflows import conversion
from demosaic_ntc.workflows.conversion import convert_file
from demosaic_ntc.workflows.repair import repair_file
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene
from tests.images.picture_files import HEIGHT, KINDS, WIDTH, scratch, write_mask

Floats = NDArray[np.float32]

CURVES = [*(space.curve for space in SPACES.values()), LINEAR_CURVE]
PLAIN = Finish(SPACES["srgb"], np.eye(3))
LINEAR = replace(PLAIN, space=replace(SPACES["srgb"], curve=LINEAR_CURVE))
FAST = Engine(quality="fast")
MIXING = np.array([[1.6, -0.4, -0.2], [-0.3, 1.5, -0.2], [0.0, -0.5, 1.5]])


def _encoded(*light: float) -> Floats:
    """A picture of one pixel."""
    return SRGB_CURVE.encode(np.array(light).reshape(1, 1, 3)).astype(np.float32)


def _errors(*deviations: float) -> Floats:
    return np.array(deviations, np.float32).reshape(1, 1, 3)


def _map(path: Path) -> Floats:
    stored = tifffile.imread(path)
    assert stored.dtype == np.float32
    return np.asarray(stored)


def _orientation(path: Path) -> int:
    with tifffile.TiffFile(path) as picture:
        page = picture.pages.first
        assert isinstance(page, tifffile.TiffPage)
        return int(page.tags[274].value)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_steepness_is_the_derivative_of_the_code(curve: Curve) -> None:
    light = np.array([0.005, 0.02, 0.1, 0.5, 1.0])
    slope = (curve.encode(light + 1e-7) - curve.encode(light - 1e-7)) / 2e-7
    assert curve.steepness(light.astype(np.float32)) == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_steepness_is_finite_at_black_below_it_and_above_white(curve: Curve) -> None:
    steep = curve.steepness(np.array([-1.0, -1e-6, 0.0, 1e-9, 1.0, 2.0], np.float32))
    assert (np.isfinite(steep) & (steep > 0)).all()
    assert steep[:4].max() < 13


def test_the_engines_curve_and_that_of_srgb_cancel() -> None:
    """Without a matrix the code values are what the engine works on, up to the scale, whatever the lift."""
    image, error = _encoded(0.002, 0.3, 0.9) + np.float32(0.1), _errors(0.01, 0.02, 0.03)
    assert finish_error(image, error, 0.1, PLAIN) == pytest.approx(error * 65535, rel=1e-3)
    assert finish_error(image, error, 0.1, replace(PLAIN, bits=8)) == pytest.approx(error * 255, rel=1e-3)


def test_measured_entries_stay_certain_without_a_matrix() -> None:
    found = finish_error(_encoded(0.2, 0.3, 0.4), _errors(0, 0.01, 0), 0.0, PLAIN)
    assert found[0, 0] == pytest.approx([0, 0.01 * 65535, 0], rel=1e-3, abs=1e-9)


def test_a_stop_doubles_the_errors_of_linear_light() -> None:
    image, error = _encoded(0.1, 0.2, 0.3), _errors(0.01, 0.01, 0.01)
    once, twice = (finish_error(image, error, 0.0, replace(LINEAR, gain=gain)) for gain in (1.0, 2.0))
    assert twice == pytest.approx(2 * once, rel=1e-6)
    steepness = SRGB_CURVE.steepness(np.array([0.1, 0.2, 0.3], np.float32))
    assert once[0, 0] == pytest.approx(0.01 * 65535 / steepness, rel=1e-3)


def test_linear_light_has_small_errors_in_the_dark_where_srgb_has_large_ones() -> None:
    image, error = _encoded(0.01, 0.2, 0.9), _errors(0.01, 0.01, 0.01)
    dark, _, bright = finish_error(image, error, 0.0, LINEAR)[0, 0]
    assert dark < 0.2 * bright
    assert np.ptp(finish_error(image, error, 0.0, PLAIN)) < 1


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("space", SPACES)
def test_errors_are_those_of_many_disturbed_pictures(space: str, bits: int) -> None:
    """Small independent errors of the engine's picture, sent through the exact formulas, one by one."""
    how = Finish(SPACES[space], MIXING, gain=1.3, bits=bits)
    image, error = _encoded(0.3, 0.25, 0.35), _errors(0.001, 0.003, 0.002)
    disturbed = image + error * np.random.default_rng(0).standard_normal((40000, 1, 3))
    codes = how.space.curve.encode(SRGB_CURVE.decode(disturbed) @ how.matrix) * (2**bits - 1)
    assert finish_error(image, error, 0.0, how)[0, 0] == pytest.approx(codes.std(axis=0)[0], rel=0.03)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("light", [-0.5, 0.0, 1.0, 1.5])
def test_clipped_values_have_finite_errors(space: str, light: float) -> None:
    how = replace(PLAIN, space=SPACES[space], camera_to_srgb=MIXING, gain=4.0)
    found = finish_error(_encoded(light, light, light), _errors(0.1, 0.1, 0.1), 0.0, how)
    assert (np.isfinite(found) & (found > 0)).all()


def test_values_beyond_white_are_as_uncertain_as_white() -> None:
    clipped = finish_error(_encoded(0.6, 0.6, 0.6), _errors(*[0.01] * 3), 0.0, replace(PLAIN, gain=4.0))
    there, at_white = SRGB_CURVE.steepness(np.array([0.6, 1.0], np.float32))
    at_clip = 4 * 0.01 / there * at_white * 65535
    assert clipped == pytest.approx(np.full((1, 1, 3), at_clip), rel=1e-3)


def test_large_maps_are_made_in_bands_without_seams() -> None:
    image, error = np.random.default_rng(0).random((2, 70, 8, 3), dtype=np.float32)
    whole_map = finish_error(image, error, 0.0, PLAIN)
    halves = [finish_error(image[part], error[part], 0.0, PLAIN) for part in (slice(37), slice(37, None))]
    assert np.array_equal(whole_map, np.concatenate(halves))


def _raw(path: Path, orientation: int = 1) -> Path:
    """A raw with a crop of its own."""
    cfa, camera = Cfa.from_name("RGGB"), Camera(orientation=orientation)
    tags = {50719: Field(LONG, (6, 4)), 50720: Field(LONG, (30, 20))}
    write_dng(path, exposed(light_of(rounded(scene(36, 48))), cfa, camera), cfa, camera, changed=tags)
    return path


def test_zero_at_measured_samples_in_the_cameras_own_colours(tmp_path: Path, small: Path) -> None:
    settings = Settings(development=Development(look="neutral", space="camera"), engine=FAST)
    done = convert_file(small, tmp_path / "a.png", settings, error_map=tmp_path / "e.tif")
    errors, measured = _map(tmp_path / "e.tif"), Cfa.from_name("RGGB").masks((36, 48))
    # The matrix of the camera's own space is the identity up to rounding.
    assert errors[measured].max() < 1e-3 * np.median(errors[~measured])
    assert errors[~measured].min() > 0
    assert done.error_map is not None
    assert done.error_map.rms == pytest.approx(np.sqrt(np.square(errors, dtype=np.float64).mean()), rel=1e-6)
    assert (done.error_map.target, done.error_map.white) == (tmp_path / "e.tif", 65535)


def test_the_lift_of_the_mosaic_is_undone(tmp_path: Path, small: Path) -> None:
    """With a black level above some samples the map in linear light is that of the engine's own picture."""
    how = Development(space="camera", linear=True, black=(1500.0,), denoise="off")
    settings = Settings(development=how, engine=FAST)
    convert_file(small, tmp_path / "a.tif", settings, None, tmp_path / "e.tif")
    ready = preprocess.prepare(small, settings)
    restored = preprocess.complete_mosaic(ready, FAST, Run(want_error=True))
    assert ready.mosaic.lift > 0.01
    assert restored.error is not None
    light = SRGB_CURVE.decode(np.asarray(restored.image, np.float64) - ready.mosaic.lift).astype(np.float32)
    expected = restored.error / SRGB_CURVE.steepness(light) * 65535
    assert _map(tmp_path / "e.tif") == pytest.approx(expected, rel=1e-3, abs=0.01)


@pytest.mark.parametrize(("bits", "white"), [(8, 255), (16, 65535)])
def test_errors_are_in_code_values_of_the_picture(tmp_path: Path, small: Path, bits: int, white: int) -> None:
    settings = Settings(engine=FAST, output=Output(bits=bits))
    done = convert_file(small, tmp_path / "a.png", settings, error_map=tmp_path / "e.tif")
    assert done.error_map is not None
    assert done.error_map.white == white
    assert 0.0005 * white < done.error_map.rms < 0.2 * white


@pytest.mark.parametrize("orientation", [1, 6, 7])
def test_the_map_lies_as_the_picture_does(tmp_path: Path, orientation: int) -> None:
    """Cut and turned, it is the same part of the map of the whole sensor."""
    source = _raw(tmp_path / "a.dng", orientation)
    lying = Development(look="neutral", rotate=False, crop="visible")
    convert_file(
        source, tmp_path / "a.tif", Settings(development=lying, engine=FAST), None, tmp_path / "1.tif"
    )
    cut = Settings(development=Development(look="neutral"), engine=FAST)
    convert_file(source, tmp_path / "b.tif", cut, None, tmp_path / "2.tif")
    straight, turned = _map(tmp_path / "1.tif"), _map(tmp_path / "2.tif")
    assert turned.shape == tifffile.imread(tmp_path / "b.tif").shape
    assert np.array_equal(turned, orient(straight[4:24, 6:36], orientation))
    tags = [_orientation(tmp_path / name) for name in ("a.tif", "1.tif", "b.tif", "2.tif")]
    assert tags == [orientation, orientation, 1, 1]


def test_the_picture_is_the_same_with_and_without_a_map(tmp_path: Path, small: Path) -> None:
    convert_file(small, tmp_path / "a.png", Settings(engine=FAST))
    convert_file(small, tmp_path / "b.png", Settings(engine=FAST), error_map=tmp_path / "e.tif")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_maps_that_make_no_sense_are_refused_before_the_work(tmp_path: Path, small: Path) -> None:
    seen: list[object] = []
    target, link = tmp_path / "a.tif", tmp_path / "link.tif"
    link.symlink_to(target)

    def convert(error_map: Path, method: str = "gaussian") -> None:
        convert_file(small, target, Settings(engine=Engine(method)), seen.append, error_map)

    with pytest.raises(InputError, match=r"ends in \.tif"):
        convert(tmp_path / "e.png")
    with pytest.raises(InputError, match="`method=gaussian`"):
        convert(tmp_path / "e.tif", "lmmse")
    for same in (target, link):
        with pytest.raises(InputError, match="choose another name"):
            convert(same)
    with pytest.raises(NotWritable, match="no folder"):
        convert(tmp_path / "missing" / "e.tif")
    (tmp_path / "e.tif").write_bytes(b"old")
    with pytest.raises(Exists, match="`overwrite`"):
        convert(tmp_path / "e.tif")
    assert (seen, (tmp_path / "e.tif").read_bytes()) == ([], b"old")
    assert not target.exists()


@pytest.mark.parametrize("name", ["e.tif", "e.TIFF"])
def test_both_endings_of_tiff_are_taken(name: str) -> None:
    check_asked(Path(name), "ntc")


def test_an_existing_map_is_replaced_where_that_is_allowed(tmp_path: Path, small: Path) -> None:
    (tmp_path / "e.tif").write_bytes(b"old")
    settings = Settings(engine=FAST, output=Output(overwrite=True))
    convert_file(small, tmp_path / "a.png", settings, error_map=tmp_path / "e.tif")
    assert _map(tmp_path / "e.tif").shape == (36, 48, 3)


@pytest.mark.parametrize("failing", ["write_picture", "write_error_map"])
def test_nothing_is_left_when_writing_fails(
    tmp_path: Path, small: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise DiskFull("no space left")

    monkeypatch.setattr(conversion, failing, full)
    with pytest.raises(DiskFull):
        convert_file(small, tmp_path / "a.png", Settings(engine=FAST), error_map=tmp_path / "e.tif")
    assert list(tmp_path.iterdir()) == []


def test_a_map_appears_with_its_picture_not_before(tmp_path: Path) -> None:
    target, expected = tmp_path / "e.tif", Expected(np.ones((3, 4), np.float32), 1, None)
    with write_error_map(target, expected, overwrite=False) as written:
        assert not target.exists()
    assert written is not None
    assert (_map(target).tolist(), written.rms) == ([[1.0] * 4] * 3, 1.0)


@pytest.mark.parametrize(
    ("kind", "shape", "white"),
    [
        ("rgb8.png", (HEIGHT, WIDTH, 3), 255),
        ("grey16.png", (HEIGHT, WIDTH), 65535),
        ("rgba8.png", (HEIGHT, WIDTH, 3), 255),
        ("rgbf32.tif", (HEIGHT, WIDTH, 3), None),
    ],
)
def test_repaired_pictures_have_errors_where_they_were_damaged(
    tmp_path: Path, kind: str, shape: tuple[int, ...], white: int | None
) -> None:
    source, mask = tmp_path / kind, write_mask(tmp_path / "mask.png", scratch())
    KINDS[kind](source)
    target = tmp_path / f"out{source.suffix}"
    done = repair_file(source, mask, target, RepairSettings(engine=FAST), None, tmp_path / "e.tif")
    errors = _map(tmp_path / "e.tif")
    assert errors.shape == shape
    assert not errors[~scratch()].any()
    assert errors[scratch()].min() > 0
    assert done.error_map is not None
    assert done.error_map.white == white
    assert 0 < done.error_map.rms < 0.2 * (white or 1)


def test_an_undamaged_picture_is_copied_and_has_no_errors(tmp_path: Path) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    mask = write_mask(tmp_path / "mask.png", np.zeros_like(scratch()))
    done = repair_file(
        tmp_path / "a.png", mask, tmp_path / "b.png", RepairSettings(engine=FAST), None, tmp_path / "e.tif"
    )
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert done.error_map is not None
    assert done.error_map.rms == 0
    assert not _map(tmp_path / "e.tif").any()


def test_the_mask_is_not_replaced_by_a_map(tmp_path: Path) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    mask = tmp_path / "mask.tif"
    tifffile.imwrite(mask, np.where(scratch(), np.uint8(255), np.uint8(0)))
    content = mask.read_bytes()
    with pytest.raises(InputError, match="the same file"):
        repair_file(tmp_path / "a.png", mask, tmp_path / "b.png", RepairSettings(overwrite=True), None, mask)
    assert mask.read_bytes() == content
