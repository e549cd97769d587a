"""Whether a job is still to be done: never twice without need, never over a file that is not ours."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from demosaic_ntc.batch.job import Job, JobStatus, Result
from demosaic_ntc.batch.records.identity import is_unchanged
from demosaic_ntc.batch.records.report import Record, identity_in, result_in
from demosaic_ntc.batch.records.result import ResultState, state_of


@dataclass(frozen=True, slots=True)
class History:
    """What earlier runs have made, by their report and the outputs they had begun."""

    last: dict[str, Record]  # by output: the last attempt
    made: dict[str, tuple[Result, ...]]  # by output: what was published there, the latest last
    again: bool = False  # do again what holds

    @classmethod
    def of(
        cls, records: Iterable[Record], published: Mapping[str, Result], *, again: bool = False
    ) -> "History":
        """The history that records tell, and outputs begun by killed runs, which are on no record."""
        history = cls({}, {}, again)
        for record in records:
            history.add(record)
        for output, result in published.items():
            history.made[output] = (*history.made.get(output, ()), result)
        return history

    def add(self, record: Record) -> None:
        """Take in a record; one about a file that was passed over tells nothing."""
        if record["status"] in (JobStatus.SKIPPED, JobStatus.KEPT):
            return
        self.last[record["output"]] = record
        result = result_in(record)
        if record["status"] == JobStatus.DONE:
            self.made[record["output"]] = (result,) if result else ()

    def state_of(self, output: Path) -> tuple[ResultState | None, Result | None]:
        """What became of what was published at a place, and as what it is known; or nothing."""
        states = [(state_of(output, result), result) for result in self.made.get(str(output), ())]
        for wanted in (ResultState.UNCHANGED, ResultState.CUT, ResultState.CHANGED):
            if found := [result for state, result in states if state is wanted]:
                return wanted, found[-1]
        is_ours = self.last.get(str(output), {}).get("status") == JobStatus.DONE
        return (ResultState.CUT if is_ours and _is_empty(output) else None), None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A job that is not done, and why."""

    job: Job
    reason: str
    status: JobStatus = JobStatus.SKIPPED


def decide(job: Job, history: History | None) -> Job | Skipped:
    """The job to do, or why it need not or must not be done."""
    if not os.path.lexists(job.target):
        return job
    if history is None:
        exists = f"{job.target}: exists, skipped; use `overwrite` to replace it"
        return job if job.overwrite else Skipped(job, exists)
    state, known = history.state_of(job.target)
    holds = _still_holds(job, history.last.get(str(job.target)), known)
    if holds and state in (ResultState.UNCHANGED, None) and not history.again:
        return Skipped(job, "done by an earlier run with these settings")
    if job.overwrite:
        return job
    match state:
        case ResultState.UNCHANGED | ResultState.CUT:
            return replace(job, overwrite=True, replaces=known)
        case ResultState.CHANGED:
            return Skipped(job, explain_keeping(job.target), JobStatus.KEPT)
        case _:
            reason = "exists and no record tells that it was made here and is unchanged; use `overwrite`"
            return Skipped(job, f"{job.target}: {reason}")


def explain_keeping(target: Path) -> str:
    """Why a result is not replaced."""
    return f"{target}: kept: changed since it was made; use `overwrite` to replace it"


def _still_holds(job: Job, record: Record | None, present: Result | None) -> bool:
    """Whether a record tells of this very job, done, and of what is present, where that is known."""
    if record is None or record["status"] != JobStatus.DONE or record["input"] != str(job.source):
        return False
    known = identity_in(record)
    is_of_present = present is None or present == result_in(record)
    same = record["settings"] == job.work.fingerprint and is_of_present
    return same and known is not None and is_unchanged(job.source, known)


def _is_empty(path: Path) -> bool:
    """Whether a file has no bytes at all."""
    try:
        return os.stat(path).st_size == 0
    except OSError:
        return False
