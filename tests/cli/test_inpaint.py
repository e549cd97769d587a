"""The command ``inpaint``: every option does what it says."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.images.mask_rule import MaskRule
from demosaic_ntc.run import Progress
from demosaic_ntc.workflows.costs import REPAIR_COSTS
from demosaic_ntc.workflows.repair import repair_file
from tests.images.picture_files import HEIGHT, KINDS, WIDTH, opened, rgb, scratch, write_mask
from tests.inpainting.test_wide_holes import bricks, square


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["inpaint", *map(str, arguments)])


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    KINDS["rgb8.png"](tmp_path / "a.png")
    return tmp_path / "a.png"


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    return write_mask(tmp_path / "mask.png", scratch())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.png"


@pytest.mark.parametrize("quality", ["fast", "normal"])
def test_three_paths_are_enough(quality: str, picture: Path, mask: Path, out: Path) -> None:
    result = _run(picture, mask, out, "--quality", quality)
    assert result.exit_code == 0, result.stderr
    assert f"out.png: 30×40, {scratch().sum()} pixels restored (8.00%)" in result.stdout
    before, after = np.asarray(rgb()), np.asarray(opened(out))
    assert np.array_equal(after[~scratch()], before[~scratch()])
    assert np.abs(after.astype(int) - before)[scratch()].mean() < 10


def test_every_stage_of_a_repair_has_its_share_of_the_bar(picture: Path, mask: Path, out: Path) -> None:
    seen: list[Progress] = []
    repair_file(picture, mask, out, RepairSettings(MaskRule()), seen.append)
    assert {progress.stage for progress in seen} == REPAIR_COSTS.keys()


def test_the_mask_may_be_inverted(picture: Path, tmp_path: Path, mask: Path, out: Path) -> None:
    inverted = write_mask(tmp_path / "inverted.png", ~scratch())
    for chosen, options in ((mask, ()), (inverted, ("--invert",))):
        assert _run(picture, chosen, out, "--method", "biharmonic", "--overwrite", *options).exit_code == 0
        after = np.asarray(opened(out))
        assert np.array_equal(after[~scratch()], np.asarray(rgb())[~scratch()])
        assert not np.array_equal(after[scratch()], np.asarray(rgb())[scratch()])


def test_wide_holes_get_texture_where_it_is_asked_for(tmp_path: Path, out: Path) -> None:
    """In JSON and in words: how much was copied; source maps and growth by their options."""
    Image.fromarray(bricks()).save(tmp_path / "wall.png")
    mask, allowed = (
        write_mask(tmp_path / name, flags) for name, flags in (("m.png", square(40)), ("s.png", ~square(120)))
    )
    files = tmp_path / "wall.png", mask, out
    options = ("--fill", "auto", "--grow", 2, "--source", allowed, "--source-map", tmp_path / "map.tif")
    result = _run(*files, *options, "--quality", "fast", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["copied"] == told["missing"] > 40 * 40
    assert told["copied_share"] == 1
    assert told["source_map"] == str(tmp_path / "map.tif")
    assert "fill=auto grow=2" in told["parameters"]
    assert any("neither measured nor certified" in notice for notice in told["notices"])
    assert _run(*files, "--fill", "clouds").exit_code == 2
    assert _run(*files, "--grow", -1).exit_code == 2
    refused = _run(*files, "--source-map", tmp_path / "map.tif")
    assert refused.exit_code == 2
    assert "--fill" in refused.stderr


def test_soft_masks_need_a_threshold(picture: Path, tmp_path: Path, out: Path) -> None:
    Image.fromarray(np.where(scratch(), 180, 40).astype(np.uint8)).save(tmp_path / "soft.png")
    assert _run(picture, tmp_path / "soft.png", out).exit_code == 3
    assert _run(picture, tmp_path / "soft.png", out, "--threshold", 0.5).exit_code == 0


def test_a_painted_colour_needs_no_mask(picture: Path, out: Path) -> None:
    pixels = np.array(rgb())
    pixels[scratch()] = (255, 0, 255)
    Image.fromarray(pixels).save(picture)
    result = _run(picture, out, "--mask-color", "#ff00ff", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["missing"] == scratch().sum()
    assert np.abs(np.asarray(opened(out)).astype(int) - np.asarray(rgb()))[scratch()].mean() < 10


@pytest.mark.parametrize(
    ("paths", "options", "reason"),
    [
        ("io", (), "give IN MASK OUT, or IN OUT with --mask-color, --mask-from or --detect"),
        ("o", ("--mask-from", "alpha"), "give IN OUT with --mask-from"),
        ("io", ("--mask-from", "alpha", "--mask-color", "#ff00ff"), "a painted colour is no other mask"),
        ("imo", ("--mask-color", "#ff00ff"), "give IN OUT with --mask-color"),
        ("io", ("--mask-color", "pink"), "'pink' is not a colour"),
        ("io", ("--mask-color", "#ff00ff", "--invert"), "a painted colour is not a mask"),
        ("imo", ("--threshold", "2"), "a threshold of 2 is not a share of white"),
        ("imo", ("--method", "magic"), "unknown method 'magic'"),
        ("imo", ("--quality", "superb"), "'superb' is not one of"),
        ("imi", (), "input and output are the same file"),
        ("imm", (), "input and output are the same file"),
        ("img", (), "unknown picture format '.gif'"),
        ("imd", (), "unknown picture format '.dng'"),
    ],
)
def test_wrong_usage(
    paths: str, options: tuple[str, ...], reason: str, picture: Path, mask: Path, out: Path
) -> None:
    files = {"i": picture, "m": mask, "o": out, "g": out.with_suffix(".gif"), "d": out.with_suffix(".dng")}
    result = _run(*(files[letter] for letter in paths), *options)
    assert result.exit_code == 2
    plain = " ".join(result.stderr.replace("│", " ").split())
    assert reason in plain
    assert not out.exists()


def test_an_existing_output_is_left_alone(picture: Path, mask: Path, out: Path) -> None:
    out.write_bytes(b"old")
    result = _run(picture, mask, out)
    assert result.exit_code == 0
    assert "exists, skipped; use --overwrite" in result.stderr
    assert out.read_bytes() == b"old"
    told = json.loads(_run(picture, mask, out, "--json").stdout)
    assert told["status"] == "skipped"
    assert _run(picture, mask, out, "--overwrite", "--method", "biharmonic").exit_code == 0
    assert opened(out).size == (WIDTH, HEIGHT)


def test_json_says_everything(picture: Path, mask: Path, out: Path) -> None:
    result = _run(picture, mask, out, "--json", "--quality", "fast", "--threads", 1)
    told = json.loads(result.stdout)
    assert told["status"] == "done"
    assert (told["width"], told["height"], told["depth"]) == (WIDTH, HEIGHT, "8-bit")
    assert told["missing_share"] == pytest.approx(0.08)
    assert told["parameters"] == "method=gaussian quality=fast grain=auto"
    assert told["seconds"]["total"] > 0
    assert result.stderr == ""


def test_interpolation_has_no_certificate(picture: Path, mask: Path, out: Path) -> None:
    assert (
        json.loads(_run(picture, mask, out, "--json", "--method", "biharmonic").stdout)["certificate"] is None
    )


def test_quiet_is_quiet_and_verbose_says_more(picture: Path, mask: Path, out: Path) -> None:
    quiet = _run(picture, mask, out, "-q", "--method", "biharmonic")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "", "")
    verbose = _run(picture, mask, out, "-v", "--overwrite", "--method", "biharmonic")
    assert "8-bit, decode " in verbose.stdout


def test_a_jpeg_output_says_what_it_costs(picture: Path, mask: Path, tmp_path: Path) -> None:
    result = _run(picture, mask, tmp_path / "out.jpg", "--method", "biharmonic")
    assert "note: JPEG codes all pixels again" in result.stderr
    assert "note: from PNG to JPEG" in result.stderr


def test_a_time_limit_still_gives_a_picture(picture: Path, mask: Path, out: Path) -> None:
    assert _run(picture, mask, out, "--time-limit", 0.01).exit_code == 0
    assert opened(out).size == (WIDTH, HEIGHT)


def test_names_that_look_like_options_and_names_with_control_characters(tmp_path: Path, mask: Path) -> None:
    source = tmp_path / "a\nb \x1b[31m.png"
    KINDS["rgb8.png"](source)
    result = _run("--method", "biharmonic", "--", source, mask, tmp_path / "-out.png")
    assert result.exit_code == 0
    assert (tmp_path / "-out.png").exists()
    assert "\x1b" not in _run(source, mask, source).stderr
