"""The command ``merge``: several raws and one picture, a table of frames, folders of bursts."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc import read_mosaic
from tests.batch.batches import PATIENCE
from tests.bursts import MOVES, Shot, clouded_light, still_light, take, take_all

SIZE = (48, 64)
QUICK = ("--quality", "fast")


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["merge", *map(str, arguments)])


@pytest.fixture(scope="module")
def burst(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three small frames."""
    folder = tmp_path_factory.mktemp("burst")
    return take_all(folder, still_light(SIZE), [Shot(move) for move in MOVES[:3]])


def test_a_linear_dng_and_a_table_of_frames(burst: list[Path], tmp_path: Path) -> None:
    result = _run(*burst, tmp_path / "out.dng", *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "out.dng: demosaic-ntc Synthetic camera, 64×48, RGGB, white balance camera" in result.stdout
    table = result.stdout[result.stdout.index("merged: 3 of 3 frames") :].splitlines()
    assert table[1].split() == ["frame", "down", "right", "turned", "exposure", "accepted"]
    assert [row.split()[0] for row in table[2:]] == [path.name for path in burst]
    assert sum(row.endswith("reference") for row in table[2:]) == 1
    assert read_mosaic(tmp_path / "out.dng").is_linear


def test_one_frame_has_the_bytes_of_a_conversion(burst: list[Path], tmp_path: Path) -> None:
    for name in ("a.dng", "a.png"):
        assert _run(burst[0], tmp_path / name, *QUICK).exit_code == 0
        words = ["convert", str(burst[0]), str(tmp_path / f"c{name}"), *QUICK]
        assert CliRunner().invoke(app, words).exit_code == 0
        assert (tmp_path / name).read_bytes() == (tmp_path / f"c{name}").read_bytes()


def test_json_tells_of_every_frame(burst: list[Path], tmp_path: Path) -> None:
    foreign = take(tmp_path / "foreign.dng", clouded_light(SIZE), Shot(seed=9))
    options = ("--json", "--reference", "frame1", "--motion", "auto", "--ghosts", "strict", *QUICK)
    result = _run(*burst, foreign, tmp_path / "a.jpg", *options)
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["source"].endswith("frame1.dng")
    assert [frame["used"] for frame in told["frames"]] == [True, True, True, False]
    assert [frame["reference"] for frame in told["frames"]] == [False, True, False, False]
    assert told["frames"][0]["shift"] == pytest.approx(MOVES[1], abs=0.3)
    assert any("foreign.dng was left out" in notice for notice in told["notices"])


def test_options_of_convert_are_heard(burst: list[Path], tmp_path: Path) -> None:
    assert _run(*burst[:2], tmp_path / "a.png", "--bits", 8, "--resize", 32, *QUICK).exit_code == 0
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (32, 24)
        comment = picture.getexif().get_ifd(0x8769)[0x9286]
    assert b"frames=2 reference=frame" in comment
    assert _run(*burst[:2], tmp_path / "b.png", "--error-map", tmp_path / "e.tif", *QUICK).exit_code == 0
    assert (tmp_path / "e.tif").exists()


def test_existing_pictures_and_forgotten_targets_are_left_alone(burst: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    assert "exists, skipped" in _run(*burst, target, *QUICK).stderr
    assert target.read_bytes() == b"old"
    before = burst[-1].read_bytes()
    result = _run(*burst, "--overwrite", *QUICK)
    assert result.exit_code == 3
    assert "frame2.dng: is a raw; name the picture to write last" in result.stderr
    assert burst[-1].read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["IN", "OUT", "--gap", 2], 2, "go with --folders"),
        (["OUT"], 2, "two or more raws"),
        (["IN", "IN", "OUT"], 2, "is given twice"),
        (["IN", "IN2", "OUT", "--method", "ntc"], 2, "leave out --method"),
        (["IN", "IN2", "OUT", "--motion", "odd"], 2, "--motion"),
        (["IN", "IN2", "OUT", "--reference", "odd"], 3, "--reference is sharpest, first or one of"),
        (["IN", "GONE", "OUT"], 3, "gone.dng: there is no such file"),
        (["DIR", "OUT"], 3, "merge what is in it with --folders"),
        (["IN", "--folders"], 3, "is not a folder"),
    ],
)
def test_what_cannot_be_is_said(
    burst: list[Path], tmp_path: Path, arguments: list[object], code: int, words: str
) -> None:
    places = {"IN": burst[0], "IN2": burst[1], "OUT": tmp_path / "a.png", "GONE": "gone.dng", "DIR": tmp_path}
    result = _run(*(places.get(str(each), each) for each in arguments))
    assert result.exit_code == code, result.output
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert os.listdir(tmp_path) == []


def test_every_folder_becomes_a_picture_and_one_failure_costs_no_other(tmp_path: Path) -> None:
    shoot, light = tmp_path / "shoot", still_light(SIZE)
    take_all(shoot / "one", light, [Shot(), Shot(MOVES[1])])
    (odd, _) = take_all(shoot / "two", light, [Shot(), Shot(MOVES[1])])
    take(odd, light, Shot(model="Other camera"))
    take(shoot / "alone.dng", light, Shot())
    result = _run("--folders", shoot, "-r", "--format", "jpg", *QUICK)
    assert result.exit_code == 1
    assert "two: " in result.stderr
    assert "has another camera" in result.stderr
    assert "1 raw stands alone" in result.stderr
    assert [str(path.relative_to(shoot)) for path in sorted((shoot / "merged").rglob("*"))] == [
        "merged/one.jpg"
    ]


def test_a_gap_in_time_ends_a_burst(tmp_path: Path) -> None:
    light = still_light(SIZE)
    shots = [Shot(second=second) for second in (0, 1, 20, 21, 60)]
    take_all(tmp_path / "card", light, shots)
    result = _run("--folders", tmp_path / "card", "--gap", 3, "-o", tmp_path / "out", *QUICK)
    assert result.exit_code == 0, result.stderr
    assert sorted(os.listdir(tmp_path / "out")) == ["frame0.png", "frame2.png"]


# Frames that never come to an end, before anything is written.
ENDLESS = """
import time
import demosaic_ntc.workflows.merging as merging
def endless(*_, **__):
    print("merging", flush=True)
    while True:
        time.sleep(0.05)
merging.merge_mosaics = endless
"""


@pytest.mark.fault
def test_nothing_is_left_after_an_interrupt(
    burst: list[Path], tmp_path: Path, start: Callable[..., Any]
) -> None:
    process = start("merge", *burst, tmp_path / "a.dng", code=ENDLESS)
    assert process.stdout.readline() == b"merging\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert os.listdir(tmp_path) == []
