"""Linear DNGs: what LibRaw makes of them is the picture that we finish ourselves."""

import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import rawpy
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import Compression
from demosaic_ntc.developing.linear_dng import camera_codes
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import read_header
from demosaic_ntc.io.tiff_tags import (
    ASCII,
    DOUBLE,
    RATIONAL,
    SHORT,
    SRATIONAL,
    Directory,
    Field,
    TagReader,
    numbers,
)
from demosaic_ntc.raw.dng.colours import camera_from_xyz, read_colours
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import CAMERA_FROM_XYZ, NEUTRAL, Camera, exposed, write_dng
from samples.make_samples import EXIF, light_of, rounded
from samples.scene import scene

FAST = Engine(method="bilinear")
LIGHT = light_of(rounded(scene(96, 128)))
RGGB = Cfa.from_name("RGGB")


def _settings(output: Output | None = None, **development: Any) -> Settings:
    how = Development(**{"denoise": "off", "look": "neutral", **development})
    return Settings(development=how, engine=FAST, output=output or Output())


def _raw(path: Path, light: NDArray[np.float64] = LIGHT, changed: Any = None, **camera: Any) -> Path:
    seen = Camera(**camera)
    write_dng(path, exposed(light, RGGB, seen), RGGB, seen, exif=EXIF, changed=changed)
    return path


def _directories(path: Path) -> list[Directory]:
    with path.open("rb") as file:
        return list(TagReader(file).directories())


def _ours(path: Path) -> NDArray[np.float64]:
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert picture is not None
    return np.asarray(picture[..., ::-1], np.float64) / 65535


def _librarys(path: Path, **parameters: Any) -> NDArray[np.float64]:
    usual = {"no_auto_bright": True, "adjust_maximum_thr": 0.0, "gamma": (2.4, 12.92), "output_bps": 16}
    with rawpy.imread(str(path)) as raw:
        return np.asarray(raw.postprocess(**{"use_camera_wb": True, **usual, **parameters})) / 65535.0


@pytest.mark.parametrize("compress", [None, "jpeg"])
@pytest.mark.parametrize("orientation", [1, 6])
@pytest.mark.parametrize("highlights", ["clip", "blend"])
def test_libraw_shows_our_own_picture(
    tmp_path: Path, highlights: str, orientation: int, compress: Compression | None
) -> None:
    """An overexposed scene: clipped highlights are white, kept ones are as in our picture."""
    source = _raw(tmp_path / "a.dng", 2.5 * LIGHT, orientation=orientation)
    how: dict[str, Any] = {"highlights": highlights}
    convert_file(
        source,
        tmp_path / "linear.dng",
        _settings(Output(compress=compress, jxl_distance=0.0 if compress == "jxl" else None), **how),
    )
    convert_file(source, tmp_path / "a.tif", _settings(**how))
    difference = np.abs(_librarys(tmp_path / "linear.dng") - _ours(tmp_path / "a.tif"))
    assert difference.mean() < 0.0005


def test_highlights_are_white_not_magenta(tmp_path: Path) -> None:
    source = _raw(tmp_path / "a.dng", np.full((64, 96, 3), 3.0))
    for highlights in ("clip", "blend"):
        target = tmp_path / f"{highlights}.dng"
        convert_file(source, target, _settings(highlights=highlights))
        shown = _librarys(target)
        assert np.ptp(shown, axis=2).max() < 0.001


def test_codes_end_where_a_neutral_white_does() -> None:
    """What the engine overshoots in one channel alone would tint a highlight."""
    image = np.array([[[1.2, 1.0, 1.1], [0.0, -0.2, 0.0]]], np.float32)
    assert camera_codes(image, 0.0, np.array([0.5, 1.0, 0.25]), None).tolist() == [
        [[32768, 65535, 16384], [0, 0, 0]]
    ]


@pytest.mark.data
def test_libraw_shows_our_own_picture_of_every_raw(tmp_path: Path, raws: list[Path]) -> None:
    for source in raws:
        convert_file(source, tmp_path / f"{source.stem}.dng", _settings(Output(compress="jpeg")))
        convert_file(source, tmp_path / f"{source.stem}.tif", _settings(rotate=False, crop="visible"))
        linear = _librarys(tmp_path / f"{source.stem}.dng", user_flip=0)
        assert np.abs(linear - _ours(tmp_path / f"{source.stem}.tif")).mean() < 0.005, source.name


