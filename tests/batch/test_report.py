"""Reports and what is made of them: nothing twice, nothing mixed, nothing of others destroyed."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demosaic_ntc.batch.identity import fingerprint, identify, is_unchanged
from demosaic_ntc.batch.job import Job, Outcome, Status
from demosaic_ntc.batch.journal import Journal
from demosaic_ntc.batch.report import Report, record_of
from demosaic_ntc.batch.resume import History, Needless, decide
from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.files import partial
from demosaic_ntc.files.settings import Development, Engine, Output, Settings
from demosaic_ntc.files.sniff import Limits
from tests.batch.works import Copy


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "a.dng").write_bytes(b"raw")
    return Job(tmp_path / "a.dng", tmp_path / "a.png", Copy())


def _done(job: Job) -> dict[str, Any]:
    return record_of(job, Outcome(Status.DONE, identity=identify(job.source)))


def _history(*records: dict[str, Any], begun: frozenset[str] = frozenset()) -> History:
    return History.of(records, begun)


def test_lines_are_read_back(tmp_path: Path, job: Job) -> None:
    report = Report(tmp_path / "report")
    report.append(_done(job))
    report.append(record_of(job, Outcome(Status.CRASHED, "signal 11", log="trace")))
    done, crashed = report.records()
    assert (done["status"], done["input_bytes"], done["settings"]) == ("done", 3, "copy")
    assert done["input_sha256"] == hashlib.sha256(b"raw").hexdigest()
    assert (crashed["status"], crashed["reason"], crashed["log"]) == ("crashed", "signal 11", "trace")


@pytest.mark.parametrize(
    "name", [b"new\nline.dng", b"not\xffutf8.dng", "\N{CAMERA}.dng".encode(), b'-x ".dng']
)
def test_any_name_makes_valid_json_of_one_line(tmp_path: Path, name: bytes) -> None:
    source = tmp_path / os.fsdecode(name)
    report = Report(tmp_path / "report")
    report.append(
        record_of(Job(source, source.with_suffix(".png"), Copy()), Outcome(Status.FAILED, str(source)))
    )
    (line,) = report.path.read_bytes().splitlines()
    assert line.isascii()
    assert json.loads(line)["input"] == str(source)
    assert report.records()[0]["output"] == str(source.with_suffix(".png"))


def test_half_a_last_line_is_passed_over_and_cut(tmp_path: Path, job: Job) -> None:
    report = Report(tmp_path / "report")
    report.append(_done(job))
    whole = report.path.read_bytes()
    report.path.write_bytes(whole + whole[:40])
    assert len(report.records()) == 1
    report.mend()
    assert report.path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"hello", b"hello\n", b"[1, 2]\n", b'{"status": "done"}\n', b"\0\xff\n"])
def test_what_is_no_report_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    report = Report(tmp_path / "report")
    report.path.write_bytes(content)
    with pytest.raises(InputError, match=r"report: line 1 .*; .*give another --report"):
        report.mend()
    assert report.path.read_bytes() == content


def test_report_that_cannot_be_written_is_an_output_error(tmp_path: Path, job: Job) -> None:
    with pytest.raises(OutputError):
        Report(tmp_path / "none" / "report").append(_done(job))
    with pytest.raises(OutputError):
        Report(tmp_path).records()


def test_job_without_a_result_is_done(job: Job) -> None:
    assert decide(job, None) == job
    assert decide(job, _history(_done(job))) == job


def test_existing_result_is_skipped_unless_overwriting(job: Job) -> None:
    job.target.touch()
    assert isinstance(decide(job, None), Needless)
    overwriting = Job(job.source, job.target, job.work, overwrite=True)
    assert decide(overwriting, None) == overwriting


def test_recorded_result_is_not_made_again(job: Job) -> None:
    job.target.touch()
    decided = decide(job, _history(_done(job)))
    assert isinstance(decided, Needless)
    assert "earlier run" in decided.reason


def test_result_of_other_settings_is_made_again(job: Job) -> None:
    job.target.touch()
    changed = Job(job.source, job.target, Copy("other settings"))
    decided = decide(changed, _history(_done(job)))
    assert isinstance(decided, Job)
    assert decided.overwrite


def test_result_of_a_changed_input_is_made_again(job: Job) -> None:
    job.target.touch()
    history = _history(_done(job))
    job.source.write_bytes(b"new")
    assert isinstance(decide(job, history), Job)


def test_result_of_an_input_that_was_only_touched_holds(job: Job) -> None:
    job.target.touch()
    history = _history(_done(job))
    os.utime(job.source, (1, 1))
    assert isinstance(decide(job, history), Needless)


def test_result_that_nobody_recorded_is_left_alone(job: Job) -> None:
    job.target.touch()
    decided = decide(job, _history())
    assert isinstance(decided, Needless)
    assert "not made by a recorded run" in decided.reason


def test_result_that_a_killed_run_was_making_is_made_again(job: Job) -> None:
    job.target.touch()
    decided = decide(job, _history(begun=frozenset([str(job.target)])))
    assert isinstance(decided, Job)
    assert decided.overwrite


def test_lines_of_skipped_files_do_not_hide_what_was_done(job: Job) -> None:
    job.target.touch()
    skipped = record_of(job, Outcome(Status.SKIPPED))
    assert isinstance(decide(job, _history(_done(job), skipped)), Needless)


def test_failure_after_success_means_again(job: Job) -> None:
    job.target.touch()
    failed = record_of(job, Outcome(Status.TIMEOUT))
    assert isinstance(decide(job, _history(_done(job), failed)), Job)


def test_journal_of_a_dead_run_is_adopted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", lambda: process.pid)
        Journal(tmp_path / "report").begin(Path("/out/new\nline.png"))
    mine = Journal(tmp_path / "report")
    mine.begin(Path("/out/mine.png"))
    assert mine.adopt() == {"/out/new\nline.png"}
    mine.close()
    assert os.listdir(tmp_path) == []


def test_journal_of_a_living_run_stays_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", os.getppid)
        Journal(tmp_path / "report").begin(Path("/out/a.png"))
    assert Journal(tmp_path / "report").adopt() == frozenset()
    assert [name for name in os.listdir(tmp_path) if partial.owner() not in name]


def test_file_of_same_size_and_time_is_not_read(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    known = identify(job.source)
    assert known is not None
    monkeypatch.setattr("demosaic_ntc.batch.identity.identify", pytest.fail)
    assert is_unchanged(job.source, known)
    assert not is_unchanged(job.target, known), "a file that is gone has changed"


def test_what_is_no_regular_file_has_no_identity(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.dng")
    assert identify(tmp_path / "pipe.dng") is None
    assert identify(tmp_path / "nothing.dng") is None


@pytest.mark.parametrize(
    "settings",
    [
        Settings(engine=Engine(quality="best")),
        Settings(engine=Engine(time_limit=1.0)),
        Settings(development=Development(exposure=1.0)),
        Settings(output=Output(bits=8)),
    ],
)
def test_settings_that_matter_change_the_fingerprint(settings: Settings) -> None:
    assert fingerprint("convert", settings) != fingerprint("convert", Settings())


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(engine=Engine(threads=3)),
        Settings(limits=Limits(pixels=1000)),
        Settings(output=Output(overwrite=True)),
    ],
)
def test_settings_without_effect_on_the_result_do_not(settings: Settings) -> None:
    assert fingerprint("convert", settings) == fingerprint("convert", Settings())


def test_content_of_companions_counts_not_their_path(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"1 2\n")
    second.write_bytes(b"1 2\n")
    before = fingerprint("convert", Settings(), first)
    assert fingerprint("convert", Settings(), second) == before
    second.write_bytes(b"3 4\n")
    assert fingerprint("convert", Settings(), second) != before
