"""Reports and what is made of them: nothing twice, nothing mixed, nothing of others destroyed."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from demosaic_ntc.batch.job import Identity, Job, JobOutcome, JobStatus, Published, Result
from demosaic_ntc.batch.records.identity import fingerprint, identify, is_unchanged
from demosaic_ntc.batch.records.pending_outputs import PendingOutputs
from demosaic_ntc.batch.records.report import Report, record_of
from demosaic_ntc.batch.records.result import measure
from demosaic_ntc.batch.records.resume import History, Skipped, decide
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.io import atomic
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import InputLimits
from tests.batch.works import Copy

RESULT = Result(Identity(3, 4, "abc"), "0123abcd")
BEGUN = Job(Path("/in/a.dng"), Path("/out/new\nline.png"), Copy())


@dataclass(frozen=True, slots=True)
class JobHere(Job):
    """A job on files of this machine."""

    source: Path
    target: Path


@pytest.fixture
def job(tmp_path: Path) -> JobHere:
    (tmp_path / "a.dng").write_bytes(b"raw")
    return JobHere(tmp_path / "a.dng", tmp_path / "a.png", Copy())


def _done(job: JobHere, content: bytes = b"picture") -> dict[str, Any]:
    """The record of a job whose result is there from now on."""
    job.target.write_bytes(content)
    return record_of(
        job, JobOutcome(JobStatus.DONE, identity=identify(job.source), result=measure(job.target))
    )


def _history(*records: dict[str, Any], published: dict[str, Published] | None = None) -> History:
    return History.of(records, published or {})


def test_lines_are_read_back(tmp_path: Path, job: JobHere) -> None:
    report = Report(tmp_path / "report")
    report.append(_done(job))
    report.append(record_of(job, JobOutcome(JobStatus.CRASHED, "signal 11", log="trace")))
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
        record_of(Job(source, source.with_suffix(".png"), Copy()), JobOutcome(JobStatus.FAILED, str(source)))
    )
    (line,) = report.path.read_bytes().splitlines()
    assert line.isascii()
    assert json.loads(line)["input"] == str(source)
    assert report.records()[0]["output"] == str(source.with_suffix(".png"))


@pytest.mark.parametrize("torn", [*(b'{"input": "/a'[:cut] for cut in range(1, 13)), bytes(40), b'{"in\0\0'])
def test_half_a_last_line_is_passed_over_and_cut(tmp_path: Path, job: JobHere, torn: bytes) -> None:
    report = Report(tmp_path / "report")
    report.append(_done(job))
    whole = report.path.read_bytes()
    for before in (b"", whole):
        report.path.write_bytes(before + torn)
        assert len(report.records()) == len(before.splitlines())
        report.mend()
        assert report.path.read_bytes() == before


@pytest.mark.parametrize(
    "stray",
    [
        b"\n",
        b"\r\n",
        bytes(9),
        b"{}\n",
        b"[" * 100_000 + b"\n",
        b'{"input": 1, "status": "done"}\n',
        b"\xff\n",
    ],
)
def test_damaged_lines_between_records_are_passed_over(tmp_path: Path, job: JobHere, stray: bytes) -> None:
    report = Report(tmp_path / "report")
    report.append(_done(job))
    whole = report.path.read_bytes()
    report.path.write_bytes(whole + stray + whole)
    assert len(report.records()) == 2
    report.mend()
    assert report.path.read_bytes() == whole + stray + whole


@pytest.mark.parametrize(
    "wrong",
    [
        {"output": ["x"]},
        {"input": None},
        {"settings": {}},
        {"status": []},
        {"input_bytes": "many"},
        {"output_sha256": 5},
        {"output_bytes": None},
    ],
)
def test_records_of_wrong_types_are_passed_over(tmp_path: Path, job: JobHere, wrong: dict[str, Any]) -> None:
    report = Report(tmp_path / "report")
    report.append({**_done(job), **wrong})
    assert report.records() == []


@pytest.mark.parametrize("content", [b"hello", b"hello\n", b"[1, 2]\n", b'{"status": "done"}\n', b"\0\xff\n"])
def test_what_is_no_report_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    report = Report(tmp_path / "report")
    report.path.write_bytes(content)
    with pytest.raises(InputError, match=r"report: line 1 .*; .*give another `report`"):
        report.mend()
    assert report.path.read_bytes() == content


def test_report_that_cannot_be_written_is_an_output_error(tmp_path: Path, job: JobHere) -> None:
    with pytest.raises(OutputError):
        Report(tmp_path / "none" / "report").append(_done(job))
    with pytest.raises(OutputError):
        Report(tmp_path).records()


def test_job_without_a_result_is_done(job: JobHere) -> None:
    assert decide(job, None) == job
    history = _history(_done(job))
    job.target.unlink()
    assert decide(job, history) == job


def test_existing_result_is_skipped_unless_overwriting(job: JobHere) -> None:
    job.target.write_bytes(b"somebody's")
    assert isinstance(decide(job, None), Skipped)
    overwriting = Job(job.source, job.target, job.work, overwrite=True)
    assert decide(overwriting, None) == overwriting


def test_recorded_result_is_not_made_again(job: JobHere) -> None:
    decided = decide(job, _history(_done(job)))
    assert isinstance(decided, Skipped)
    assert "earlier run" in decided.reason
    assert isinstance(decide(job, History.of([_done(job)], {}, again=True)), Job), "unless all is done again"


def test_result_of_other_settings_is_made_again(job: JobHere) -> None:
    changed = Job(job.source, job.target, Copy("other settings"))
    decided = decide(changed, _history(_done(job)))
    assert isinstance(decided, Job)
    assert decided.overwrite
    assert decided.replaces == measure(job.target)


def test_result_of_a_changed_input_is_made_again(job: JobHere) -> None:
    history = _history(_done(job))
    job.source.write_bytes(b"new")
    assert isinstance(decide(job, history), Job)


def test_result_of_an_input_that_was_only_touched_holds(job: JobHere) -> None:
    history = _history(_done(job))
    os.utime(job.source, (1, 1))
    assert isinstance(decide(job, history), Skipped)


def test_result_that_nobody_recorded_is_left_alone(job: JobHere) -> None:
    job.target.write_bytes(b"somebody's")
    decided = decide(job, _history())
    assert isinstance(decided, Skipped)
    assert "no record tells" in decided.reason


def test_result_that_a_killed_run_has_published_is_made_again(job: JobHere) -> None:
    job.target.write_bytes(b"published, not recorded")
    history = _history(published={str(job.target): Published(str(job.source), measure(job.target))})
    decided = decide(job, history)
    assert isinstance(decided, Job)
    assert decided.overwrite
    job.target.write_bytes(b"changed by somebody")
    assert isinstance(decide(job, history), Skipped)


def test_later_record_does_not_hide_what_a_killed_run_has_published(job: JobHere) -> None:
    record = _done(job)
    job.target.write_bytes(b"published by a run with other settings")
    decided = decide(
        job, _history(record, published={str(job.target): Published(str(job.source), measure(job.target))})
    )
    assert isinstance(decided, Job), "it is ours, and of other settings"


@pytest.mark.parametrize("settings", ["copy", "other settings"])
@pytest.mark.parametrize("content", [b"somebody's work", b"pic", b"note", b"picture"])
def test_result_that_somebody_changed_is_kept(job: JobHere, content: bytes, settings: str) -> None:
    history = _history(_done(job, b"picture"))
    job.target.write_bytes(content + b".")
    decided = decide(Job(job.source, job.target, Copy(settings)), history)
    assert isinstance(decided, Skipped)
    assert decided.status is JobStatus.KEPT
    assert "kept: changed since" in decided.reason
    overwriting = Job(job.source, job.target, Copy(settings), overwrite=True)
    assert decide(overwriting, history) == overwriting, "but for those who insist"


def test_result_that_was_only_touched_is_ours(job: JobHere) -> None:
    history = _history(_done(job))
    os.utime(job.target, (1, 1))
    assert isinstance(decide(Job(job.source, job.target, Copy("other")), history), Job)


@pytest.mark.parametrize("kept", [0, 1, 7, 64, 1000, -1, -12])
def test_result_that_was_cut_is_made_again(job: JobHere, samples: Path, kept: int) -> None:
    whole = (samples / "small.png").read_bytes()
    history = _history(_done(job, whole))
    job.target.write_bytes(whole[:kept])
    decided = decide(job, history)
    assert isinstance(decided, Job)
    assert decided.overwrite or kept == 0, "what is empty counts as absent"


def test_edit_that_keeps_size_and_time_is_kept(job: JobHere) -> None:
    history = _history(_done(job, b"picture"))
    before = job.target.stat()
    job.target.write_bytes(b"erutcip")
    os.utime(job.target, ns=(before.st_atime_ns, before.st_mtime_ns))
    for again in (history, replace(history, again=True)):
        decided = decide(Job(job.source, job.target, Copy("other settings")), again)
        assert isinstance(decided, Skipped)
        assert decided.status is JobStatus.KEPT


def test_result_of_another_input_is_kept(job: JobHere, tmp_path: Path) -> None:
    history = _history(_done(job))
    (tmp_path / "other").mkdir()
    other = JobHere(tmp_path / "other" / "a.dng", job.target, Copy("other settings"))
    other.source.write_bytes(b"another raw")
    decided = decide(other, history)
    assert isinstance(decided, Skipped)
    assert f"kept: made of {job.source}" in decided.reason
    other.source.write_bytes(job.source.read_bytes())
    assert isinstance(decide(other, history), Job), "the same photo, moved"


def test_shorter_picture_that_is_whole_is_somebodys_work(job: JobHere, samples: Path) -> None:
    whole = (samples / "small.png").read_bytes()
    history = _history(_done(job, whole[:-12] + bytes(4) + b"teXt" + bytes(4) + whole[-12:]))
    job.target.write_bytes(whole)
    decided = decide(job, history)
    assert isinstance(decided, Skipped)
    assert decided.status is JobStatus.KEPT


def test_records_of_early_versions_replace_nothing_but_empty_files(job: JobHere) -> None:
    early = {key: value for key, value in _done(job).items() if not key.startswith("output_")}
    other = Job(job.source, job.target, Copy("other settings"))
    assert isinstance(decide(job, _history(early)), Skipped)
    assert isinstance(decide(other, _history(early)), Skipped)
    job.target.write_bytes(b"")
    assert isinstance(decide(job, _history(early)), Job)


def test_lines_of_skipped_files_do_not_hide_what_was_done(job: JobHere) -> None:
    skipped = record_of(job, JobOutcome(JobStatus.SKIPPED))
    assert isinstance(decide(job, _history(_done(job), skipped)), Skipped)


def test_failure_after_success_means_again(job: JobHere) -> None:
    failed = record_of(job, JobOutcome(JobStatus.TIMEOUT))
    assert isinstance(decide(job, _history(_done(job), failed)), Job)


def test_begun_outputs_of_a_dead_run_are_adopted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", lambda: process.pid)
        PendingOutputs(tmp_path / "report").publish(BEGUN, RESULT)
    mine = PendingOutputs(tmp_path / "report")
    mine.publish(replace(BEGUN, target=Path("/out/mine.png")), RESULT)
    assert mine.adopt() == {"/out/new\nline.png": Published("/in/a.dng", RESULT)}
    mine.close()
    assert os.listdir(tmp_path) == []


def test_begun_outputs_of_a_living_run_stay_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(os, "getpid", os.getppid)
        PendingOutputs(tmp_path / "report").publish(BEGUN, RESULT)
    assert PendingOutputs(tmp_path / "report").adopt() == {}
    assert [name for name in os.listdir(tmp_path) if atomic.owner() not in name]


def test_file_of_same_size_and_time_is_not_read(job: JobHere, monkeypatch: pytest.MonkeyPatch) -> None:
    known = identify(job.source)
    assert known is not None
    monkeypatch.setattr("demosaic_ntc.batch.records.identity.identify", pytest.fail)
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
        Settings(limits=InputLimits(pixels=1000)),
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


def test_new_version_gives_the_same_name_to_the_same_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    """One with another number, and one with more settings, none of which was chosen."""

    @dataclass(frozen=True)
    class Later(Output):
        novelty: str = "as ever"

    before = fingerprint("convert", Settings(output=Output(bits=8)))
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99.0")
    assert fingerprint("convert", Settings(output=Later(bits=8))) == before
    assert fingerprint("convert", Settings(output=Later(bits=8, novelty="bold"))) != before


def test_settings_of_arrays_count(tmp_path: Path) -> None:
    first, second = (Settings(layout=Layout(cfa=Cfa.from_name(name))) for name in ("RGGB", "BGGR"))
    assert fingerprint("convert", first) != fingerprint("convert", second)
