"""Faults in the middle of a batch: each costs its own file, is reported, and nothing is lost."""

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.batch.batches import PATIENCE, REPORT, records, statuses

pytestmark = pytest.mark.fault
Batch = Callable[..., Any]
Fill = Callable[..., Path]
Install = Callable[[dict[str, str]], None]


def pictures(folder: Path) -> list[str]:
    """What is in a folder besides the report; nothing of ours may be hidden there."""
    return sorted(name for name in os.listdir(folder) if name != REPORT)


def test_damaged_file_in_the_middle(tmp_path: Path, batch: Batch, fill: Fill, small: Path) -> None:
    (fill("a.dng", "b.dng", "d.dng", "e.dng") / "c.dng").write_bytes(small.read_bytes()[:2000])
    result = batch()
    assert result.exit_code == 1, result.output
    assert pictures(tmp_path / "out") == ["a.png", "b.png", "d.png", "e.png"]
    assert statuses(tmp_path / "out")["c.dng"] == "failed"
    assert "c.dng" in result.stderr
    assert "damaged" in records(tmp_path / "out")["c.dng"]["reason"]
    assert "done          4" in result.stdout
    assert "failed        1" in result.stdout


def test_faults_of_every_kind_in_one_batch(tmp_path: Path, batch: Batch, fill: Fill, faulty: Install) -> None:
    faulty({"b": "segv", "d": "hang", "f": "grow", "h": "bug", "j": "exit", "l": "refuse"})
    names = "abcdefghijklm"
    result = batch("--timeout", 10, "--memory", 0.3, sources=[fill(*names) / name for name in names])
    assert result.exit_code == 1, result.output
    expected = dict.fromkeys(names, "done")
    expected |= {"b": "crashed", "d": "timeout", "f": "failed", "h": "failed", "j": "crashed", "l": "failed"}
    assert statuses(tmp_path / "out") == expected
    assert pictures(tmp_path / "out") == [f"{name}.png" for name in "acegikm"]
    assert "Traceback" not in result.output
    assert "please report it" in result.stdout


def test_worker_that_dies_after_its_picture_was_written(
    tmp_path: Path, batch: Batch, fill: Fill, faulty: Install
) -> None:
    faulty({"b.dng": "after"})
    fill("a.dng", "b.dng", "c.dng")
    result = batch("--resume")
    assert result.exit_code == 0, result.output
    assert statuses(tmp_path / "out") == dict.fromkeys(("a.dng", "b.dng", "c.dng"), "done")
    (notice,) = (said for said in records(tmp_path / "out")["b.dng"]["notices"] if "written; then" in said)
    assert "signal 9" in notice
    again = batch("--resume")
    assert "skipped       3" in again.stdout
    assert records(tmp_path / "out")["b.dng"]["reason"] == "done by an earlier run with these settings"


def test_full_disk_stops_the_batch(tmp_path: Path, batch: Batch, fill: Fill, faulty: Install) -> None:
    faulty({"*": "full"})
    names = [f"{number:02}.dng" for number in range(20)]
    fill(*names)
    (tmp_path / "out" / "00.png").write_bytes(b"old")
    result = batch("--overwrite")
    assert result.exit_code == 4, result.output
    assert "no space left; free some" in result.stderr
    assert len(statuses(tmp_path / "out")) <= 4, "what was under way, no more"
    assert (tmp_path / "out" / "00.png").read_bytes() == b"old"
    assert pictures(tmp_path / "out") == ["00.png"]


def test_real_limit_on_file_size_stops_the_batch(
    tmp_path: Path, fill: Fill, start: Callable[..., Any]
) -> None:
    fill(*(f"{number}.dng" for number in range(9)))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "0.png").write_bytes(b"old")
    code = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))"
    options = ("--overwrite", "--method", "bilinear", "-o", tmp_path / "out")
    process = start("batch", tmp_path / "in", *options, code=code, env={"NUMBA_DISABLE_JIT": "1"})
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4, errors
    assert b"no space left" in errors
    assert pictures(tmp_path / "out") == ["0.png"]
    assert (tmp_path / "out" / "0.png").read_bytes() == b"old"


