"""Linear DNGs of raws that state a lens: shading is in their samples, the rest goes with them unchanged."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rawpy
import tifffile
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import Compression
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.tiff_tags import (
    ASCII,
    BYTE,
    OPCODE_LISTS,
    RATIONAL,
    XMP,
    Directory,
    Field,
    TagReader,
    numbers,
)
from demosaic_ntc.raw.opcodes.area import Area
from demosaic_ntc.raw.opcodes.parameters import Opcode
from demosaic_ntc.raw.opcodes.pixel_opcodes import DeltaPerRow, FixVignetteRadial, GainMap, MapPolynomial
from demosaic_ntc.raw.opcodes.sensor_opcodes import FixBadPixelsConstant, TrimBounds
from demosaic_ntc.raw.opcodes.warps import WarpRectilinear
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.workflows.conversion import Conversion, convert_file
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import EXIF, light_of
from samples.opcodes import opcode_fields, pack_list, pack_parameters, pack_parts
from tests.developing.raw_readers import by_darktable, by_rawtherapee, findings, program

RGGB = Cfa.from_name("RGGB")
PACKET = (
    b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
    b'xmlns:aux="http://ns.adobe.com/exif/1.0/aux/" xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/" '
    b'aux:Lens="35mm f/2" aux:LensID="137" crs:LensProfileName="Made (35mm f/2)"/></rdf:RDF></x:xmpmeta>'
    b'<?xpacket end="w"?>'
)
LENS = {
    50736: Field(RATIONAL, (24, 70, 2, 4)),
    XMP: Field(BYTE, PACKET),
    42036: Field(ASCII, b"Made 24-70\0"),
}
WARP = WarpRectilinear(
    ((0.985, 0.02, 0, 0, 0, 0), (0.98, 0.02, 0, 0, 0, 0), (0.975, 0.02, 0, 0, 0, 0)), (0.5, 0.48)
)
VIGNETTE = FixVignetteRadial((0.3, 0.1, 0, 0, 0), (0.5, 0.5))
Reader = Callable[[Path, Path], NDArray[np.float64]]


def _light(samples: Path) -> NDArray[np.float64]:
    return 0.8 * light_of(np.asarray(Image.open(samples / "scene.png")))


def _maps(height: int, width: int) -> tuple[GainMap, ...]:
    """Gains of the four sites, the larger the farther from the middle, by no more than saturates."""
    across = np.abs(np.linspace(-1, 1, 5, dtype=np.float32))[None, :, None].repeat(3, axis=0)
    return tuple(
        GainMap(
            Area(y, x, height, width, 0, 1, 2, 2), (0.5, 0.25), (0, 0), (1 + across * most).astype(np.float32)
        )
        for (y, x), most in {(0, 0): 0.22, (0, 1): 0.2, (1, 0): 0.2, (1, 1): 0.17}.items()
    )


def _write(path: Path, samples: Path, camera: Camera | None = None, **lists: tuple[Opcode, ...]) -> Path:
    camera, light = camera or Camera(), _light(samples)
    shading = {"linear": _maps(*light.shape[:2])} if "linear" not in lists else {}
    changed = {**LENS, **opcode_fields(**shading, **lists)}
    write_dng(path, exposed(light, RGGB, camera), RGGB, camera, exif=EXIF, changed=changed)
    return path


def _convert(source: Path, target: Path, compress: Compression | None = None, **how: Any) -> Conversion:
    usual = {"denoise": "off", "look": "neutral", "rotate": False, "highlights": "clip"}
    development = Development(**{**usual, **how})
    exact = 0.0 if compress == "jxl" else None
    output = Output(compress=compress, jxl_distance=exact, overwrite=True)
    settings = Settings(development=development, engine=Engine(method="bilinear"), output=output)
    return convert_file(source, target, settings)


def _picture(source: Path, folder: Path, **how: Any) -> NDArray[np.float64]:
    _convert(source, folder / "own.tif", **how)
    return np.asarray(tifffile.imread(folder / "own.tif"), np.float64) / 65535


def _directories(path: Path) -> list[Directory]:
    with path.open("rb") as file:
        return list(TagReader(file).directories())


def _ask_exiftool(path: Path) -> Any:
    asked = [
        "-DNGLensInfo",
        "-LensInfo",
        "-LensModel",
        "-OpcodeList1",
        "-OpcodeList2",
        "-OpcodeList3",
        "-XMP:all",
    ]
    command = [program("exiftool"), "-json", "-b", "-G0", *asked, str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)[0]


@pytest.mark.parametrize("compress", [None, "jpeg", "jxl"])
def test_lens_opcodes_and_xmp_are_unchanged(
    tmp_path: Path, samples: Path, compress: Compression | None
) -> None:
    source, target = tmp_path / "a.dng", tmp_path / "linear.dng"
    _write(source, samples, stored=(FixBadPixelsConstant(0),), pixels=(WARP, VIGNETTE))
    _convert(source, target, compress)
    first, picture, _preview = _directories(target)
    assert picture[OPCODE_LISTS[2]] == pack_list(WARP, VIGNETTE)
    assert [tag for tag in OPCODE_LISTS[:2] if tag in picture or tag in first] == []
    assert first[XMP] == tuple(PACKET)
    assert numbers(first, 50736) == LENS[50736].values
    oldest = (1, 7, 0, 0) if compress == "jxl" else (1, 3, 0, 0)
    assert numbers(first, 50707) == oldest
    assert read_photo(target).opcodes.pixels.names == ("WarpRectilinear", "FixVignetteRadial")


def test_exiftool_finds_lens_opcodes_and_xmp_unchanged(tmp_path: Path, samples: Path) -> None:
    program("exiftool")
    source, target = _write(tmp_path / "a.dng", samples, pixels=(WARP, VIGNETTE)), tmp_path / "linear.dng"
    _convert(source, target)
    before, after = _ask_exiftool(source), _ask_exiftool(target)
    assert before.keys() - after.keys() == {"EXIF:OpcodeList2"}
    assert after.keys() - before.keys() == {"EXIF:LensInfo"}
    assert {**before, **after, "SourceFile": ""} == {**after, **before, "SourceFile": ""}
    assert {"EXIF:DNGLensInfo", "EXIF:OpcodeList3", "XMP:Lens", "XMP:LensProfileName"} <= after.keys()
    assert findings(target) == []


@pytest.mark.parametrize("compress", [None, "jxl"])
@pytest.mark.parametrize("lens", ["off", ("distortion", "vignetting"), ("distortion",), ("vignetting",)])
def test_our_picture_of_the_dng_is_that_of_the_raw(
    tmp_path: Path, samples: Path, lens: Any, compress: Compression | None
) -> None:
    """Masked borders and bounds among the opcodes: places are counted from the same corner.

    Lateral colour is corrected in the samples of a picture, and left to the readers of a DNG.
    """
    source, target = tmp_path / "a.dng", tmp_path / "linear.dng"
    bounds = TrimBounds(4, 6, 250, 380)
    _write(source, samples, Camera(margins=(8, 12)), pixels=(bounds, WARP, VIGNETTE))
    _convert(source, target, compress, lens=lens)
    direct, again = _picture(source, tmp_path, lens=lens), _picture(target, tmp_path)
    assert np.abs(direct - again).mean() < 5e-5
    assert np.abs(direct - again).max() < 2e-3


def test_what_counts_from_white_is_left_out_and_told(tmp_path: Path, samples: Path) -> None:
    area = Area(0, 0, 8, 8, 0, 3, 1, 1)
    source, target = tmp_path / "a.dng", tmp_path / "linear.dng"
    rows = DeltaPerRow(area, np.full(8, 0.1, np.float32))
    _write(source, samples, pixels=(MapPolynomial(area, (0.1, 0.9)), rows, WARP))
    notices = _convert(source, target).facts.notices
    assert _directories(target)[1][OPCODE_LISTS[2]] == pack_list(WARP)
    assert any("cannot keep MapPolynomial, DeltaPerRow" in each for each in notices)
    assert any("for its readers to do: WarpRectilinear" in each for each in notices)
    assert not any("pixels moved" in each for each in notices)


def test_unknown_opcodes_stay_and_broken_ones_go(tmp_path: Path, samples: Path) -> None:
    source, target, known = tmp_path / "a.dng", tmp_path / "linear.dng", pack_parameters(WARP)
    _write(source, samples)
    unknown = (77, 1, b"of some later version")
    data = pack_parts(unknown, (1, 0, known[:-3]), (1, 1, known))
    camera, light = Camera(), _light(samples)
    changed = {OPCODE_LISTS[2]: Field(7, data)}
    write_dng(source, exposed(light, RGGB, camera), RGGB, camera, changed=changed)
    _convert(source, target)
    assert _directories(target)[1][OPCODE_LISTS[2]] == pack_parts(unknown, (1, 1, known))


def test_nothing_of_a_lens_is_kept_where_it_is_not_wanted(tmp_path: Path, samples: Path) -> None:
    source, target = _write(tmp_path / "a.dng", samples, pixels=(WARP,)), tmp_path / "linear.dng"
    convert_file(source, target, Settings(output=Output(metadata=False), engine=Engine(method="bilinear")))
    assert {50736, XMP}.isdisjoint(_directories(target)[0])
    _convert(source, target, lens="off")
    assert OPCODE_LISTS[2] not in _directories(target)[1]
    assert numbers(_directories(target)[0], 50707) == (1, 2, 0, 0)


def test_jpeg_xl_with_loss_is_smaller_and_nearly_the_same(tmp_path: Path, samples: Path) -> None:
    """Without a distance samples are rounded under the sRGB curve, to 2048 steps."""
    source = _write(tmp_path / "a.dng", samples)
    development = Development(denoise="off", look="neutral", highlights="clip")
    sizes, pictures, codes = [], [], []
    for distance in (0.0, None, 0.1, 1.0):
        target = tmp_path / f"{distance}.dng"
        output = Output(compress="jxl", jxl_distance=distance)
        convert_file(source, target, Settings(development=development, output=output))
        sizes.append(sum(numbers(_directories(target)[1], 325)))
        pictures.append(_picture(target, tmp_path))
        codes.append(SRGB_CURVE.encode(read_photo(target).mosaic / 65535))
    assert sizes[0] > 1.4 * sizes[1]
    assert sizes[0] > 2 * sizes[2] > 4 * sizes[3]
    assert 0 < np.abs(codes[1] - codes[0]).max() < 0.7 / 2047
    near, far = (np.abs(each - pictures[0]).mean() for each in pictures[2:])
    assert near < 0.007
    assert near < far < 0.03


def _by_libraw(source: Path, _folder: Path) -> NDArray[np.float64]:
    usual: dict[str, Any] = {
        "no_auto_bright": True,
        "adjust_maximum_thr": 0.0,
        "gamma": (2.4, 12.92),
        "output_bps": 16,
    }
    with rawpy.imread(str(source)) as raw:
        return np.asarray(raw.postprocess(use_camera_wb=True, user_flip=0, **usual)) / 65535.0


@pytest.mark.parametrize("reader", [_by_libraw, by_rawtherapee, by_darktable])
@pytest.mark.slow
def test_readers_show_our_picture_without_its_shading(tmp_path: Path, samples: Path, reader: Reader) -> None:
    """None of these moves pixels unasked: the picture to compare with is shaded as theirs, and not warped."""
    source, target = _write(tmp_path / "a.dng", samples, pixels=(WARP,)), tmp_path / "linear.dng"
    _convert(source, target)
    own, dark = (_picture(source, tmp_path, lens=lens) for lens in (("vignetting",), "off"))
    shown = reader(target, tmp_path)
    assert np.abs(shown - own).mean() < 0.0002
    assert np.abs(shown - dark).mean() > 0.01


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["gopro_hero6.dng", "gopro_fusion_front.dng"])
def test_readers_show_our_pictures_of_real_raws(tmp_path: Path, data: Path, name: str) -> None:
    """Gains of four sites (HERO6), or a warp of each colour that these readers leave out (FUSION)."""
    source, target = data / "raw_more" / name, tmp_path / "linear.dng"
    _convert(source, target)
    own, shown = _picture(source, tmp_path, lens=("vignetting",)), tmp_path / "upright.dng"
    upright = ["-q", "-IFD0:Orientation#=1", "-o", str(shown), str(target)]  # not all of them know mirrors
    subprocess.run([program("exiftool"), *upright], check=True, timeout=60)
    for reader in (_by_libraw, by_rawtherapee):
        assert np.abs(reader(shown, tmp_path) - own).mean() < 0.0002, reader.__name__
    assert _compare_lights(by_darktable(shown, tmp_path), own) < 0.0002
    whole = ("distortion", "vignetting")  # lateral colour is corrected in samples, which a DNG does not have
    again = _picture(target, tmp_path, lens=whole)
    assert np.abs(again - _picture(source, tmp_path, lens=whole)).mean() < 5e-5
    before, after = _ask_exiftool(source), _ask_exiftool(target)
    kept = before.keys() - {"EXIF:OpcodeList2", "SourceFile"}
    assert {tag: after.get(tag) for tag in kept} == {tag: before[tag] for tag in kept}


def _compare_lights(theirs: NDArray[np.float64], own: NDArray[np.float64]) -> float:
    """The mean difference of unclipped light after the one matrix that takes their colours to ours.

    Of files that state two lights, none of them D65, darktable 4.2 takes another matrix than LibRaw and
    RawTherapee do.
    """
    inside = (np.minimum(theirs, own).min(axis=2) > 0.02) & (np.maximum(theirs, own).max(axis=2) < 0.95)
    lights = [SRGB_CURVE.decode(each[inside]) for each in (theirs, own)]
    matrix = np.linalg.lstsq(lights[0][::31], lights[1][::31], rcond=None)[0]
    assert np.abs(matrix.sum(axis=0) - 1).max() < 1e-3  # grey stays grey
    return float(np.abs(lights[0] @ matrix - lights[1]).mean())
