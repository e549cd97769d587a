"""The whole way from file to file: the picture the engine makes of the array is the picture in the file."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.run import Progress
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene

AS_MEASURED = Development(look="neutral")
FAST = Engine(method="bilinear")
TRUTH = rounded(scene(96, 128))


def _psnr(picture: NDArray[np.float64], truth: NDArray[np.uint8]) -> float:
    return float(-10 * np.log10(((picture - truth / 255) ** 2).mean()))


def _read(path: Path) -> NDArray[np.float64]:
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert picture is not None
    return np.asarray(picture[..., ::-1], dtype=np.float64) / (65535 if picture.dtype == np.uint16 else 255)


@pytest.mark.parametrize("method", ["bilinear", "ntc"])
@pytest.mark.parametrize("orientation", [1, 6])
@pytest.mark.parametrize("array", ["RGGB", "GRBG", "GBRG", "BGGR"])
def test_file_is_as_good_as_the_engine_on_the_array(
    tmp_path: Path, array: str, orientation: int, method: Any
) -> None:
    """An sRGB camera: what the engine gets from the file is what it gets from the mosaic of the truth."""
    from fractions import Fraction

    from demosaic_ntc.io.colour import XYZ_FROM_SRGB
    from demosaic_ntc.io.tiff_tags import RATIONAL, SRATIONAL, Field

    source, cfa = tmp_path / "a.dng", Cfa.from_name(array)
    matrix = tuple(Fraction(float(v)).limit_denominator(10**6) for v in np.linalg.inv(XYZ_FROM_SRGB).ravel())
    tags = {50721: Field(SRATIONAL, matrix), 50728: Field(RATIONAL, (1, 1, 1))}
    camera = Camera(black=1000, white=65535, orientation=orientation)
    codes = np.round(light_of(TRUTH) * 64535 + 1000).astype(np.uint16)
    write_dng(source, cfa.sample(codes), cfa, camera, changed=tags)
    convert_file(
        source,
        tmp_path / "a.png",
        Settings(development=AS_MEASURED, engine=Engine(method=method, quality="fast")),
    )
    truth = TRUTH if orientation == 1 else np.rot90(TRUTH, -1)
    alone = demosaic(cfa.sample(TRUTH / 255), cfa, method=method, quality="fast").image.astype(np.float64)
    assert _psnr(_read(tmp_path / "a.png"), truth) == pytest.approx(_psnr(alone, TRUTH), abs=0.1)


@pytest.mark.parametrize("array", ["RGGB", "GRBG", "GBRG", "BGGR", "XTRANS"])
def test_camera_colours_come_back(tmp_path: Path, array: str) -> None:
    """A smooth picture through a real camera's matrix and balance is hardly changed by interpolation."""
    source, cfa = tmp_path / "a.dng", Cfa.from_name(array)
    y, x = np.mgrid[0:60, 0:80] / 80
    truth = rounded(np.stack([0.3 + 0.4 * x, 0.8 - 0.4 * y, 0.4 + 0.3 * y * x], axis=-1))
    write_dng(source, exposed(light_of(truth), cfa, Camera()), cfa, Camera())
    convert_file(
        source,
        tmp_path / "a.png",
        Settings(development=Development(look="neutral", white="metadata"), engine=FAST),
    )
    inner = (slice(4, -4), slice(4, -4))
    assert np.abs(_read(tmp_path / "a.png")[inner] - truth[inner] / 255).mean() < 0.004


def test_samples_convert_well_above_a_floor(tmp_path: Path, samples: Path) -> None:
    from PIL import Image

    convert_file(
        samples / "scene_rggb.dng",
        tmp_path / "a.png",
        Settings(development=AS_MEASURED, engine=Engine(method="malvar")),
    )
    with Image.open(samples / "scene.png") as truth:
        assert _psnr(_read(tmp_path / "a.png"), np.asarray(truth)) > 31


