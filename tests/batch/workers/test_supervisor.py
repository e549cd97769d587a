"""Workers: whatever happens in one costs its own file only."""

import json
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from demosaic_ntc.batch.job import Job, JobEnded, JobLimits, JobOutcome, JobStarted, JobStatus
from demosaic_ntc.batch.workers import supervisor, worker
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.batch.workers.supervisor import Supervisor
from demosaic_ntc.batch.workers.worker import WorkerSetup
from demosaic_ntc.batch.workers.worker_process import WorkerProcess
from demosaic_ntc.io import atomic
from demosaic_ntc.io.remote import RemotePath
from tests.batch.batches import PATIENCE, new_children, until
from tests.batch.works import Copy, Faulty

Make = Callable[..., list[Job]]
RunJobs = Callable[..., dict[str, JobOutcome]]


def _statuses(outcomes: dict[str, JobOutcome]) -> str:
    """The first letter of how each job ended, in the order of their names."""
    return "".join(outcomes[name].status.value[0] for name in sorted(outcomes))


def test_every_job_is_done(make_jobs: Make, run_jobs: RunJobs, tmp_path: Path) -> None:
    outcomes = run_jobs(make_jobs())
    assert _statuses(outcomes) == "ddddd"
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == {n: n for n in "abcde"}


def test_outcome_tells_what_is_known(make_jobs: Make, run_jobs: RunJobs) -> None:
    outcome = run_jobs(make_jobs("a"))["a"]
    assert outcome.identity is not None
    assert outcome.identity.bytes == 1
    assert outcome.identity.sha256.startswith(
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    )
    assert (outcome.pixels, outcome.seconds, outcome.notices) == (1000, {"copying": 0.5}, ("1 threads",))
    assert outcome.peak_bytes is not None
    assert 5e6 < outcome.peak_bytes < 5e8


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        ("segv", "crashed", "the decoder crashed (signal 11, SIGSEGV); please report it"),
        ("kill", "crashed", "crashed (signal 9, SIGKILL), as when memory runs out; give fewer"),
        ("exit", "crashed", "the decoder crashed (exit code 3)"),
        ("late", "crashed", "the process working on it crashed (signal 11, SIGSEGV)"),
        ("bug", "failed", "internal error (RuntimeError: surprise); please report it"),
        ("refuse", "failed", "will not do; give another"),
        ("allocate", "failed", "out of memory"),
    ],
)
def test_fault_costs_its_file_only(
    make_jobs: Make, run_jobs: RunJobs, fault: str, status: str, words: str
) -> None:
    outcomes = run_jobs(make_jobs("abcde", Faulty({"c": fault})))
    assert _statuses(outcomes) == f"dd{status[0]}dd"
    assert words in outcomes["c"].reason
    assert "damaged" not in outcomes["c"].reason
    assert outcomes["c"].identity is not None, "the report names the very file"


def test_every_file_may_crash(make_jobs: Make, run_jobs: RunJobs) -> None:
    assert _statuses(run_jobs(make_jobs("abcde", Faulty({"*": "segv"})))) == "ccccc"


def test_last_words_of_a_crash_are_kept(make_jobs: Make, run_jobs: RunJobs) -> None:
    log = run_jobs(make_jobs("a", Faulty({"a": "talk"})))["a"].log
    assert "last words on stdout" in log
    assert "last words on stderr" in log
    assert "Fatal Python error: Aborted" in log


def test_bug_keeps_its_traceback_for_the_report(make_jobs: Make, run_jobs: RunJobs) -> None:
    assert "in _be_wrong" in run_jobs(make_jobs("a", Faulty({"a": "bug"})))["a"].log


def test_hung_file_is_given_up_in_time(make_jobs: Make, run_jobs: RunJobs, tmp_path: Path) -> None:
    # More than a copy takes on any machine, however busy.
    outcomes = run_jobs(make_jobs("abcde", Faulty({"b": "hang"})), seconds=8)
    assert _statuses(outcomes) == "dtddd"
    assert "took longer than 8 s" in outcomes["b"].reason
    assert 8 < outcomes["b"].seconds["total"] < PATIENCE
    assert sorted(os.listdir(tmp_path / "out")) == ["a", "c", "d", "e"], "nothing half-written stays"


