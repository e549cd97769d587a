"""The command ``convert``: every option does what it says."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.cfa import Cfa
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import light_of, rounded
from samples.scene import scene

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SMALL = SAMPLES / "small_rggb.dng"


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _convert(target: Path, *options: object, source: Path = SMALL) -> NDArray[np.float64]:
    """The picture that a command without complaints has written."""
    result = _run(source, target, "--method", "bilinear", *options)
    assert result.exit_code == 0, result.stderr
    picture = cv2.imread(str(target), cv2.IMREAD_UNCHANGED)
    assert picture is not None
    return np.asarray(picture[..., ::-1], dtype=np.float64) / (65535 if picture.dtype == np.uint16 else 255)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> NDArray[np.float64]:
    """The small sample without any option."""
    return _convert(tmp_path_factory.mktemp("plain") / "a.png")


def test_two_paths_are_enough(tmp_path: Path) -> None:
    result = _run(SMALL, tmp_path / "a.png", "--method", "bilinear")
    assert result.exit_code == 0
    assert "48×36, RGGB, white balance camera (2, 1, 1.6; 4970 K, tint +2), auto look" in result.stdout


def test_options_may_come_first(tmp_path: Path) -> None:
    assert _run("--method", "bilinear", SMALL, tmp_path / "a.png").exit_code == 0
    assert (tmp_path / "a.png").exists()


def test_command_may_be_named(tmp_path: Path) -> None:
    assert _run("convert", "--method", "bilinear", SMALL, tmp_path / "a.png").exit_code == 0


@pytest.mark.parametrize(
    ("suffix", "kind"), [(".png", b"\x89PNG"), (".tif", b"II*\0"), (".jpg", b"\xff\xd8\xff")]
)
def test_extension_chooses_the_format(tmp_path: Path, suffix: str, kind: bytes) -> None:
    _convert(tmp_path / f"a{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes().startswith(kind)


@pytest.mark.parametrize(("options", "depth"), [([], np.uint16), (["--bits", "8"], np.uint8)])
def test_bits(tmp_path: Path, options: list[str], depth: type) -> None:
    _convert(tmp_path / "a.png", *options)
    picture = cv2.imread(str(tmp_path / "a.png"), cv2.IMREAD_UNCHANGED)
    assert picture is not None
    assert picture.dtype == depth


def test_linear_light_is_darker_than_encoded(tmp_path: Path) -> None:
    plain = _convert(tmp_path / "b.png", "--look", "neutral")
    linear = _convert(tmp_path / "a.png", "--linear")
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    assert encoded == pytest.approx(plain, abs=2e-3)


@pytest.mark.parametrize("space", ["adobe", "prophoto", "rec2020", "p3", "camera"])
def test_colour_spaces_change_the_pixels(tmp_path: Path, plain: NDArray[np.float64], space: str) -> None:
    assert np.abs(_convert(tmp_path / "a.png", "--color-space", space) - plain).mean() > 0.005


def test_exposure_brightens_by_stops(tmp_path: Path) -> None:
    normal = _convert(tmp_path / "a.png", "--linear")
    darker = _convert(tmp_path / "b.png", "--linear", "--exposure", "-1")
    assert darker == pytest.approx(normal / 2, abs=1e-4)


def test_white_balance_multipliers_act_on_their_channel(tmp_path: Path) -> None:
    usual = _convert(tmp_path / "a.png", "--color-space", "camera", "--linear", "--wb", "2,1,1.6")
    redder = _convert(tmp_path / "b.png", "--color-space", "camera", "--linear", "--wb", "2.2,1,1.6")
    dim = usual[..., 0] < 0.8
    assert (redder[..., 0] / usual[..., 0])[dim] == pytest.approx(1.1, rel=0.02)
    assert np.abs(redder[..., 1:] - usual[..., 1:]).max() < 1e-3


@pytest.mark.parametrize("kind", ["auto", "daylight"])
def test_other_balances_differ_from_the_cameras(
    tmp_path: Path, plain: NDArray[np.float64], kind: str
) -> None:
    assert np.abs(_convert(tmp_path / "a.png", "--wb", kind) - plain).mean() > 0.01


def test_black_and_white_set_the_levels(tmp_path: Path) -> None:
    usual = _convert(tmp_path / "a.png", "--linear")
    lower = _convert(tmp_path / "b.png", "--linear", "--white", "8447")
    unclipped = (lower > 0.1) & (lower < 0.9)
    assert np.median(lower[unclipped] / usual[unclipped]) == pytest.approx(
        (16383 - 512) / (8447 - 512), rel=0.01
    )
    assert _convert(tmp_path / "c.png", "--black", "0").min() > 0.1


def test_white_metadata_keeps_the_level_of_the_file(tmp_path: Path) -> None:
    """Green that saturates below white, while the light goes on rising, is white by `auto` alone."""
    source, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    ramp = np.broadcast_to(np.linspace(0.3, 1.6, 120)[None, :, None], (80, 120, 3))
    write_dng(source, np.minimum(exposed(ramp, cfa, Camera()), 14_000), cfa, Camera())
    saturated = (slice(None), slice(90, None))
    clip = ("--highlights", "clip")
    assert _convert(tmp_path / "auto.png", *clip, source=source)[saturated].min() > 0.99
    stated = _convert(tmp_path / "metadata.png", *clip, "--white", "metadata", source=source)[saturated]
    assert stated[..., 1].max() < 0.97


def test_highlights_blend_keeps_detail_that_clip_loses(tmp_path: Path) -> None:
    source, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    ramp = np.broadcast_to(np.linspace(1.05, 1.5, 60)[None, :, None], (40, 60, 3))
    write_dng(source, exposed(ramp, cfa, Camera()), cfa, Camera())
    assert np.ptp(_convert(tmp_path / "a.png", "--highlights", "clip", source=source)) < 1e-3
    assert np.ptp(_convert(tmp_path / "b.png", "--highlights", "blend", source=source)) > 0.05


def test_rotation_is_applied_unless_refused(tmp_path: Path) -> None:
    source, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    camera = Camera(orientation=6)
    write_dng(source, exposed(light_of(rounded(scene(36, 48))), cfa, camera), cfa, camera)
    turned = _convert(tmp_path / "a.png", source=source)
    straight = _convert(tmp_path / "b.tif", "--no-rotate", "--no-metadata", source=source)
    assert np.array_equal(turned, np.rot90(straight, -1))


def test_crop_of_the_camera_cuts_the_picture(tmp_path: Path) -> None:
    from demosaic_ntc.io.tiff_tags import LONG, Field

    source, cfa = tmp_path / "a.dng", Cfa.from_name("RGGB")
    tags = {50719: Field(LONG, (6, 4)), 50720: Field(LONG, (30, 20))}
    light = light_of(rounded(scene(36, 48)))
    write_dng(source, exposed(light, cfa, Camera()), cfa, Camera(), changed=tags)
    whole = _convert(tmp_path / "a.png", "--crop", "visible", source=source)
    cut = _convert(tmp_path / "b.png", "--crop", "camera", source=source)
    assert whole.shape == (36, 48, 3)
    assert np.array_equal(cut, whole[4:24, 6:36])
    assert np.array_equal(_convert(tmp_path / "c.png", source=source), cut)
    half = _convert(tmp_path / "d.png", "--half", source=source)
    assert np.array_equal(
        half, _convert(tmp_path / "e.png", "--half", "--crop", "visible", source=source)[2:12, 3:18]
    )


@pytest.mark.parametrize("asked", [(), ("--crop", "camera"), ("--crop", "visible")])
def test_without_a_crop_all_is_kept_and_that_is_told_only_if_one_was_asked_for(
    tmp_path: Path, asked: tuple[str, ...]
) -> None:
    result = _run(SMALL, tmp_path / "a.png", "--method", "bilinear", *asked)
    assert "48×36" in result.stdout
    assert ("stored no crop" in result.output) == (asked == ("--crop", "camera"))


def test_plain_mosaics_need_only_their_array(tmp_path: Path) -> None:
    import tifffile

    linear = light_of(rounded(scene(36, 48)))
    tifffile.imwrite(
        tmp_path / "m.tif", Cfa.from_name("GBRG").sample(np.round(linear * 65535).astype(np.uint16))
    )
    picture = _convert(tmp_path / "a.png", "--cfa", "GBRG", source=tmp_path / "m.tif")
    wrong = _convert(tmp_path / "b.png", "--cfa", "RGGB", source=tmp_path / "m.tif")
    truth = scene(36, 48)
    assert np.abs(picture - truth).mean() < 0.7 * np.abs(wrong - truth).mean()


def test_headerless_data_needs_size_and_array(tmp_path: Path) -> None:
    linear = light_of(rounded(scene(36, 48)))
    mosaic = Cfa.from_name("RGGB").sample(np.round(linear * 16383).astype("<u2"))
    (tmp_path / "m.raw").write_bytes(mosaic.tobytes())
    layout = ("--width", 48, "--height", 36, "--bits", 14, "--cfa", "RGGB")
    picture = _convert(tmp_path / "a.png", *layout, source=tmp_path / "m.raw")
    assert picture.mean() == pytest.approx(scene(36, 48).mean(), abs=0.02)


@pytest.mark.parametrize(
    ("options", "target", "depth"),
    [
        (("--bits", 14), "a.png", np.uint16),
        (("--bits", 14), "a.jpg", np.uint8),
        (("--raw-bits", 14), "a.png", np.uint16),
        (("--raw-bits", 14, "--bits", 8), "a.png", np.uint8),
    ],
)
def test_bits_are_of_headerless_samples_unless_raw_bits_are_given(
    tmp_path: Path, options: tuple[object, ...], target: str, depth: type
) -> None:
    (tmp_path / "m.raw").write_bytes(np.full((36, 48), 16383 // 2, "<u2").tobytes())
    layout = ("--width", 48, "--height", 36, "--cfa", "RGGB", "--linear")
    picture = _convert(tmp_path / target, *layout, *options, source=tmp_path / "m.raw")
    stored = cv2.imread(str(tmp_path / target), cv2.IMREAD_UNCHANGED)
    assert stored is not None
    assert stored.dtype == depth
    assert picture == pytest.approx(0.5, abs=0.01)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("DSC_1339_768x512_rggb.raw", ("--width", 768, "--height", 512, "--bits", 16, "--cfa", "RGGB")),
        (
            "1MCC_IMG_20181229_001526_1.raw",
            ("--width", 1920, "--height", 1080, "--bits", 10, "--cfa", "BGGR"),
        ),
    ],
)
def test_headerless_data_of_cameras(
    tmp_path: Path, data: Path, name: str, options: tuple[object, ...]
) -> None:
    source = data / "raw" / name
    assert _convert(tmp_path / "a.png", *options, source=source).std() > 0.02
    assert _run("info", source, *options).exit_code == 0


def test_json_is_one_object_with_what_was_done(tmp_path: Path) -> None:
    result = _run(SMALL, tmp_path / "a.png", "--method", "bilinear", "--json")
    done = json.loads(result.stdout)
    assert (done["status"], done["camera"]) == ("done", "demosaic-ntc Synthetic camera")
    assert (done["width"], done["height"], done["cfa"]) == (48, 36, "RGGB")
    assert done["white_balance"]["source"] == "camera"
    assert done["seconds"]["total"] == pytest.approx(sum(done["seconds"].values()) / 2)
    assert done["certificate"] is None
    assert result.stderr == ""


def test_quiet_says_nothing_and_verbose_says_more(tmp_path: Path) -> None:
    quiet = _run(SMALL, tmp_path / "a.png", "--method", "bilinear", "-q")
    usual = _run(SMALL, tmp_path / "b.png", "--method", "bilinear")
    verbose = _run(SMALL, tmp_path / "c.png", "--method", "bilinear", "-v")
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert len(verbose.stdout.splitlines()) > len(usual.stdout.splitlines()) > 0


def test_unknown_method_is_wrong_usage(tmp_path: Path) -> None:
    result = _run(SMALL, tmp_path / "a.png", "--method", "magic")
    assert result.exit_code == 2
    assert "magic" in result.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--wb", "1,2"],
        ["--wb", "blue"],
        ["--wb", "1,0,1"],
        ["--exposure", "bright"],
        ["--exposure", "99"],
        ["--white", "much"],
        ["--black", "1,2"],
        ["--bits", "10"],
        ["--color-space", "cmyk"],
        ["--quality", "superb"],
        ["--jpeg-quality", "0"],
        ["--width", "10"],
        ["--cfa", "RGBX"],
        ["--threads", "0"],
    ],
)
def test_values_that_make_no_sense_are_wrong_usage(tmp_path: Path, options: list[str]) -> None:
    result = _run(SMALL, tmp_path / "a.png", "--method", "bilinear", *options)
    assert result.exit_code == 2
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize("name", ["a.gif", "a", "a.cr2"])
def test_unknown_formats_are_wrong_usage(tmp_path: Path, name: str) -> None:
    assert _run(SMALL, tmp_path / name, "--method", "bilinear").exit_code == 2


def test_folder_as_output_is_told_apart_from_an_unknown_format(tmp_path: Path) -> None:
    result = _run(SMALL, tmp_path, "--method", "bilinear")
    assert result.exit_code == 2
    assert "is a folder" in " ".join(result.stderr.replace("│", " ").split())  # wherever the line is broken


def test_sixteen_bit_jpeg_is_wrong_usage(tmp_path: Path) -> None:
    assert _run(SMALL, tmp_path / "a.jpg", "--bits", "16", "--method", "bilinear").exit_code == 2


@pytest.mark.parametrize("command", ["convert", "info"])
def test_help_names_the_options(command: str) -> None:
    result = _run(command, "--help")
    assert result.exit_code == 0
    assert "--max-pixels" in result.stdout


def test_every_parameter_that_shapes_the_picture_is_recorded(tmp_path: Path) -> None:
    from PIL import Image

    _convert(tmp_path / "a.jpg", "--wb", "2,1,1.5", "--quality", "fast")
    with Image.open(tmp_path / "a.jpg") as picture:
        comment = picture.getexif().get_ifd(0x8769)[37510]
    assert b"wb=given (2,1,1.5 5123K,-7)" in comment
    assert b"quality=fast" in comment


def test_a_light_or_a_patch_or_a_name_sets_the_white_balance(tmp_path: Path) -> None:
    import json

    used = {}
    for given in ("--wb=5200K,+8", "--wb=tungsten", "--wb-from=20,18,3"):
        result = _run(SMALL, tmp_path / "a.png", "--method", "bilinear", given, "--overwrite", "--json")
        assert result.exit_code == 0, result.stderr
        used[given] = json.loads(result.stdout)["white_balance"]
    assert (used["--wb=5200K,+8"]["kelvin"], used["--wb=5200K,+8"]["tint"]) == (5200, 8.0)
    assert (used["--wb=tungsten"]["source"], used["--wb=tungsten"]["kelvin"]) == ("tungsten", 2850)
    assert used["--wb-from=20,18,3"]["source"] == "patch"


@pytest.mark.parametrize(
    "wrong", ["--wb=warm", "--wb=99K", "--wb=5000K,x", "--wb-from=1", "--wb-from=1,2,3,4", "--wb-from=-1,5"]
)
def test_lights_and_patches_that_are_none_are_wrong_usage(tmp_path: Path, wrong: str) -> None:
    result = _run(SMALL, tmp_path / "a.png", wrong)
    assert result.exit_code == 2
    assert not (tmp_path / "a.png").exists()


def test_a_mosaic_without_levels_is_told_what_to_give(tmp_path: Path) -> None:
    samples = np.random.default_rng(1).integers(64, 1000, (40, 60)).astype("<u2")
    samples[:20] = 64
    (tmp_path / "a.raw").write_bytes(samples.tobytes())
    layout = ("--width", 60, "--height", 40, "--cfa", "RGGB", "--raw-bits", 10)
    result = _run(tmp_path / "a.raw", tmp_path / "a.png", "--method", "bilinear", *layout)
    assert result.exit_code == 0
    assert "--wb auto" in result.stderr
    assert "--black 64" in result.stderr


@pytest.mark.parametrize("options", [(), ("--wb", "auto"), ("--wb", "2,1,1.5")])
def test_a_black_level_is_seen_whatever_balance_is_chosen(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Samples of 14 bits in 16: their black is told by how far they reach, not by what 16 bits could hold."""
    ramp = np.linspace(600, 16383, 64 * 64).reshape(64, 64).astype(np.uint16)
    cv2.imwrite(str(tmp_path / "m.png"), ramp)
    words = (tmp_path / "m.png", tmp_path / "a.png", "--cfa", "RGGB", "--method", "bilinear")
    assert "if that is black, give --black 6" in _run(*words, *options).stderr
    told = _run(*words, *options, "--black", 600, "--overwrite").stderr
    assert "if that is black" not in told
