"""The option ``--error-map`` of ``convert`` and ``inpaint``: what is written, said and refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from typer.testing import CliRunner

from cli.app import app
from tests.images.picture_files import HEIGHT, KINDS, WIDTH, scratch, write_mask

Command = Callable[..., list[str]]


def _run(arguments: list[str], *options: object) -> Any:
    return CliRunner().invoke(app, [*arguments, *map(str, options)])


@pytest.fixture(params=["convert", "inpaint"])
def command(request: pytest.FixtureRequest, tmp_path: Path, small: Path) -> Command:
    """A small piece of work without its target, at the least effort."""
    if request.param == "convert":
        return lambda target: ["convert", str(small), str(target), "--quality", "fast"]
    KINDS["rgb8.png"](tmp_path / "in.png")
    mask = write_mask(tmp_path / "mask.tif", scratch())
    return lambda target: ["inpaint", str(tmp_path / "in.png"), str(mask), str(target), "--quality", "fast"]


def test_the_map_is_written_and_told(tmp_path: Path, command: Command) -> None:
    result = _run(command(tmp_path / "a.png"), "--error-map", tmp_path / "e.tif")
    assert result.exit_code == 0, result.stderr
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("error map: ")]
    assert f"error map: {tmp_path / 'e.tif'}, expected error " in line
    assert " of 65535 (" in line or " of 255 (" in line
    assert tifffile.imread(tmp_path / "e.tif").dtype == np.float32


def test_json_has_the_map_and_its_root_mean_square(tmp_path: Path, command: Command) -> None:
    done = json.loads(_run(command(tmp_path / "a.png"), "--error-map", tmp_path / "e.tif", "--json").stdout)
    errors = tifffile.imread(tmp_path / "e.tif").astype(np.float64)
    assert done["error_map"] == str(tmp_path / "e.tif")
    assert done["expected_rms"] == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-6)
    assert errors.shape == (done["height"], done["width"], 3)


def test_without_the_option_there_is_none(tmp_path: Path, command: Command) -> None:
    done = json.loads(_run(command(tmp_path / "a.png"), "--json").stdout)
    assert (done["error_map"], done["expected_rms"]) == (None, None)
    assert not (tmp_path / "e.tif").exists()


def test_depth_of_the_picture_is_the_scale_of_the_map(tmp_path: Path, small: Path) -> None:
    found = {}
    for bits in (8, 16):
        options = ("--quality", "fast", "--bits", bits, "--error-map", tmp_path / f"{bits}.tif", "--json")
        done = _run(["convert", str(small), str(tmp_path / f"{bits}.png")], *options)
        found[bits] = json.loads(done.stdout)["expected_rms"]
    assert found[16] == pytest.approx(257 * found[8], rel=1e-6)


def test_linear_pictures_have_other_errors(tmp_path: Path, small: Path) -> None:
    maps = []
    for name, options in (
        ("encoded", ()),
        ("linear", ("--linear",)),
        ("up", ("--linear", "--exposure", "1")),
    ):
        arguments = ["convert", str(small), str(tmp_path / f"{name}.png"), "--quality", "fast", *options]
        assert _run(arguments, "--error-map", tmp_path / f"{name}.tif").exit_code == 0
        maps.append(tifffile.imread(tmp_path / f"{name}.tif"))
    encoded, linear, brighter = maps
    assert np.abs(encoded / linear - 1).max() > 0.5
    assert brighter == pytest.approx(2 * linear, rel=1e-4)


def test_a_picture_that_exists_is_skipped_with_its_map(tmp_path: Path, command: Command) -> None:
    (tmp_path / "a.png").write_bytes(b"old")
    result = _run(command(tmp_path / "a.png"), "--error-map", tmp_path / "e.tif")
    assert (result.exit_code, (tmp_path / "a.png").read_bytes()) == (0, b"old")
    assert "exists, skipped" in result.stderr
    assert not (tmp_path / "e.tif").exists()


def test_a_map_that_exists_is_refused_unless_it_may_be_replaced(tmp_path: Path, command: Command) -> None:
    (tmp_path / "e.tif").write_bytes(b"old")
    result = _run(command(tmp_path / "a.png"), "--error-map", tmp_path / "e.tif")
    assert result.exit_code == 4
    assert "e.tif: exists already; use --overwrite" in result.stderr
    assert (tmp_path / "e.tif").read_bytes() == b"old"
    assert not (tmp_path / "a.png").exists()
    assert _run(command(tmp_path / "a.png"), "--error-map", tmp_path / "e.tif", "--overwrite").exit_code == 0
    assert tifffile.imread(tmp_path / "e.tif").ndim == 3


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("e.png", (), "an error map is a TIFF; give a name that ends in .tif"),
        ("e", (), "an error map is a TIFF"),
        ("e.tif", ("--method", "METHOD"), "write error maps with --method gaussian"),
        ("a.tif", (), "choose another name"),
        ("link.tif", (), "choose another name"),
    ],
)
def test_maps_that_make_no_sense_are_wrong_usage(
    tmp_path: Path, command: Command, name: str, options: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "link.tif").symlink_to(tmp_path / "a.tif")
    arguments = command(tmp_path / "a.tif")
    interpolation = "bilinear" if arguments[0] == "convert" else "biharmonic"
    chosen = [interpolation if option == "METHOD" else option for option in options]
    result = _run(arguments, "--error-map", tmp_path / name, *chosen)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert not (tmp_path / "a.tif").exists()
    assert not (tmp_path / "e.tif").exists()


def test_inputs_are_not_replaced_by_a_map(tmp_path: Path) -> None:
    KINDS["rgb8.tif"](tmp_path / "in.tif")
    mask = write_mask(tmp_path / "mask.tif", scratch())
    for used in (tmp_path / "in.tif", mask):
        content = used.read_bytes()
        arguments = ["inpaint", str(tmp_path / "in.tif"), str(mask), str(tmp_path / "a.png"), "--overwrite"]
        assert _run(arguments, "--error-map", used).exit_code == 2
        assert used.read_bytes() == content


def test_a_folder_that_is_not_there_is_found_before_the_work(tmp_path: Path, command: Command) -> None:
    result = _run(command(tmp_path / "a.png"), "--error-map", tmp_path / "missing" / "e.tif")
    assert result.exit_code == 4
    assert "there is no folder" in result.stderr
    assert not (tmp_path / "a.png").exists()


def test_a_failure_leaves_neither_picture_nor_map(tmp_path: Path) -> None:
    (tmp_path / "bad.dng").write_bytes(b"II*\0 no raw at all")
    arguments = ["convert", str(tmp_path / "bad.dng"), str(tmp_path / "a.png")]
    assert _run(arguments, "--error-map", tmp_path / "e.tif").exit_code == 3
    assert [path.name for path in tmp_path.iterdir()] == ["bad.dng"]


def test_transparency_has_no_errors(tmp_path: Path) -> None:
    KINDS["rgba8.png"](tmp_path / "in.png")
    mask = write_mask(tmp_path / "mask.png", scratch())
    arguments = ["inpaint", str(tmp_path / "in.png"), str(mask), str(tmp_path / "a.png"), "--quality", "fast"]
    assert _run(arguments, "--error-map", tmp_path / "e.tif").exit_code == 0
    assert tifffile.imread(tmp_path / "e.tif").shape == (HEIGHT, WIDTH, 3)


@pytest.mark.parametrize("command", ["convert", "inpaint"])
def test_help_says_that_neighbours_are_correlated(command: str) -> None:
    told = " ".join(_run([command, "--help"]).stdout.replace("│", " ").split())
    assert "--error-map" in told
    assert "neighbouring pixels are correlated" in told


@pytest.mark.parametrize("command", ["batch", "watch"])
def test_batches_offer_no_map(command: str) -> None:
    assert "--error-map" not in _run([command, "--help"]).stdout