@pytest.mark.parametrize("array", ["rggb", "xtrans"])
@pytest.mark.slow
def test_groups_are_far_above_the_first_estimate_of_the_sample(
    tmp_path: Path, samples: Path, array: str
) -> None:
    from PIL import Image

    source = samples / f"scene_{array}.dng"
    done = convert_file(source, tmp_path / "a.png", Settings(development=AS_MEASURED))
    convert_file(source, tmp_path / "b.png", Settings(development=AS_MEASURED, engine=Engine(method="blend")))
    with Image.open(samples / "scene.png") as file:
        truth = np.asarray(file)
    assert _psnr(_read(tmp_path / "a.png"), truth) > _psnr(_read(tmp_path / "b.png"), truth) + 1
    assert done.facts.certificate is None, "only completions prove anything"


def test_what_was_done_is_told(tmp_path: Path, samples: Path) -> None:
    done = convert_file(samples / "small_rggb.dng", tmp_path / "a.png", Settings(engine=FAST))
    assert (done.facts.camera, done.facts.size, done.facts.cfa) == (
        "demosaic-ntc Synthetic camera",
        (36, 48),
        "RGGB",
    )
    assert done.facts.exposure.balance == pytest.approx((2, 1, 1.6, 1), rel=1e-3)
    assert set(done.facts.seconds) == {"decode", "demosaic", "render", "write"}
    assert done.facts.certificate is None, "interpolations prove nothing"


def test_stages_are_reported_in_order(tmp_path: Path, samples: Path) -> None:
    seen: list[str] = []

    def report(progress: Progress) -> None:
        if progress.stage not in seen:
            seen.append(progress.stage)

    convert_file(samples / "small_rggb.dng", tmp_path / "a.png", Settings(engine=FAST), report)
    assert seen[0] == "decoding"
    assert seen[-2:] == ["rendering", "writing"]


def test_dark_pictures_get_a_hint_and_are_not_brightened(tmp_path: Path) -> None:
    source, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    write_dng(source, exposed(np.full((40, 40, 3), 0.05), cfa, Camera()), cfa, Camera())
    done = convert_file(source, tmp_path / "a.png", Settings(development=AS_MEASURED, engine=FAST))
    assert any("stops below white; `exposure=auto`" in notice for notice in done.facts.notices)
    assert _read(tmp_path / "a.png").max() < 0.3


def test_bad_pixels_leave_no_trace(tmp_path: Path) -> None:
    source, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    mosaic = exposed(np.full((40, 40, 3), 0.2), cfa, Camera())
    mosaic[11, 20] = 16383
    mosaic[30, 7] = 0
    write_dng(source, mosaic, cfa, Camera())
    (tmp_path / "bad.txt").write_text("# column row\n20 11\n7 30 1199145600\n\n")
    settings = Settings(engine=FAST, development=Development(bad_pixels=tmp_path / "bad.txt"))
    convert_file(source, tmp_path / "mended.png", settings)
    plain = Settings(engine=FAST, development=Development(bad_pixels="off"))
    convert_file(source, tmp_path / "plain.png", plain)
    assert np.ptp(_read(tmp_path / "mended.png"), axis=(0, 1)).max() < 0.001
    assert np.ptp(_read(tmp_path / "plain.png"), axis=(0, 1)).max() > 0.1


@pytest.mark.parametrize("line", ["a b", "5", "100 3", "-1 3"])
def test_lists_of_bad_pixels_are_checked(tmp_path: Path, samples: Path, line: str) -> None:
    (tmp_path / "bad.txt").write_text(f"3 3\n{line}\n")
    settings = Settings(engine=FAST, development=Development(bad_pixels=tmp_path / "bad.txt"))
    with pytest.raises(InputError, match=r"bad\.txt: line 2"):
        convert_file(samples / "small_rggb.dng", tmp_path / "a.png", settings)


def test_jpeg_has_eight_bits(samples: Path, tmp_path: Path) -> None:
    settings = Settings(engine=FAST, output=Output(bits=16))
    with pytest.raises(InputError, match="JPEG has 8 bits"):
        convert_file(samples / "small_rggb.dng", tmp_path / "a.jpg", settings)


def test_after_the_time_limit_the_picture_is_written_and_says_that_it_is_not_certified(
    tmp_path: Path, samples: Path
) -> None:
    done = convert_file(
        samples / "small_rggb.dng",
        tmp_path / "a.png",
        Settings(engine=Engine(method="ntc", quality="fast", time_limit=1e-9)),
    )
    assert (tmp_path / "a.png").exists()
    assert done.facts.certificate is not None
    assert done.facts.certificate.completed == 0 < done.facts.certificate.groups
