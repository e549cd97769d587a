"""Linear and monochrome raws on the whole way: samples as they are, noise, bad pixels, sizes, DNGs again."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rawpy
import tifffile
from numpy.typing import NDArray
from PIL import Image
from typer.testing import CliRunner, Result

from cli.app import app
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import Compression, Highlights
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.tiff_tags import DOUBLE, LONG, RATIONAL, Field
from demosaic_ntc.raw.bad_pixels import find_bad_pixels
from demosaic_ntc.raw.levels import grey_world
from demosaic_ntc.raw.noise import linear_samples
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.workflows.api import develop, read_mosaic
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import Camera, camera_from_srgb, exposed, write_dng
from samples.linear_dng import linear_dng
from samples.make_samples import EXIF, light_of, rounded
from samples.scene import scene

CAMERA = Camera(black=512, white=65000)
LIGHT = light_of(rounded(scene(96, 128)))
GREY = LIGHT.mean(axis=2)
NEUTRAL = np.asarray(CAMERA.neutral)


def _planes(light: NDArray[np.float64] = LIGHT, camera: Camera = CAMERA) -> NDArray[np.uint16]:
    """What a camera measures of linear sRGB light at every pixel."""
    colours = (light @ camera_from_srgb().T) * NEUTRAL
    return np.asarray(np.rint(colours * (camera.white - camera.black) + camera.black), np.uint16)


def _mono(light: NDArray[np.float64] = GREY, camera: Camera = CAMERA) -> NDArray[np.uint16]:
    return np.rint(light * (camera.white - camera.black) + camera.black).astype(np.uint16)


def _write(path: Path, samples: NDArray[Any], camera: Camera = CAMERA, **how: Any) -> Path:
    path.write_bytes(linear_dng(samples, camera, exif=EXIF, **how))
    return path


def _converted(source: Path, engine: Engine | None = None, **development: Any) -> NDArray[np.float64]:
    """The picture under the neutral look, 0 … 1."""
    how = Development(**{"look": "neutral", **development})
    target = source.with_suffix(".tif")
    settings = Settings(
        development=how, engine=engine or Engine(quality="fast"), output=Output(overwrite=True)
    )
    convert_file(source, target, settings)
    return np.asarray(tifffile.imread(target), np.float64) / 65535


def _run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def _seen(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """Light under the sRGB curve, as pictures show it."""
    return np.asarray(SRGB_CURVE.encode(np.clip(light, 0, 1)), np.float64)


def test_a_clean_linear_raw_is_its_samples(tmp_path: Path) -> None:
    source = _write(tmp_path / "a.dng", _planes())
    assert _converted(source) == pytest.approx(_seen(LIGHT), abs=1.5e-3)
    assert np.abs(_converted(source) - _seen(LIGHT)).mean() < 5e-5
    assert _converted(source, linear=True) == pytest.approx(LIGHT, abs=1e-4)


def test_a_clean_monochrome_raw_is_its_samples_in_grey(tmp_path: Path) -> None:
    picture = _converted(_write(tmp_path / "a.dng", _mono()))
    assert np.array_equal(picture[..., 0], picture[..., 2])
    assert np.array_equal(picture[..., 0], picture[..., 1])
    assert picture[..., 0] == pytest.approx(_seen(GREY), abs=1.5e-3)


@pytest.mark.parametrize("method", ["bilinear", "gaussian"])
def test_whatever_the_method_nothing_is_interpolated(tmp_path: Path, method: str) -> None:
    source = _write(tmp_path / "a.dng", _planes())
    assert np.array_equal(_converted(source, Engine(method=method)), _converted(source))


def _noisy(samples: NDArray[np.uint16], seed: int = 1, camera: Camera = CAMERA) -> NDArray[np.uint16]:
    """Samples with noise of the variance 4e-4 x + 4e-6."""
    span = camera.white - camera.black
    light = (samples - camera.black) / span
    noise = np.random.default_rng(seed).normal(size=light.shape) * np.sqrt(4e-4 * light.clip(0) + 4e-6)
    return np.clip(np.rint((light + noise) * span + camera.black), 0, 65535).astype(np.uint16)


PROFILE = {51041: Field(DOUBLE, (4e-4, 4e-6))}


def _decibels(picture: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    return float(-10 * np.log10(np.square(picture - truth).mean()))


@pytest.mark.parametrize("stated", [{}, PROFILE], ids=["estimated", "stated"])
@pytest.mark.parametrize("kind", ["linear", "monochrome"])
def test_noise_is_removed(tmp_path: Path, kind: str, stated: dict[int, Field]) -> None:
    clean = _planes() if kind == "linear" else _mono()
    truth = _seen(LIGHT) if kind == "linear" else np.repeat(_seen(GREY)[..., None], 3, axis=2)
    source = _write(tmp_path / "a.dng", _noisy(clean), changed=stated)
    as_it_is, cleaned = _converted(source, denoise="off"), _converted(source)
    assert _decibels(cleaned, truth) > _decibels(as_it_is, truth) + 2.5
    normal = _converted(source, Engine())
    assert _decibels(normal, truth) > _decibels(as_it_is, truth) + 2.5
    assert np.array_equal(normal, _converted(source, Engine(threads=1)))


def test_noise_is_not_removed_twice(tmp_path: Path) -> None:
    said = {50935: Field(RATIONAL, (1,))}
    source = _write(tmp_path / "a.dng", _noisy(_planes()), changed=said)
    assert np.array_equal(_converted(source), _converted(source, denoise="off"))
    assert not np.array_equal(_converted(source, denoise=1.0), _converted(source, denoise="off"))


@pytest.mark.parametrize("kind", ["linear", "monochrome"])
@pytest.mark.parametrize("noisy", [False, True])
def test_hot_pixels_are_found_and_restored(tmp_path: Path, kind: str, noisy: bool) -> None:
    y, x = np.mgrid[:96, :128]
    light = 0.3 + 0.1 * np.sin(x / 17) * np.cos(y / 13)
    clean = _planes(np.repeat(light[..., None], 3, axis=2)) if kind == "linear" else _mono(light)
    samples = _noisy(clean) if noisy else clean.copy()
    places = [(20, 31), (50, 77), (70, 10)]
    for k, (row, column) in enumerate(places):
        if kind == "linear":
            samples[row, column, k] = 64000
        else:
            samples[row, column] = 64000
    source = _write(tmp_path / "a.dng", samples, changed=PROFILE if noisy else {})
    picture = _converted(source)
    for row, column in places:
        assert picture[row, column] == pytest.approx(_seen(light)[row, column], abs=0.03 if noisy else 0.004)
    kept = _converted(source, bad_pixels="off", denoise="off")
    assert all(kept[row, column].max() > _seen(light)[row, column] + 0.2 for row, column in places)
    if not noisy:
        others = np.ones(light.shape, np.bool_)
        others[tuple(np.array(places).T)] = False
        assert np.array_equal(picture[others], kept[others])


def test_a_list_of_bad_pixels_holds_for_all_planes(tmp_path: Path) -> None:
    source, listed = _write(tmp_path / "a.dng", _planes()), tmp_path / "bad.txt"
    listed.write_text("40 30\n")
    changed = _converted(source, bad_pixels=listed) != _converted(source)
    assert changed[30, 40].any()
    assert changed.any(axis=2).sum() == 1


# A spark of a lamp as a lens draws it, in shares of its middle.
SPARK = np.array([[0.21, 0.36, 0.27], [0.43, 1.0, 0.43], [0.18, 0.27, 0.18]])


@pytest.mark.parametrize("kind", ["linear", "monochrome"])
def test_small_lights_are_no_hot_pixels(tmp_path: Path, kind: str) -> None:
    light = np.full((96, 128), 0.012)
    light[40:43, 60:63] = np.maximum(SPARK * 0.16, 0.012)
    planes = np.repeat(light[..., None], 3, axis=2)
    photo = read_photo(_write(tmp_path / "a.dng", _planes(planes) if kind == "linear" else _mono(light)))
    noise = NoiseModel.from_user(1e-5, 1e-8)
    assert not find_bad_pixels(photo, linear_samples(photo), noise).any()
    photo.mosaic[70, 30] = 20000
    assert np.argwhere(find_bad_pixels(photo, linear_samples(photo), noise)).tolist() == [[70, 30]]


@pytest.mark.parametrize("kind", ["linear", "monochrome"])
def test_bad_pixels_are_completed_by_similar_patches(tmp_path: Path, kind: str) -> None:
    """In stripes the median around a pixel is that of the other stripes as often as not."""
    _, x = np.mgrid[:96, :128]
    light = np.where(x % 5 < 2, 0.5, 0.1)
    planes = np.repeat(light[..., None], 3, axis=2)
    source = _write(tmp_path / "a.dng", _planes(planes) if kind == "linear" else _mono(light))
    (tmp_path / "bad.txt").write_text("50 30\n51 60\n71 41\n")
    picture = _converted(source, bad_pixels=tmp_path / "bad.txt")
    assert picture[..., 1] == pytest.approx(_seen(light), abs=0.03)


def test_noise_of_a_monochrome_raw_has_no_colours(tmp_path: Path) -> None:
    """Whatever a model says of red and blue: grey stays grey, and brightness alone has a strength."""
    source = _write(tmp_path / "a.dng", _noisy(_mono()))
    noise = NoiseModel.from_user([8e-4, 4e-4, 1e-4], [8e-6, 4e-6, 1e-6])
    developed = develop(source, look="neutral", noise=noise, quality="fast")
    assert np.ptp(developed.image.astype(int), axis=2).max() == 0
    assert developed.metadata["noise"]["removed"] == {"brightness": 1.0, "color": 1.0}


@pytest.mark.parametrize("kind", ["linear", "monochrome"])
def test_half_is_the_mean_of_four(tmp_path: Path, kind: str) -> None:
    source = _write(tmp_path / "a.dng", _planes() if kind == "linear" else _mono())
    whole = _converted(source)
    expected = whole.reshape(48, 2, 64, 2, 3).mean(axis=(1, 3))
    assert _converted(source, Engine(half=True)) == pytest.approx(expected, abs=0.03)
    assert np.abs(_converted(source, Engine(half=True)) - expected).mean() < 2e-3


def test_crop_orientation_size_and_exif(tmp_path: Path) -> None:
    crop = {50719: Field(LONG, (8, 4)), 50720: Field(LONG, (100, 80))}
    camera = Camera(black=512, white=65000, orientation=6)
    source = _write(tmp_path / "a.dng", _planes(camera=camera), camera, changed=crop)
    result = _run(source, tmp_path / "a.png", "--crop", "camera", "--look", "neutral", "--resize", 50)
    assert result.exit_code == 0, result.stderr
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (40, 50)
        assert picture.getexif()[272] == "Synthetic camera"
    upright = np.rot90(_seen(LIGHT)[4:84, 8:108], -1)
    assert _converted(source, crop="camera") == pytest.approx(upright, abs=1.5e-3)


@pytest.mark.parametrize("wb", ["auto", (2.0, 1.0, 1.6)])
def test_white_balance_of_a_linear_raw(tmp_path: Path, wb: Any) -> None:
    """A grey world is grey under `auto`; multipliers are the camera's own ones."""
    grey = np.repeat(GREY[..., None], 3, axis=2) * 0.9
    picture = _converted(_write(tmp_path / "a.dng", _planes(grey)), balance=wb, linear=True)
    means = picture.mean(axis=(0, 1))
    assert np.ptp(means) / means.mean() < 2e-3