@pytest.mark.parametrize("fault", ["allocate", "grow"])
def test_file_that_needs_too_much_memory_is_given_up(make_jobs: Make, run_jobs: RunJobs, fault: str) -> None:
    outcomes = run_jobs(make_jobs("abc", Faulty({"b": fault})), memory=400_000_000)
    assert _statuses(outcomes) == "dfd"
    assert "memory limit of 0.4 GB reached; raise it with `memory`" in outcomes["b"].reason


@pytest.mark.parametrize("fault", ["grow", "grow apart"])
def test_memory_is_watched_from_outside_where_the_system_sets_no_limit(
    make_jobs: Make, stop: Stop, fault: str
) -> None:
    (job,) = make_jobs("a", Faulty({"a": fault}))
    with Supervisor([WorkerSetup(job.work, 1, None)], JobLimits(memory=300_000_000), stop) as crew:
        (ended,) = (event for event in crew.run(iter([job])) if isinstance(event, JobEnded))
    assert (ended.outcome.status, ended.outcome.reason[:12]) == (JobStatus.FAILED, "memory limit")


def test_workers_that_never_get_ready_are_a_bug(make_jobs: Make, run_jobs: RunJobs) -> None:
    with pytest.raises(RuntimeError, match=r"workers end before they begin.*exit code 3"):
        run_jobs(make_jobs("ab", Faulty({"prepare": "exit"})))


