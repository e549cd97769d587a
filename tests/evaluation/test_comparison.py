from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.io.tiff_tags import LONG, Field
from demosaic_ntc.viewer.comparison import WHITE, locate_on_sensor, read_negative
from demosaic_ntc.viewer.crops import CropBox
from demosaic_ntc.workflows.conversion import convert_file
from evaluation.commands.comparing import Choice
from evaluation.methods.demosaicers import catalogue
from evaluation.methods.method import Effort, pick_methods
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene

EFFORT = Effort(threads=1, white=WHITE)
CROP = {50719: Field(LONG, (5, 3)), 50720: Field(LONG, (110, 84))}  # left and top, width and height


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_part_of_the_upright_picture_is_found_on_the_sensor(orientation: int) -> None:
    sensor = np.arange(60).reshape(6, 10)
    box = CropBox(2, 1, 3, 4)
    place = locate_on_sensor(box, orientation, sensor.shape).place
    np.testing.assert_array_equal(
        orient(sensor[place], orientation),
        orient(sensor, orientation)[box.place],
    )


@pytest.mark.parametrize("method", ["bilinear", "libraw-linear"])
@pytest.mark.parametrize(("orientation", "crop"), [(1, {}), (6, {}), (6, CROP)])
def test_versions_look_like_the_picture_that_is_written(
    tmp_path: Path, method: str, orientation: int, crop: dict[int, Field]
) -> None:
    """LibRaw's plain interpolation is ours: with the same colours and at the same place they agree."""
    source, cfa, camera = tmp_path / "a.dng", Cfa.from_name("GRBG"), Camera(orientation=orientation)
    write_dng(source, exposed(light_of(rounded(scene(96, 128))), cfa, camera), cfa, camera, changed=crop)
    settings = Settings(engine=Engine(method="bilinear"), output=Output(bits=8))
    convert_file(source, tmp_path / "a.png", settings)
    with Image.open(tmp_path / "a.png") as image:
        written = np.array(image).astype(int)
    negative = read_negative(source, Development())
    assert negative.overview.shape == written.shape
    assert np.abs(negative.overview.astype(int) - written).max() <= 1
    (chosen,) = pick_methods(catalogue(EFFORT), [method])
    box = CropBox(24, 16, 48, 64)
    np.testing.assert_allclose(negative.restore(box, chosen), written[box.place], atol=1)


def test_exposure_is_the_same_for_all_versions(small: Path) -> None:
    plain, brighter = (read_negative(small, Development(exposure=stops)) for stops in (0.0, 1.0))
    (method,) = pick_methods(catalogue(EFFORT), ["libraw-ahd"])
    dark, bright = (float(each.restore(each.whole, method).mean()) for each in (plain, brighter))
    assert bright > 1.2 * dark
    assert read_negative(small, Development(exposure="auto")).look.gain >= 1.0


def test_sixteen_bits_stay_sixteen_bits() -> None:
    """A slope of less than a step of 8 bits comes back from every library."""
    cfa = Cfa.from_name("RGGB")
    mosaic = np.tile(np.linspace(30_000, 30_128, 64).astype(np.uint16), (64, 1))
    for method in pick_methods(
        catalogue(EFFORT), ["libraw-linear", "libraw-ahd", "menon", "opencv-bilinear", "bilinear"]
    ):
        picture = method.run(mosaic, cfa).image
        assert np.abs(picture[16:-16, 16:-16] - mosaic[16:-16, 16:-16, None]).max() < 16, method.name


def test_choices_that_make_no_comparison_are_refused() -> None:
    with pytest.raises(InputError, match="no method amaze"):
        Choice(("ntc", "amaze"), None, Development())
    with pytest.raises(InputError, match="needs two methods"):
        Choice(("ntc",), None, Development())