def test_clipped_blocks_do_not_count_in_a_grey_world(tmp_path: Path) -> None:
    """Where blue alone is clipped, the colour of none is known."""
    samples = _planes(np.full((96, 128, 3), 0.4))
    samples[:, 64:] = (3000, 3000, 65000)
    red, green, blue, _ = grey_world(read_photo(_write(tmp_path / "a.dng", samples)), 65000 - 512)
    assert (red / green, blue / green) == pytest.approx((2, 1.6), rel=1e-3)


def test_white_balance_from_a_patch(tmp_path: Path) -> None:
    grey = np.repeat(GREY[..., None], 3, axis=2) * 0.9
    source = _write(tmp_path / "a.dng", _planes(grey), changed={50728: Field(RATIONAL, (1, 1, 1))})
    result = _run(source, tmp_path / "a.tif", "--wb-from", "60,40,4", "--linear")
    assert result.exit_code == 0, result.stderr
    picture = np.asarray(tifffile.imread(tmp_path / "a.tif"), np.float64)
    assert np.ptp(picture.mean(axis=(0, 1))) / picture.mean() < 2e-3


@pytest.mark.parametrize("kind", ["linear", "monochrome"])
@pytest.mark.parametrize("compress", [None, "jpeg", "jxl"])
def test_dng_again(tmp_path: Path, kind: str, compress: Compression | None) -> None:
    source = _write(tmp_path / "a.dng", _planes() if kind == "linear" else _mono())
    again = tmp_path / "b.dng"
    output = Output(compress=compress, jxl_distance=0.0 if compress == "jxl" else None)
    convert_file(source, again, Settings(output=output))
    assert read_photo(again).is_monochrome == (kind == "monochrome")
    assert np.abs(_converted(again) - _converted(source)).mean() < 2e-5