@pytest.mark.parametrize("size", [(300, 520), (70, 330), (106, 62)])
def test_compression_loses_nothing(tmp_path: Path, size: tuple[int, int]) -> None:
    source = _raw(tmp_path / "a.dng", np.tile(LIGHT, (4, 5, 1))[: size[0], : size[1]])
    compressions: tuple[Compression | None, ...] = (None, "jpeg", "jxl")
    for compress in compressions:
        convert_file(
            source,
            tmp_path / f"{compress}.dng",
            _settings(Output(compress=compress, jxl_distance=0.0 if compress == "jxl" else None)),
        )
    plain, *others = (read_photo(tmp_path / f"{compress}.dng").mosaic for compress in compressions)
    with rawpy.imread(str(tmp_path / "jpeg.dng")) as raw:
        assert np.array_equal(raw.raw_image_visible[..., :3], plain)
    assert all(np.array_equal(other, plain) for other in others)


def test_compression_takes_less_room(tmp_path: Path) -> None:
    smooth = np.linspace(0, 1, 256 * 512 * 3).reshape(512, 256, 3)
    source = _raw(tmp_path / "a.dng", smooth)
    compressions: tuple[Compression | None, ...] = (None, "jpeg", "jxl")
    for compress in compressions:
        convert_file(
            source,
            tmp_path / f"{compress}.dng",
            _settings(Output(compress=compress, jxl_distance=0.0 if compress == "jxl" else None)),
        )
    large, medium, small = ((tmp_path / f"{each}.dng").stat().st_size for each in compressions)
    assert small < medium < 0.5 * large


def test_colours_and_levels_are_told(tmp_path: Path) -> None:
    source = _raw(tmp_path / "photo.dng", orientation=8)
    convert_file(source, tmp_path / "linear.dng", _settings(exposure=0.5))
    first, picture, preview = _directories(tmp_path / "linear.dng")
    assert np.allclose([float(v) for v in numbers(first, 50721)], CAMERA_FROM_XYZ.ravel(), atol=1e-4)
    assert np.allclose([float(v) for v in numbers(first, 50728)], NEUTRAL, atol=1e-4)
    assert numbers(first, 50778) == (21,)
    assert numbers(first, 274) == (8,)
    assert numbers(first, 50730) == (Fraction(1, 2),)
    assert first[50708] == b"Synthetic camera\0"
    assert first[50827] == b"photo.dng\0"
    assert first[272] == EXIF.image[272].values
    assert (numbers(first, 254), numbers(picture, 254), numbers(preview, 254)) == ((1,), (0,), (1,))
    assert numbers(picture, 50717) == (65535,) * 3
    assert numbers(picture, 50714) == (0,) * 3


def test_preview_is_the_finished_picture_within_the_frame(tmp_path: Path) -> None:
    source, frame = _raw(tmp_path / "a.dng", margins=(2, 4)), (96, 128)
    convert_file(source, tmp_path / "linear.dng", _settings())
    convert_file(source, tmp_path / "a.tif", _settings())
    content = (tmp_path / "linear.dng").read_bytes()
    first, picture, preview = _directories(tmp_path / "linear.dng")
    for directory, side in ((first, 256), (preview, 65535)):
        place, length = int(numbers(directory, 273)[0]), int(numbers(directory, 279)[0])
        shown = Image.open(io.BytesIO(content[place : place + length]))
        assert max(shown.size) <= side
        assert shown.size[::-1] == frame
        assert np.abs(np.asarray(shown) / 255 - _ours(tmp_path / "a.tif")).mean() < 0.02
    assert numbers(picture, 50720) == frame[::-1]


def test_kept_highlights_are_darker_and_say_so(tmp_path: Path) -> None:
    convert_file(_raw(tmp_path / "a.dng"), tmp_path / "linear.dng", _settings(highlights="blend"))
    assert numbers(_directories(tmp_path / "linear.dng")[0], 50730) == (1,)  # the neutral's 0.5 is a stop


def test_noise_that_is_left_is_told(tmp_path: Path) -> None:
    profile = {51041: Field(DOUBLE, (2e-4, 3e-6))}
    noisy = LIGHT + np.random.default_rng(0).normal(0, 0.01, LIGHT.shape)
    source = _raw(tmp_path / "a.dng", noisy, profile)
    convert_file(source, tmp_path / "noisy.dng", _settings())
    settings = Settings(engine=Engine(method="gaussian", quality="fast"))
    convert_file(source, tmp_path / "clean.dng", settings)
    left, taken = (_directories(tmp_path / f"{name}.dng")[1] for name in ("noisy", "clean"))
    assert numbers(left, 51041) == pytest.approx((2e-4, 3e-6) * 3)
    assert (numbers(left, 50935), numbers(taken, 50935)) == ((0,), (1,))
    assert 51041 not in taken


