"""What the tests of batches share: small inputs, and a team that works on them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from demosaic_ntc.batch.job import Job, JobEnded, JobLimits, JobOutcome, JobWork
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.batch.workers.supervisor import Supervisor
from demosaic_ntc.batch.workers.worker import WorkerSetup
from tests.batch.works import Copy

Make = Callable[..., list[Job]]
Outcomes = dict[str, JobOutcome]
RunJobs = Callable[..., Outcomes]


@pytest.fixture
def stop() -> Iterator[Stop]:
    wish = Stop()
    yield wish
    wish.close()


@pytest.fixture
def make_jobs(tmp_path: Path) -> Make:
    """Jobs named a, b, c … whose inputs hold their own names."""

    def make(names: str = "abcde", work: JobWork | None = None) -> list[Job]:
        (tmp_path / "in").mkdir()
        (tmp_path / "out").mkdir()
        for name in names:
            (tmp_path / "in" / name).write_text(name)
        return [Job(tmp_path / "in" / name, tmp_path / "out" / name, work or Copy()) for name in names]

    return make


@pytest.fixture
def run_jobs(stop: Stop) -> RunJobs:
    """Let two workers do jobs; return how each ended."""

    def run(jobs: list[Job], workers: int = 2, **limits: float) -> Outcomes:
        allowance = JobLimits(**limits)  # type: ignore[arg-type]
        team = [WorkerSetup(jobs[0].work, 1, allowance.memory)] * workers
        with Supervisor(team, allowance, stop) as crew:
            ended = [event for event in crew.run(iter(jobs)) if isinstance(event, JobEnded)]
        assert len(ended) == len({event.job.source for event in ended}), "every job ends once"
        return {event.job.source.name: event.outcome for event in ended}

    return run