@pytest.mark.parametrize(("compress", "highlights"), [(None, "clip"), ("jpeg", "reconstruct")])
@pytest.mark.parametrize("noisy", [False, True])
def test_our_dng_of_a_mosaic_is_the_picture_itself(
    tmp_path: Path, compress: Compression | None, noisy: bool, highlights: Highlights
) -> None:
    camera, source, cfa = Camera(), tmp_path / "a.dng", Cfa.from_name("GRBG")
    mosaic = exposed(LIGHT, cfa, camera)
    mosaic = _noisy(mosaic, camera=camera).clip(0, camera.white) if noisy else mosaic
    write_dng(source, mosaic, cfa, camera, exif=EXIF, changed=PROFILE if noisy else {})
    linear = tmp_path / "b.dng"
    engine = Engine(quality="fast")
    how = Development(highlights=highlights)
    convert_file(source, linear, Settings(development=how, engine=engine, output=Output(compress=compress)))
    direct, again = (_converted(each, engine, highlights=highlights) for each in (source, linear))
    assert np.abs(direct - again).mean() < 1e-4
    assert read_photo(linear).is_denoised == noisy


def test_error_maps_know_that_samples_are_kept(tmp_path: Path) -> None:
    source, place = _write(tmp_path / "a.dng", _planes()), tmp_path / "e.tif"
    done = _run(source, tmp_path / "a.tif", "--error-map", place, "--look", "neutral")
    assert done.exit_code == 0, done.stderr
    assert tifffile.imread(place).max() == 0
    noisy = _write(tmp_path / "b.dng", _noisy(_mono()), changed=PROFILE)
    done = _run(noisy, tmp_path / "b.tif", "--error-map", tmp_path / "f.tif", "--look", "neutral")
    assert done.exit_code == 0, done.stderr
    off = np.asarray(tifffile.imread(tmp_path / "b.tif"), np.float64) - _seen(GREY)[..., None] * 65535
    told = np.asarray(tifffile.imread(tmp_path / "f.tif"), np.float64)
    assert 0.4 < np.sqrt(np.square(told).mean() / np.square(off).mean()) < 2.5


