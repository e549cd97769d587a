"""Highlights of whole photos: what is completed, kept, shown and told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rawpy
import tifffile
from numpy.typing import NDArray

from demosaic_ntc import develop
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import Highlights
from demosaic_ntc.developing import highlights as module
from demosaic_ntc.developing.highlights import BRIGHTEST, complete_photo
from demosaic_ntc.developing.preprocess import choose_highlights, prepare
from demosaic_ntc.developing.render import encode_mosaic
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.developing.tone import Adjustments, automatic_look, camera_look, neutral_look, roll_off
from demosaic_ntc.io.colour import SPACES, SRGB_CURVE
from demosaic_ntc.io.tiff_tags import TagReader, numbers
from demosaic_ntc.raw.dng.colours import BASELINE_EXPOSURE
from demosaic_ntc.raw.levels import expose
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.studio.looks import LookSettings
from demosaic_ntc.workflows.conversion import convert_file
from evaluation.data.highlights import clip_raw
from evaluation.methods.highlights import blend, reconstruct
from evaluation.studies.highlights import compare
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene

RGGB = Cfa.from_name("RGGB")
LUMINANCE = SPACES["srgb"].to_xyz[1]
SIZE = (96, 128)
Arrays = NDArray[Any]


def _hill(top: float, colour: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Arrays:
    """Light that is brightest in the middle."""
    rows, columns = np.indices(SIZE)
    hill = np.exp(-(((rows - 48) / 30) ** 2 + ((columns - 64) / 40) ** 2))
    return np.asarray((0.1 + top * hill)[..., None] * np.array(colour))


def _write(path: Path, light: Arrays, cfa: Cfa = RGGB, most: int = 65535, **camera: Any) -> Path:
    seen = Camera(**camera)
    write_dng(path, np.minimum(exposed(light, cfa, seen), most).astype(np.uint16), cfa, seen)
    return path


def _pixels(source: Path, **how: Any) -> Arrays:
    chosen = {"method": "bilinear", "denoise": "off", **how}
    return np.asarray(develop(source, **chosen).image, np.float64) / 65535


@pytest.fixture
def bright(tmp_path: Path) -> Path:
    return _write(tmp_path / "bright.dng", _hill(2.5))


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ({}, "reconstruct"),
        ({"look": "camera"}, "reconstruct"),
        ({"look": "neutral"}, "clip"),
        ({"linear": True}, "clip"),
        ({"linear": True, "highlights": "reconstruct"}, "reconstruct"),
        ({"highlights": "blend"}, "blend"),
        ({"highlights": "clip"}, "clip"),
    ],
)
def test_highlights_are_completed_where_a_look_is_made(bright: Path, how: Any, wanted: Highlights) -> None:
    photo = read_photo(bright)
    assert choose_highlights(photo, Development(**how)) == wanted
    assert choose_highlights(replace(photo, is_plain=True), Development()) == "clip"


def test_pictures_without_clipping_are_the_same_to_the_byte(tmp_path: Path) -> None:
    dark = _write(tmp_path / "dark.dng", 0.8 * light_of(rounded(scene(96, 128))))
    for how in ({}, {"denoise": "auto", "method": "ntc", "quality": "fast"}, {"half": True}):
        completed, clipped = (_pixels(dark, highlights=way, **how) for way in ("reconstruct", "clip"))
        assert np.array_equal(completed, clipped)


def _completed(photo: RawPhoto) -> tuple[RawPhoto, Any, Any]:
    exposure = expose(photo, "camera", "auto", keep_highlights=False)
    return *complete_photo(photo, exposure, None, 1), exposure


@pytest.mark.parametrize("white", [1023, 16383, 65535])
def test_completed_samples_stand_in_numbers_of_clipped_ones(tmp_path: Path, white: int) -> None:
    photo = read_photo(_write(tmp_path / "a.dng", _hill(2.5), white=white, black=white // 16))
    completed, found, exposure = _completed(photo)
    flags = found.flags(completed.mosaic, 0)
    assert 0.1 < flags.mean() < 0.6
    assert np.array_equal(completed.mosaic[~flags], photo.mosaic[~flags])
    assert found.flags(photo.mosaic, 0)[flags].all()
    clipped, opened = (
        encode_mosaic(photo, exposure, highlights=each).samples
        for each in (replace(found, first=np.full_like(found.first, 65536)), None)
    )
    light = SRGB_CURVE.decode(encode_mosaic(completed, exposure, highlights=found).samples.astype(np.float64))
    bounds = SRGB_CURVE.decode(clipped.astype(np.float64))
    assert (light >= bounds - 1e-5).all()
    assert np.allclose(light[~flags], bounds[~flags], atol=1e-6)
    assert found.largest == pytest.approx(light.max(), rel=2e-3)
    assert found.largest <= BRIGHTEST
    assert opened.max() == pytest.approx(1.0)


def test_colours_may_saturate_at_levels_of_their_own(tmp_path: Path) -> None:
    """Green saturates below the white level, as the pile of its samples shows."""
    light = _hill(1.8)
    source = _write(tmp_path / "a.dng", light, most=14_000)
    shown = _pixels(source, look="neutral", highlights="reconstruct", exposure=-1.5)
    bright = light[..., 1] > 1.2
    assert np.ptp(shown[bright], axis=-1).max() < 0.03  # grey
    assert shown[bright].mean() > shown[~bright].max()


@pytest.mark.parametrize("name", ["XTRANS", "QUAD_RGGB"])
def test_other_arrays_are_completed_as_well(tmp_path: Path, name: str) -> None:
    cfa = Cfa.from_name(name)
    photo = replace(read_photo(_write(tmp_path / "a.dng", _hill(1.8))), channels=cfa.pattern)
    photo = replace(photo, mosaic=exposed(_hill(1.8), cfa, Camera()))
    completed, found, exposure = _completed(photo)
    light = SRGB_CURVE.decode(encode_mosaic(completed, exposure, highlights=found).samples.astype(np.float64))
    assert np.abs(light / _hill(1.8)[..., 0] - 1)[4:-4, 4:-4].max() < 0.06


@pytest.mark.parametrize("how", [{"denoise": 1.0, "method": "ntc", "quality": "fast"}, {"half": True}, {}])
def test_grey_stays_grey_and_its_middle_is_white(bright: Path, how: Any) -> None:
    shown = _pixels(bright, **how)
    coloured = np.ptp(shown, axis=-1)
    assert coloured.max() < 0.05
    assert coloured.mean() < 0.008
    rows, columns = shown.shape[:2]
    assert shown[rows // 2 - 4 : rows // 2 + 4, columns // 2 - 4 : columns // 2 + 4].min() > 0.97


def test_a_colour_keeps_its_hue_where_its_green_clips(tmp_path: Path) -> None:
    """Clipped it becomes white; the rendering rolls off, but does not turn it."""
    colour = (1.3, 1.0, 0.6)
    source = _write(tmp_path / "a.dng", _hill(1.2, colour))
    clipped, completed = (_pixels(source, highlights=way) for way in ("clip", "reconstruct"))
    light = SRGB_CURVE.decode(completed[40:56, 56:72])
    share = (light[..., 1] - light[..., 2]) / (light[..., 0] - light[..., 2])
    wanted = (colour[1] - colour[2]) / (colour[0] - colour[2])
    assert np.abs(share - wanted).mean() < 0.08
    assert (
        np.ptp(clipped[40:56, 56:72], axis=-1).mean() < 0.6 * np.ptp(completed[40:56, 56:72], axis=-1).mean()
    )


def test_linear_light_shows_highlights_when_it_is_darkened(bright: Path) -> None:
    shown = _pixels(bright, linear=True, highlights="reconstruct", exposure=-2.0, color_space="camera")
    clipped = _pixels(bright, linear=True, exposure=-2.0, color_space="camera")
    assert clipped.max() == pytest.approx(0.25, abs=1e-3)
    assert 0.45 < shown.max() < 0.75
    same = _hill(2.5)[..., 0] < 0.7
    assert np.abs(shown - clipped)[same].max() < 0.01


def test_a_linear_dng_has_room_for_highlights_and_says_so(tmp_path: Path, bright: Path) -> None:
    target = tmp_path / "linear.dng"
    how = Development(denoise="off")
    convert_file(bright, target, Settings(development=how, engine=Engine(method="bilinear")))
    ready = prepare(bright, Settings(development=how))
    assert ready.highlights is not None
    room = min(ready.highlights.largest, 4.0)
    with target.open("rb") as file:
        (stops,) = numbers(next(iter(TagReader(file).directories())), BASELINE_EXPOSURE)
    assert stops == pytest.approx(np.log2(room), abs=0.002)
    with rawpy.imread(str(target)) as raw:
        shown = raw.postprocess(
            use_camera_wb=True, no_auto_bright=True, gamma=(1, 1), output_bps=16, user_flip=0
        )
    dim = _hill(2.5)[..., 1] < 0.6
    found = shown[..., 1][dim] / 65535 * 2.0 ** float(stops)
    assert np.abs(found - _hill(2.5)[..., 1][dim]).max() < 0.02
    coloured = np.ptp(shown.astype(np.float64), axis=-1) / 65535
    assert np.quantile(coloured, 0.98) < 0.03  # white, not magenta
    assert coloured[44:52, 60:68].max() < 0.02


def test_errors_are_wide_where_something_was_completed(tmp_path: Path, bright: Path) -> None:
    settings = Settings(
        development=Development(look="neutral", highlights="reconstruct", denoise="off"),
        engine=Engine(quality="fast"),
        output=Output(overwrite=True),
    )
    errors = dict[str, Arrays]()
    for way in ("clip", "reconstruct"):
        how = replace(settings.development, highlights=way)
        convert_file(
            *(bright, tmp_path / "a.tif", replace(settings, development=how)), error_map=tmp_path / "e.tif"
        )
        errors[way] = np.asarray(tifffile.imread(tmp_path / "e.tif"), np.float64)
    light = _hill(2.5)[..., 1]
    partly, dim = (light > 1.1) & (light < 1.5), light < 0.8
    assert errors["reconstruct"][partly].mean() > 3 * errors["clip"][partly].mean()
    assert np.median(errors["reconstruct"][dim] / errors["clip"][dim]) == pytest.approx(1.0, abs=0.01)


def test_the_studio_offers_a_choice() -> None:
    command = LookSettings.of({"highlights": "blend"}).command(Path("a.dng"), Path("b.png"), None)
    assert "--highlights=blend" in command


def test_the_neutral_look_rolls_off_above_white_alone() -> None:
    light = np.linspace(0, 4, 4001)
    rolled = roll_off(light, 3.0)
    assert np.array_equal(rolled[light <= 0.7], light[light <= 0.7])
    assert np.all(np.diff(rolled[light <= 3]) > 0)
    assert rolled[light >= 3] == pytest.approx(1.0)
    assert roll_off(light[light <= 1], 1.0) == pytest.approx(light[light <= 1])
    assert neutral_look(LUMINANCE, Adjustments(), 1.0) is None
    look = neutral_look(LUMINANCE, Adjustments(), 3.0)
    assert look is not None
    grey = look(np.repeat(light[:, None], 3, axis=1).astype(np.float32))
    assert np.ptp(grey, axis=1).max() < 1e-6


@pytest.mark.parametrize("kind", ["auto", "camera"])
def test_looks_reach_white_at_the_top(kind: str) -> None:
    generator = np.random.default_rng(0)
    light = (0.2 * np.exp(0.9 * generator.standard_normal((4000, 1))) * np.ones(3)).astype(np.float32)
    light[:400] *= 4
    top = float(np.quantile(light, 0.9999))
    assert top > 2
    if kind == "auto":
        look = automatic_look(light, LUMINANCE, Adjustments(), top=top)
    else:
        look = camera_look(light, np.minimum(light / np.float32(top), 1), LUMINANCE, Adjustments(), top)
    tones = np.linspace(0.01, top, 500, dtype=np.float32)
    shown = look(np.repeat(tones[:, None], 3, axis=1))[:, 0]
    assert np.all(np.diff(shown) >= -1e-5)
    assert shown[tones < 0.5 * top].max() < 0.999
    assert shown[-1] == pytest.approx(1.0, abs=1e-3)


def test_negative_exposure_brings_highlights_back() -> None:
    """What lies above white, up to the top, is told apart at any exposure."""
    light = np.linspace(0.01, 3, 3000, dtype=np.float32)[:, None] * np.ones(3, np.float32)
    plain, darker = (
        automatic_look(light, LUMINANCE, Adjustments(exposure=stops), top=3.0) for stops in (0.0, -1.0)
    )
    above = np.array([[1.2] * 3, [2.0] * 3], np.float32)
    assert (darker(above) < plain(above) - 0.01).all()
    assert darker(above)[0, 0] < darker(above)[1, 0] - 0.05


@pytest.mark.data
def test_a_real_raw_with_a_lowered_white_is_half_as_far_off_as_blended(data: Path) -> None:
    scene = next(clip_raw(data / "raw" / "IMG_0848.CR2", iter([0.08, 0.08])))
    ours, other = (compare(way(scene), scene)["clipped"] for way in (reconstruct, blend))
    assert ours is not None
    assert other is not None
    assert ours < 0.5 * other


def test_flags_are_those_of_completed_channels(bright: Path) -> None:
    completed, found, _ = _completed(read_photo(bright))
    parts = [flags for _, flags in module._flag_channels(completed, found)]
    flags = np.concatenate(parts)
    assert flags.shape == (*SIZE, 3)
    own = found.flags(completed.mosaic, 0)
    channels = RGGB.window(slice(0, SIZE[0]), slice(0, SIZE[1])).astype(np.intp)
    assert np.take_along_axis(flags, channels[..., None], axis=2)[..., 0][own].all()
    assert not flags[:10].any()
