"""The command ``convert``: options of the engine, of dead pixels and of the file do what they say."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.developing.settings import Engine, Settings
from demosaic_ntc.run import Progress
from demosaic_ntc.workflows.conversion import convert_file
from demosaic_ntc.workflows.costs import stage_costs


def _converted(source: Path, target: Path, *options: object) -> dict[str, Any]:
    """What the program says of a conversion without complaints."""
    arguments = ["convert", str(source), str(target), "--json", *map(str, options)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    done: dict[str, Any] = json.loads(result.stdout)
    return done


def test_method_decides_whether_there_is_a_certificate(tmp_path: Path, small: Path) -> None:
    done = _converted(small, tmp_path / "a.png", "--quality", "fast")
    assert done["certificate"]["share_certified"] == 1
    assert _converted(small, tmp_path / "b.png", "--method", "malvar")["certificate"] is None
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("method", ["ntc", "malvar"])
def test_every_stage_of_a_conversion_has_its_share_of_the_bar(
    method: str, tmp_path: Path, small: Path
) -> None:
    seen: list[Progress] = []
    convert_file(small, tmp_path / "a.png", Settings(engine=Engine(method=method)), seen.append)
    assert {progress.stage for progress in seen} == stage_costs(method, "normal").keys()


def test_qualities_differ_and_are_recorded(tmp_path: Path, small: Path) -> None:
    fast = _converted(small, tmp_path / "a.png", "--quality", "fast", "--no-metadata")
    normal = _converted(small, tmp_path / "b.png", "--quality", "normal", "--no-metadata")
    assert "quality=fast" in fast["parameters"]
    assert "quality=normal" in normal["parameters"]
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()


def test_threads_change_nothing_but_the_time(tmp_path: Path, small: Path) -> None:
    for threads in (1, 2):
        _converted(small, tmp_path / f"{threads}.png", "--quality", "fast", "--threads", threads)
    assert (tmp_path / "1.png").read_bytes() == (tmp_path / "2.png").read_bytes()


def test_time_limit_leaves_groups_uncertified_but_writes_the_picture(tmp_path: Path, small: Path) -> None:
    done = _converted(small, tmp_path / "a.png", "--quality", "fast", "--time-limit", "0.01")
    assert done["certificate"]["share_certified"] == 0
    assert (tmp_path / "a.png").exists()


def test_what_dead_pixels_measured_does_not_matter(tmp_path: Path, samples: Path) -> None:
    """Two raws that differ in one sample give one picture when that sample is listed, else two."""
    raw = (samples / "small_rggb.dng").read_bytes()
    column, row, start = 20, 10, 8
    place = start + 2 * (row * 48 + column)
    (tmp_path / "dead.dng").write_bytes(raw[:place] + b"\0\2" + raw[place + 2 :])
    (tmp_path / "hot.dng").write_bytes(raw[:place] + b"\xff\x3f" + raw[place + 2 :])
    (tmp_path / "bad.txt").write_text(f"{column} {row}\n")
    pictures = {}
    for name in ("dead", "hot"):
        for listed in (True, False):
            options = ("--bad-pixels", tmp_path / "bad.txt") if listed else ()
            target = tmp_path / f"{name}{listed}.png"
            _converted(tmp_path / f"{name}.dng", target, "--quality", "fast", *options)
            pictures[name, listed] = target.read_bytes()
    assert pictures["dead", True] == pictures["hot", True]
    assert pictures["dead", False] != pictures["hot", False]


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_no_metadata_keeps_the_profile_only(tmp_path: Path, small: Path, suffix: str) -> None:
    target = tmp_path / f"a.{suffix}"
    _converted(small, target, "--method", "bilinear", "--no-metadata", "--bits", 8)
    with Image.open(target) as picture:
        assert picture.getexif().get(271) is None
        assert picture.info["icc_profile"]


def test_jpeg_quality_changes_the_size(tmp_path: Path, small: Path) -> None:
    for quality in (40, 95):
        _converted(small, tmp_path / f"{quality}.jpg", "--method", "bilinear", "--jpeg-quality", quality)
    assert (tmp_path / "40.jpg").stat().st_size < (tmp_path / "95.jpg").stat().st_size