def test_info_tells_that_there_is_no_array(tmp_path: Path) -> None:
    linear, mono = _write(tmp_path / "a.dng", _planes()), _write(tmp_path / "b.dng", _mono())
    told = _run("info", linear, mono).stdout
    assert "linear, no colour filter array" in told
    assert "monochrome, no colour filter array" in told
    first, second = json.loads(_run("info", linear, mono, "--json").stdout)
    assert (first["cfa"], second["cfa"]) == ("linear", "MONO")
    assert second["white_balance"]["source"] == "none"
    assert first["notices"] == second["notices"] == []


def test_nothing_is_said_of_colours_that_are_not_there(tmp_path: Path) -> None:
    done = _run(_write(tmp_path / "a.dng", _mono()), tmp_path / "a.png")
    assert done.exit_code == 0
    assert "balance is stored" not in done.stderr
    assert "profile" not in done.stderr


def test_colour_arrays_that_were_taken_off(tmp_path: Path, small: Path) -> None:
    Image.fromarray((GREY * 255).astype(np.uint8)).save(tmp_path / "a.png")
    done = _run(tmp_path / "a.png", tmp_path / "b.tif", "--cfa", "mono", "--look", "neutral")
    assert done.exit_code == 0, done.stderr
    picture = np.asarray(tifffile.imread(tmp_path / "b.tif"), np.float64) / 65535
    stored = np.asarray(Image.open(tmp_path / "a.png"), np.float64) / 255
    assert picture == pytest.approx(_seen(np.repeat(stored[..., None], 3, axis=2)), abs=1e-3)
    assert _run(small, tmp_path / "c.png", "--cfa", "mono").exit_code == 0
    with Image.open(tmp_path / "c.png") as shown:
        assert np.ptp(np.asarray(shown), axis=2).max() == 0