def test_what_a_dng_says_of_two_lights_is_kept(tmp_path: Path) -> None:
    matrix = tuple(Fraction(round(v * 10000), 10000) for v in CAMERA_FROM_XYZ.ravel())
    changed = {50722: Field(SRATIONAL, matrix), 50779: Field(SHORT, (17,)), 50964: Field(SRATIONAL, matrix)}
    source = _raw(tmp_path / "a.dng", changed={**changed, 50730: Field(SRATIONAL, (Fraction(1, 4),))})
    convert_file(source, tmp_path / "linear.dng", _settings())
    first = _directories(tmp_path / "linear.dng")[0]
    assert {tag: numbers(first, tag) for tag in changed} == {
        tag: field.values for tag, field in changed.items()
    }
    assert numbers(first, 50730) == (Fraction(1, 4),)


@pytest.mark.parametrize(
    "changed", [{50727: Field(RATIONAL, (2, 1, 1))}, {50721: Field(SRATIONAL, (1, 0, 0))}]
)
def test_colours_that_cannot_be_kept_as_they_stand_are_left_to_the_matrix_in_use(
    tmp_path: Path, changed: dict[int, Field]
) -> None:
    with _raw(tmp_path / "a.dng", changed=changed).open("rb") as file:
        assert read_colours(read_header(file)) == {}


def test_second_matrix_without_its_light_is_left_out(tmp_path: Path) -> None:
    changed = {50722: Field(SRATIONAL, (1, 0, 0, 0, 1, 0, 0, 0, 1))}
    with _raw(tmp_path / "a.dng", changed=changed).open("rb") as file:
        assert 50722 not in read_colours(read_header(file))


@pytest.mark.data
def test_matrix_of_a_camera_is_the_one_in_librarys_table(raws: list[Path]) -> None:
    source = next(path for path in raws if path.suffix == ".CR2")
    photo = read_photo(source)
    with rawpy.imread(str(source)) as raw:
        table = raw.rgb_xyz_matrix[:3]
    assert np.allclose(camera_from_xyz(photo, (1, 1, 1, 1)), table, atol=1e-4)


def test_mosaic_without_a_camera_is_shown_as_we_show_it(tmp_path: Path) -> None:
    """Its colours are taken for sRGB, and nothing is balanced."""
    mosaic = RGGB.sample(np.round(LIGHT * 60000).astype(np.uint16))
    cv2.imwrite(str(tmp_path / "a.png"), mosaic)
    settings = Settings(layout=_layout(), engine=FAST)
    convert_file(tmp_path / "a.png", tmp_path / "linear.dng", settings)
    convert_file(tmp_path / "a.png", tmp_path / "a.tif", settings)
    assert np.abs(_librarys(tmp_path / "linear.dng") - _ours(tmp_path / "a.tif")).mean() < 0.0005
    assert _directories(tmp_path / "linear.dng")[0][50708] == b"unknown camera\0"


def _layout() -> Any:
    from demosaic_ntc.io.formats import Layout

    return Layout(cfa=RGGB)


def test_metadata_may_be_left_out(tmp_path: Path) -> None:
    source = _raw(tmp_path / "a.dng", changed={271: Field(ASCII, b"Maker\0")}, orientation=3)
    convert_file(source, tmp_path / "linear.dng", _settings(Output(metadata=False)))
    first = _directories(tmp_path / "linear.dng")[0]
    assert 271 not in first
    assert 34665 not in first
    assert numbers(first, 274) == (3,)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (_settings(space="adobe"), "`color_space`"),
        (_settings(linear=True), "`linear`"),
        (_settings(Output(bits=8)), "16 bits"),
    ],
)
def test_what_has_no_place_in_a_dng_is_refused(tmp_path: Path, settings: Settings, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        convert_file(_raw(tmp_path / "a.dng"), tmp_path / "linear.dng", settings)
    assert not (tmp_path / "linear.dng").exists()


def test_error_maps_and_compression_elsewhere_are_refused(tmp_path: Path) -> None:
    source = _raw(tmp_path / "a.dng")
    with pytest.raises(InputError, match="error map"):
        convert_file(source, tmp_path / "b.dng", _settings(), error_map=tmp_path / "map.tif")
    with pytest.raises(InputError, match="`compress`"):
        convert_file(source, tmp_path / "b.png", _settings(Output(compress="jpeg")))
