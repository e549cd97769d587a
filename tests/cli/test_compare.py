import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner, Result

from cli.app import app

FAST = ("--methods", "bilinear,malvar,libraw-ahd")


def compare(*options: object) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, options)])


def scenes(folder: Path) -> list[dict[str, Any]]:
    (data,) = re.findall(r'id="scenes">(.*?)</script>', (folder / "index.html").read_text(), re.DOTALL)
    found: list[dict[str, Any]] = json.loads(data)
    return found


def test_two_raws_are_shown_in_their_most_detailed_parts(samples: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder"
    raws = (samples / "scene_rggb.dng", samples / "scene_xtrans.dng")
    result = compare(*raws, "-o", target, "--methods", "bilinear,libraw-vng", "--crops", 2, "--crop-size", 64)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == str(target / "index.html")
    shown = scenes(target)
    assert [scene["name"] for scene in shown] == [
        f"scene_{array}, part {n}" for array in ("rggb", "xtrans") for n in (1, 2)
    ]
    assert {version["name"] for scene in shown for version in scene["versions"]} == {"bilinear", "libraw-vng"}
    assert [scene["truth"] for scene in shown] == [None] * 4
    assert list(target.iterdir()) == [target / "index.html"]
    page = (target / "index.html").read_text()
    assert "<h1>scene_rggb.dng and scene_xtrans.dng</h1>" in page
    for fact in ("machine", "versions", "commit", "development"):
        assert f"<dt>{fact}</dt>" in page


def test_our_qualities_and_libraws_algorithms_are_compared_unless_told_otherwise(
    small: Path, tmp_path: Path
) -> None:
    result = compare(small, "-o", tmp_path, "--threads", 1)
    assert result.exit_code == 0, result.stderr
    names = [version["name"] for version in scenes(tmp_path)[0]["versions"]]
    assert names[:2] == ["ours, normal", "libraw-ahd"]
    assert {"ours, best", "ours, fast", "libraw-dcb", "libraw-linear"} <= set(names)


def test_a_part_can_be_given(samples: Path, tmp_path: Path) -> None:
    result = compare(samples / "scene_rggb.dng", "-o", tmp_path, *FAST, "--crop-box", "10,20,50,40")
    assert result.exit_code == 0, result.stderr
    (scene,) = scenes(tmp_path)
    assert (scene["width"], scene["height"]) == (50, 40)
    assert scene["box"] == pytest.approx([10 / 256, 20 / 192, 50 / 256, 40 / 192])


def test_whole_pictures_are_files_beside_the_page(small: Path, tmp_path: Path) -> None:
    result = compare(small, small, "-o", tmp_path, *FAST, "--full")
    assert result.exit_code == 0, result.stderr
    shown = scenes(tmp_path)
    assert [scene["name"] for scene in shown] == ["small_rggb", "small_rggb (2)"]
    for scene in shown:
        assert (scene["width"], scene["height"], scene["box"]) == (48, 36, None)
        for version in scene["versions"]:
            assert (tmp_path / unquote(version["source"])).stat().st_size > 0


def test_a_page_that_is_there_is_left_alone_unless_told_otherwise(small: Path, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    result = compare(small, "-o", tmp_path, *FAST)
    assert result.exit_code == 4
    assert "exists already; use --overwrite" in result.stderr
    assert (tmp_path / "index.html").read_text() == "mine"
    assert compare(small, "-o", tmp_path, *FAST, "--overwrite").exit_code == 0
    assert scenes(tmp_path)


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (("--methods", "amaze,ntc"), 2, "no method amaze"),
        (("--methods", "ntc"), 2, "needs two methods"),
        (("--crop-box", "1,2,3"), 2, "is not LEFT,TOP"),
        ((*FAST, "--crop-box", "40,0,20,20"), 3, "leaves the picture of 48×36"),
    ],
)
def test_what_cannot_be_shown_is_explained(
    small: Path, tmp_path: Path, options: tuple[str, ...], code: int, reason: str
) -> None:
    result = compare(small, "-o", tmp_path, *options)
    assert result.exit_code == code
    assert reason in re.sub(r"[│\s]+", " ", result.stderr)