def test_python_reads_and_develops_them(tmp_path: Path) -> None:
    source = _write(tmp_path / "a.dng", _planes())
    photo = read_mosaic(source)
    assert photo.cfa is None
    assert photo.light.shape == (96, 128, 3)
    assert photo.light == pytest.approx((_planes() - 512.0) / (65000 - 512), abs=1e-6)
    developed = develop(source, look="neutral")
    assert developed.metadata["cfa"] == "linear"
    assert developed.certificate is None
    assert developed.image.shape == (96, 128, 3)
    assert read_mosaic(source, cfa=None).is_linear
    with pytest.raises(InputError, match="leave out `cfa`"):
        develop(source, cfa="RGGB")
    assert develop(_write(tmp_path / "b.dng", _mono()), cfa="mono").metadata["cfa"] == "MONO"


def test_batches_take_them(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    _write(tmp_path / "in" / "a.dng", _planes())
    _write(tmp_path / "in" / "b.dng", _mono())
    done = _run("batch", tmp_path / "in", "-o", tmp_path / "out", "--jobs", 1, "--quality", "fast")
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").glob("*.png")) == ["a.png", "b.png"]


def test_comparisons_show_their_only_version(tmp_path: Path) -> None:
    source = _write(tmp_path / "a.dng", _planes())
    done = _run("compare", source, "-o", tmp_path / "page", "--crops", 1, "--crop-size", 32)
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "page" / "index.html").read_text()
    assert "as measured" in page
    assert "malvar" not in page


def test_fringes_are_not_looked_for(tmp_path: Path) -> None:
    done = _run(_write(tmp_path / "a.dng", _planes()), tmp_path / "a.png", "--ca", "auto")
    assert done.exit_code == 0
    assert "in Bayer arrays only" in done.stderr


@pytest.mark.parametrize("name", ["canon_6d_lossy", "lg_h815_lossy_preview", "lg_h815_lossy_rotated"])
def test_lossy_dngs_are_decoded_as_libraw_does(data: Path, name: str) -> None:
    """LibRaw cuts what it computes to whole numbers, we round."""
    source = data / "raw_more" / f"{name}.dng"
    photo = read_photo(source)
    with rawpy.imread(str(source)) as raw:
        assert photo.mosaic == pytest.approx(raw.raw_image_visible[..., :3], abs=1)
        assert photo.matrix.to_srgb == pytest.approx(raw.color_matrix[:, :3], abs=1e-5)
        assert photo.camera_balance is not None
        assert photo.camera_balance[:3] == pytest.approx(raw.camera_whitebalance[:3], abs=1e-5)


def test_a_truncated_proraw_is_refused(data: Path, tmp_path: Path) -> None:
    source = data / "raw_more" / "fragments" / "iphone12pro_proraw.dng"
    done = _run(source, tmp_path / "a.png")
    assert done.exit_code == 3
    assert "truncated or damaged" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