def test_workers_that_stand_still_before_they_are_ready_are_replaced(
    make_jobs: Make, stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, stopped = WorkerProcess.__init__, list[int]()

    def start_and_stop_one(self: WorkerProcess, number: int, setup: WorkerSetup) -> None:
        start(self, number, setup)
        if not stopped:
            stopped.append(self._process.pid)
            os.kill(self._process.pid, signal.SIGSTOP)
            self.started -= supervisor._STARTING_SECONDS

    monkeypatch.setattr(WorkerProcess, "__init__", start_and_stop_one)
    with Supervisor([WorkerSetup(Copy(), 1, None)], JobLimits(PATIENCE), stop) as team:
        ended = [event for event in team.run(iter(make_jobs("a"))) if isinstance(event, JobEnded)]
    assert [event.outcome.status for event in ended] == [JobStatus.DONE]
    assert len(stopped) == 1


def test_no_worker_is_started_for_nothing(make_jobs: Make, stop: Stop) -> None:
    (job,) = make_jobs("a")
    with (
        new_children() as workers,
        Supervisor([WorkerSetup(job.work, 1, None)] * 50, JobLimits(), stop) as crew,
    ):
        list(crew.run(iter([job])))
        assert len(workers()) <= 1


def test_leaving_ends_all_workers(make_jobs: Make, stop: Stop, tmp_path: Path) -> None:
    jobs = make_jobs("ab", Faulty({"a": "hang", "b": "linger"}))
    with (
        new_children() as started,
        Supervisor([WorkerSetup(jobs[0].work, 1, None)] * 2, JobLimits(), stop) as crew,
    ):
        next(event for event in crew.run(iter(jobs)) if isinstance(event, JobEnded))
        until(lambda: len(os.listdir(tmp_path / "out")) == 2)  # one whole, one half-written
        workers = started()
        assert len(workers) == 2
    assert not any(worker.is_running() for worker in workers)
    assert os.listdir(tmp_path / "out") == ["b"]


def test_wish_to_stop_lets_what_is_nearly_done_be_finished(
    make_jobs: Make, stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_GRACE_SECONDS", PATIENCE)  # a busy machine is not told from a long job
    jobs = make_jobs("abcdef", Faulty({"*": "linger"}))
    with Supervisor([WorkerSetup(jobs[0].work, 1, None)] * 2, JobLimits(), stop) as crew:
        ended = []
        for event in crew.run(iter(jobs)):
            if isinstance(event, JobStarted) and event.job.source.name == "b":
                stop.ask()
            if isinstance(event, JobEnded):
                ended.append(event.job.source.name)
    assert {"a", "b"} <= set(ended) <= {"a", "b", "c"}


@pytest.mark.parametrize(("times", "grace"), [(1, 0.2), (2, 600.0)])
def test_wish_to_stop_gives_up_what_takes_long(
    make_jobs: Make, stop: Stop, times: int, grace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_GRACE_SECONDS", grace)
    jobs = make_jobs("ab", Faulty({"*": "hang"}))
    with Supervisor([WorkerSetup(jobs[0].work, 1, None)], JobLimits(), stop) as crew:
        events = crew.run(iter(jobs))
        assert isinstance(next(events), JobStarted)
        for _ in range(times):
            stop.ask()
        assert list(events) == [], "what hangs for longer than any test is patient"


def test_worker_that_dies_between_files_is_replaced_without_blame(make_jobs: Make, stop: Stop) -> None:
    jobs = make_jobs("ab")
    with (
        new_children() as workers,
        Supervisor([WorkerSetup(jobs[0].work, 1, None)], JobLimits(), stop) as crew,
    ):
        assert _ends(crew, jobs[0]) == ["done"]
        workers()[0].kill()
        assert _ends(crew, jobs[1]) == ["done"]


def _ends(crew: Supervisor, job: Job) -> list[str]:
    return [event.outcome.status.value for event in crew.run(iter([job])) if isinstance(event, JobEnded)]


def test_jobs_that_come_later_are_waited_for(make_jobs: Make, stop: Stop) -> None:
    first, second = make_jobs("ab")
    with Supervisor([WorkerSetup(Copy(), 1, None)], JobLimits(), stop) as crew:
        events = list(crew.run(iter([None, first, None, None, second])))
    assert [event.job.source.name for event in events if isinstance(event, JobEnded)] == ["a", "b"]


def test_existing_result_is_not_touched(make_jobs: Make, run_jobs: RunJobs, tmp_path: Path) -> None:
    jobs = make_jobs("ab")
    (tmp_path / "out" / "a").write_text("old")
    outcomes = run_jobs(jobs)
    assert _statuses(outcomes) == "sd"
    assert (tmp_path / "out" / "a").read_text() == "old"


def test_answers_that_make_no_sense_end_the_worker(
    make_jobs: Make, run_jobs: RunJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has read a hostile file may say anything."""
    import json

    honest = json.loads
    told: list[object] = []

    def lying(answer: bytes) -> object:
        facts = honest(answer)
        if "outcome" in facts and not told:
            told.append(facts)
            return {"outcome": {"status": "splendid"}}
        return facts

    monkeypatch.setattr("demosaic_ntc.batch.workers.worker_process.json.loads", lying)
    outcomes = run_jobs(make_jobs("abc"), workers=1)
    assert sorted(outcome.status for outcome in outcomes.values()) == ["crashed", "done", "done"]


def test_an_abandoned_job_costs_nothing_but_itself(make_jobs: Make, stop: Stop, tmp_path: Path) -> None:
    jobs = make_jobs("abc", Faulty({"a": "hang"}))
    ended: dict[str, JobStatus] = {}
    with Supervisor([WorkerSetup(Copy(), 1, None)], JobLimits(), stop) as team:
        for event in team.run(iter(jobs)):
            if isinstance(event, JobStarted) and event.job is jobs[0]:
                team.abandon(jobs[0])
            if isinstance(event, JobEnded):
                ended[event.job.source.name] = event.outcome.status
    assert ended == {"a": JobStatus.ABANDONED, "b": JobStatus.DONE, "c": JobStatus.DONE}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"b", "c"}


def test_a_job_is_abandoned_before_any_worker_has_it(make_jobs: Make, stop: Stop, tmp_path: Path) -> None:
    jobs = make_jobs("ab")
    ended: dict[str, JobStatus] = {}
    with Supervisor([WorkerSetup(Copy(), 1, None)], JobLimits(), stop) as team:
        team.abandon(jobs[0])
        for event in team.run(iter(jobs)):
            if isinstance(event, JobEnded):
                ended[event.job.source.name] = event.outcome.status
    assert ended == {"a": JobStatus.ABANDONED, "b": JobStatus.DONE}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"b"}


def test_job_without_room_for_copies_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[dict[str, Any]] = []
    channel = SimpleNamespace(send_bytes=lambda text: answers.append(json.loads(text)))
    monkeypatch.setattr(atomic, "gettempdir", lambda: str(tmp_path / "missing"))
    job, setup = Job(RemotePath("s3", "bucket/a"), tmp_path / "a", Copy()), WorkerSetup(Copy(), 1, None)
    worker._work_on(job, setup, cast(Connection, channel), SimpleQueue())
    begun, ended = answers
    assert begun == {"identity": None}
    assert ended["outcome"]["status"] == "failed"
    assert "the system refuses (No such file or directory); look whether" in ended["outcome"]["reason"]
