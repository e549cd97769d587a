"""Results are ours as long as nobody has changed them: what somebody has worked on is never replaced."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.batch.records.result import measure
from tests.batch.batches import REPORT, records, statuses

pytestmark = pytest.mark.fault
Batch = Callable[..., Any]
Fill = Callable[..., Path]

AGAIN = [
    ("--resume", "--exposure", 1),
    ("--overwrite-ours",),
    ("--overwrite-ours", "--exposure", 1),
    ("--resume",),
]


@pytest.mark.parametrize("options", AGAIN)
def test_changed_result_is_kept_and_named(
    tmp_path: Path, batch: Batch, fill: Fill, options: tuple[object, ...]
) -> None:
    fill("a.dng", "b.dng")
    assert batch().exit_code == 0
    work = tmp_path / "out" / "a.png"
    work.write_bytes(b"hours of work")
    result = batch(*options)
    assert result.exit_code == 0, result.output
    assert work.read_bytes() == b"hours of work"
    assert "a.png: kept: changed since" in result.stderr
    assert "kept          1" in result.stdout
    assert statuses(tmp_path / "out")["a.dng"] == "kept"
    assert work.read_bytes() == b"hours of work"
    assert batch("--overwrite", *options).exit_code == 0
    assert work.read_bytes() != b"hours of work", "but for those who insist"


def test_changed_result_is_named_by_a_dry_run(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    fill("a.dng")
    batch()
    (tmp_path / "out" / "a.png").write_bytes(b"hours of work")
    result = batch("--overwrite-ours", "--dry-run")
    assert result.stdout.startswith("keep "), result.output


@pytest.mark.parametrize("left", [0, 1, 60, 5000])
def test_emptied_or_cut_result_is_made_again(tmp_path: Path, batch: Batch, fill: Fill, left: int) -> None:
    fill("a.dng")
    batch()
    target = tmp_path / "out" / "a.png"
    whole = target.read_bytes()
    os.truncate(target, left)
    result = batch("--resume")
    assert result.exit_code == 0, result.output
    assert "done          1" in result.stdout
    assert target.read_bytes() == whole


def test_unchanged_results_are_replaced(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    fill("a.dng")
    batch()
    target = tmp_path / "out" / "a.png"
    whole = target.read_bytes()
    assert "done          1" in batch("--overwrite-ours").stdout, "all again"
    assert target.read_bytes() == whole
    assert "done          1" in batch("--resume", "--exposure", 1).stdout, "other settings"
    assert target.read_bytes() != whole
    assert "skipped       1" in batch("--resume", "--exposure", 1).stdout


def test_new_version_alone_does_nothing(
    tmp_path: Path, batch: Batch, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill("a.dng")
    batch()
    report = tmp_path / "out" / REPORT
    report.write_text(report.read_text().replace('"version": "', '"version": "0.0.'), encoding="ascii")
    assert "skipped       1" in batch("--resume").stdout


def test_report_tells_what_was_published(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    fill("a.dng")
    batch()
    record, published = records(tmp_path / "out")["a.dng"], measure(tmp_path / "out" / "a.png")
    assert record["output_bytes"] == published.identity.bytes == (tmp_path / "out" / "a.png").stat().st_size
    assert record["output_mtime_ns"] == published.identity.mtime_ns
    assert record["output_sha256"] == published.identity.sha256
    assert json.loads((tmp_path / "out" / REPORT).read_bytes())["version"]


def test_result_changed_while_its_successor_was_made_is_kept(
    tmp_path: Path, batch: Batch, fill: Fill, faulty: Callable[[dict[str, str]], None]
) -> None:
    """Somebody saves into the result between the decision and the end of the work."""
    faulty({})
    fill("a.dng")
    batch()
    faulty({"a.dng": "edit"})
    result = batch("--overwrite-ours")
    assert (tmp_path / "out" / "a.png").read_bytes() == b"edited meanwhile"
    assert result.exit_code == 0, result.output
    assert statuses(tmp_path / "out")["a.dng"] == "kept"
    assert sorted(os.listdir(tmp_path / "out")) == ["a.png", REPORT]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_of_a_replaced_file_stay(
    tmp_path: Path, convert: Callable[..., Any], small: Path, mode: int
) -> None:
    target = tmp_path / "o.png"
    target.write_bytes(b"old")
    target.chmod(mode)
    assert convert(small, target, "--overwrite").exit_code == 0
    assert target.stat().st_mode & 0o777 == mode
    assert target.read_bytes() != b"old"


@pytest.mark.parametrize("place", ["out/a.png", "in/a.dng", "out/../in/a.dng"])
def test_report_that_is_another_file_as_well_is_wrong_usage(
    tmp_path: Path, batch: Batch, fill: Fill, place: str
) -> None:
    fill("a.dng")
    before = (tmp_path / "in" / "a.dng").read_bytes()
    result = batch("--report", tmp_path / place)
    assert result.exit_code == 2, result.output
    assert (tmp_path / "in" / "a.dng").read_bytes() == before
    assert os.listdir(tmp_path / "out") == []


def test_list_of_bad_pixels_never_replaces_a_dark_frame(tmp_path: Path, small: Path) -> None:
    """Not even where everything may be replaced, and not through a link."""
    frame, link = tmp_path / "dark.dng", tmp_path / "list.txt"
    frame.write_bytes(small.read_bytes())
    link.symlink_to(frame)
    for target in (frame, link):
        words = ["bad-pixels", str(small), str(frame), "-o", str(target), "--overwrite"]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 2, result.output
        assert frame.read_bytes() == small.read_bytes()