def test_real_small_disk_keeps_what_fits_and_stops(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=48k", "none", disk], capture_output=True, check=False
    )
    if mount.returncode != 0:
        pytest.skip("a small disk can be made by root only")
    try:
        fill(*(f"{number}.dng" for number in range(12)))
        result = batch(output=disk)
        whole = [name for name in pictures(disk) if (disk / name).read_bytes().endswith(b"IEND\xaeB`\x82")]
        assert result.exit_code == 4, result.output
        assert "no space left" in result.stderr
        assert "will take about" in result.stderr, "and that was to be expected"
        assert pictures(disk) == whole
        assert 1 <= len(whole) < 12
    finally:
        subprocess.run(["umount", disk], check=True)


def test_one_odd_target_does_not_stop_the_batch(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    fill("a.dng", "b.dng", "c.dng")
    (tmp_path / "out" / "b.png").mkdir()
    result = batch("--overwrite")
    assert result.exit_code == 1, result.output
    assert statuses(tmp_path / "out") == {"a.dng": "done", "b.dng": "failed", "c.dng": "done"}


def test_existing_output_is_skipped_and_untouched(
    tmp_path: Path, batch: Batch, fill: Fill, faulty: Install
) -> None:
    faulty({})
    fill("a.dng", "b.dng")
    assert batch().exit_code == 0
    target = tmp_path / "out" / "a.png"
    before = target.stat().st_mtime_ns
    result = batch()
    assert result.exit_code == 0
    assert "skipped       2" in result.stdout
    assert target.stat().st_mtime_ns == before
    assert "use `overwrite`" in records(tmp_path / "out")["a.dng"]["reason"]


@pytest.mark.parametrize("place", ["file", "file/below", "locked"])
def test_output_folder_that_takes_no_files_is_refused_before_any_work(
    tmp_path: Path, batch: Batch, fill: Fill, faulty: Install, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Root may write anywhere, so the system's answer is put in its mouth."""
    faulty({"*": "kill"})
    fill("a.dng")
    (tmp_path / "file").touch()
    (tmp_path / "locked").mkdir(mode=0o555)
    if place == "locked" and os.geteuid() == 0:

        def read_only(*_: object) -> None:
            raise OSError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr("demosaic_ntc.io.atomic.create_partial", read_only)
    result = batch(output=tmp_path / place)
    assert result.exit_code == 4, result.output
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "none").exists()


def test_folder_that_vanishes_in_the_middle_stops_the_batch(
    tmp_path: Path, batch: Batch, fill: Fill, faulty: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    from demosaic_ntc.batch.records.report import Report

    faulty({})
    fill(*(f"{number:02}.dng" for number in range(20)))
    report = tmp_path / "report.jsonl"
    append = Report.append

    def and_vanish(self: Report, record: Any) -> None:
        append(self, record)
        (tmp_path / "out").exists() and (tmp_path / "out").rename(tmp_path / "gone")

    monkeypatch.setattr(Report, "append", and_vanish)
    result = batch("--report", report)
    assert result.exit_code == 4, result.output
    assert not (tmp_path / "out").exists(), "it is not made anew on another disk"
    assert len(report.read_bytes().splitlines()) < 20


def test_output_over_an_input_is_wrong_usage(tmp_path: Path, batch: Batch, small: Path) -> None:
    mosaic = tmp_path / "out" / "a.png"
    mosaic.write_bytes(b"a mosaic")
    result = batch("--overwrite", "--cfa", "RGGB", sources=[mosaic])
    assert result.exit_code == 2
    assert mosaic.read_bytes() == b"a mosaic"


def test_two_inputs_of_one_output_are_wrong_usage(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    folder = fill("a.dng")
    (folder / "below").mkdir()
    (folder / "below" / "a.dng").write_bytes((folder / "a.dng").read_bytes())
    sources = [folder / "a.dng", folder / "below" / "a.dng"]
    result = batch(sources=sources)
    assert result.exit_code == 2
    assert "would both become" in " ".join(result.stderr.replace("│", " ").split())
    assert pictures(tmp_path / "out") == []
    assert batch("--name", "{parent}_{stem}", sources=sources).exit_code == 0
    assert pictures(tmp_path / "out") == ["below_a.png", "in_a.png"]


def test_results_of_inputs_that_differ_in_extension_get_it(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    """An input that is added later overwrites nothing, and what is resumed has the names it had."""
    fill("a.dng", "b.dng")
    assert batch().exit_code == 0
    before = (tmp_path / "out" / "a.png").stat()
    fill("a.cr2")
    assert batch("--resume").exit_code == 0
    names = ["a.png", "a_cr2.png", "a_dng.png", "b.png"]
    assert pictures(tmp_path / "out") == names
    assert (tmp_path / "out" / "a.png").stat().st_mtime_ns == before.st_mtime_ns
    again = batch("--resume")
    assert (again.exit_code, pictures(tmp_path / "out")) == (0, names)
    assert "skipped       3" in again.stdout


def test_extension_that_makes_another_clash_is_wrong_usage(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    fill("a.dng", "a.cr2", "a_dng.dng")
    assert batch().exit_code == 2
    assert pictures(tmp_path / "out") == []


@pytest.mark.parametrize("tail", [b'{"input": "/in/b', b""])
def test_half_a_last_line_of_the_report_costs_that_line_only(
    tmp_path: Path, batch: Batch, fill: Fill, faulty: Install, tail: bytes
) -> None:
    faulty({})
    fill("a.dng")
    assert batch().exit_code == 0
    report = tmp_path / "out" / REPORT
    report.write_bytes(report.read_bytes() + tail)
    fill("b.dng")
    result = batch("--resume")
    assert result.exit_code == 0
    assert statuses(tmp_path / "out") == {"a.dng": "skipped", "b.dng": "done"}
    assert "skipped       1" in result.stdout


def test_report_that_is_garbage_is_refused_and_left_alone(
    tmp_path: Path, batch: Batch, fill: Fill, faulty: Install
) -> None:
    faulty({})
    fill("a.dng")
    report = tmp_path / "notes.txt"
    report.write_bytes(b"do not lose\nme")
    result = batch("--report", report)
    assert result.exit_code == 3
    assert "notes.txt: line 1 is not a record of a batch" in result.stderr
    assert report.read_bytes() == b"do not lose\nme"
    assert pictures(tmp_path / "out") == []


def test_changed_settings_are_never_mixed_with_old_results(tmp_path: Path, batch: Batch, fill: Fill) -> None:
    fill("a.dng", "b.dng")
    assert batch().exit_code == 0
    (tmp_path / "out" / "b.png").unlink()
    before = (tmp_path / "out" / "a.png").read_bytes()
    result = batch("--resume", "--exposure", "1")
    assert result.exit_code == 0
    assert "done          2" in result.stdout, "the old one was made again"
    assert (tmp_path / "out" / "a.png").read_bytes() != before
    assert len({record["settings"] for record in records(tmp_path / "out").values()}) == 1
    again = batch("--resume", "--exposure", "1")
    assert "skipped       2" in again.stdout


def test_bug_in_the_program_itself_is_one_line_and_a_log(
    tmp_path: Path, batch: Batch, fill: Fill, faulty: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr("cli.actions.batch.work_shown", broken)
    faulty({})
    fill("a.dng")
    result = batch("-q")
    assert result.exit_code == 70
    assert "internal error (RuntimeError: surprise); please report it with the log" in result.stderr
    assert "Traceback" not in result.stderr
