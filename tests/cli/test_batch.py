"""The command ``batch``: what it takes, what it says, and how it shares out the machine."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.batch.records.report import DEFAULT_NAME

Install = Callable[[dict[str, str]], None]


@pytest.fixture
def folder(tmp_path: Path, small: Path) -> Path:
    """Two raws, one of them in a folder within."""
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for name in ("a.dng", "sub/b.dng"):
        (tmp_path / "in" / name).write_bytes(small.read_bytes())
    return tmp_path


def _batch(folder: Path, *options: object) -> Any:
    words = ["batch", folder / "in", "-o", folder / "out", *options]
    return CliRunner().invoke(app, list(map(str, words)))


def _records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out" / DEFAULT_NAME).read_bytes().splitlines()]


def test_pictures_are_those_of_convert(folder: Path) -> None:
    result = _batch(folder, "-r", "--quality", "fast", "--exposure", "0.5", "--bits", "8", "--jobs", 2)
    assert result.exit_code == 0, result.output
    one = folder / "one.png"
    alone = [folder / "in" / "a.dng", one, "--quality", "fast", "--exposure", "0.5", "--bits", "8"]
    assert CliRunner().invoke(app, list(map(str, alone))).exit_code == 0
    assert (folder / "out" / "a.png").read_bytes() == one.read_bytes()
    assert (folder / "out" / "sub" / "b.png").read_bytes() == one.read_bytes()


def test_record_tells_all_about_a_file(folder: Path) -> None:
    _batch(folder, "--quality", "fast")
    (record,) = _records(folder)
    assert Path(record["input"]) == folder / "in" / "a.dng"
    assert Path(record["output"]) == folder / "out" / "a.png"
    assert record["status"] == "done"
    assert record["input_bytes"] == (folder / "in" / "a.dng").stat().st_size
    assert len(record["input_sha256"]) == 64
    assert len(record["settings"]) == 16
    assert record["seconds"].keys() == {"decode", "demosaic", "render", "write"}
    assert record["peak_bytes"] > 1e7
    assert 0 <= record["certified_share"] <= 1
    assert "check" in record
    assert record["pixels"] == 48 * 36


@pytest.mark.parametrize(("option", "suffix"), [("tif", ".tif"), ("jpg", ".jpg"), ("dng", ".dng")])
def test_format_chooses_the_extension(folder: Path, option: str, suffix: str) -> None:
    assert _batch(folder, "--format", option, "--method", "bilinear").exit_code == 0
    assert (folder / "out" / f"a{suffix}").exists()


def test_options_that_do_not_fit_are_wrong_usage(folder: Path) -> None:
    assert _batch(folder, "--format", "jpg", "--bits", "16").exit_code == 2
    assert _batch(folder, "--format", "dng", "--linear").exit_code == 2
    assert _batch(folder, "--format", "png", "--compress").exit_code == 2
    assert _batch(folder, "--inpaint", "--format", "dng").exit_code == 2
    assert _batch(folder, "--name", "same").exit_code == 2
    assert _batch(folder, "--method", "magic").exit_code == 2
    assert _batch(folder, "--invert").exit_code == 2
    assert _batch(folder, "--inpaint", "--wb", "auto").exit_code == 2


def test_dry_run_touches_nothing(folder: Path, faulty: Install) -> None:
    faulty({"*": "kill"})
    (folder / "out" / "a.png").write_bytes(b"old")
    result = _batch(folder, "-r", "--dry-run")
    assert result.exit_code == 0
    assert "skip" in result.stdout
    assert "sub/b.dng -> " in result.stdout
    assert "MB are free" in result.stderr or "GB are free" in result.stderr
    assert [path.name for path in (folder / "out").iterdir()] == ["a.png"]


def test_dry_run_knows_what_resuming_would_do(folder: Path, faulty: Install) -> None:
    faulty({})
    assert _batch(folder).exit_code == 0
    assert "skip" in _batch(folder, "--dry-run", "--resume").stdout
    assert "(replaced)" in _batch(folder, "--dry-run", "--resume", "--exposure", "1").stdout


def test_folder_without_inputs_is_done_at_once(folder: Path) -> None:
    (folder / "in" / "a.dng").unlink()
    result = _batch(folder)
    assert result.exit_code == 0
    assert "no files to work on" in result.stderr


def test_quiet_says_nothing_but_failures(folder: Path, faulty: Install) -> None:
    faulty({"b.dng": "refuse"})
    result = _batch(folder, "-r", "-q")
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.endswith("b.dng: will not do; give another")


def test_verbose_names_every_file(folder: Path, faulty: Install) -> None:
    faulty({})
    assert "done " in _batch(folder, "-v").stderr


def test_report_goes_where_it_is_told_to(folder: Path, faulty: Install) -> None:
    faulty({})
    assert _batch(folder, "--report", folder / "elsewhere.jsonl").exit_code == 0
    assert len((folder / "elsewhere.jsonl").read_bytes().splitlines()) == 1
    assert [path.name for path in (folder / "out").iterdir()] == ["a.png"]


def test_report_that_cannot_be_written_is_refused_before_any_work(folder: Path, faulty: Install) -> None:
    faulty({"*": "kill"})
    result = _batch(folder, "--report", folder / "none" / "report.jsonl")
    assert result.exit_code == 4
    assert "there is no folder" in result.stderr
    assert list((folder / "out").iterdir()) == []


def test_pictures_with_masks_beside_them_are_repaired(tmp_path: Path, samples: Path) -> None:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for name, mask in (("a.png", "a_mask.png"), ("sub/b.png", "sub/b.mask.png")):
        (tmp_path / "in" / name).write_bytes((samples / "scene_damaged.png").read_bytes())
        (tmp_path / "in" / mask).write_bytes((samples / "scene_mask.png").read_bytes())
    (tmp_path / "in" / "bare.png").write_bytes((samples / "scene.png").read_bytes())
    result = _batch(tmp_path, "--inpaint", "-r", "--method", "biharmonic")
    assert result.exit_code == 1, result.output
    assert "bare.png: nothing says what to repair" in result.stderr
    one = tmp_path / "one.png"
    words = [samples / "scene_damaged.png", samples / "scene_mask.png", one, "--method", "biharmonic"]
    assert CliRunner().invoke(app, ["inpaint", *map(str, words)]).exit_code == 0
    assert (tmp_path / "out" / "a.png").read_bytes() == one.read_bytes()
    assert (tmp_path / "out" / "sub" / "b.png").read_bytes() == one.read_bytes()
    (tmp_path / "in" / "a_mask.png").write_bytes((tmp_path / "in" / "a_mask.png").read_bytes() + b"\0")
    again = _batch(tmp_path, "--inpaint", "-r", "--method", "biharmonic", "--resume")
    assert "done          1" in again.stdout, "a changed mask means again"


def test_painted_pictures_are_repaired_without_masks(tmp_path: Path) -> None:
    import numpy as np
    from PIL import Image

    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    picture = np.full((32, 32, 3), 90, dtype=np.uint8)
    picture[10:14, 10:14] = (255, 0, 255)
    Image.fromarray(picture).save(tmp_path / "in" / "a_mask.png")
    result = _batch(tmp_path, "--inpaint", "--mask-color", "#ff00ff", "--method", "biharmonic")
    assert result.exit_code == 0, result.output
    with Image.open(tmp_path / "out" / "a_mask.png") as repaired:
        assert np.abs(np.asarray(repaired).astype(int) - 90).max() <= 1


@pytest.mark.parametrize("command", ["batch", "watch"])
def test_help_loads_nothing_that_takes_time(command: str) -> None:
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom cli.app import app\n"
        f"assert CliRunner().invoke(app, ['{command}', '--help']).exit_code == 0\n"
        "print(sorted({'numpy', 'numba', 'psutil', 'watchfiles', 'distributed'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, check=True
    )
    assert answer.stdout == b"[]\n"
