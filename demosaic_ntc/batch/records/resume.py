"""Whether a job is still to be done: never twice without need, never over a file that is not ours."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from demosaic_ntc.batch.job import Job, JobStatus, Published
from demosaic_ntc.batch.records.identity import is_unchanged
from demosaic_ntc.batch.records.report import Record, identity_in, result_in
from demosaic_ntc.batch.records.result import ResultState, state_of
from demosaic_ntc.io.atomic import is_absent
from demosaic_ntc.io.remote import Place


@dataclass(frozen=True, slots=True)
class History:
    """What earlier runs have made, by their report and the outputs they had begun."""

    last: dict[str, Record]  # by output: the last attempt
    made: dict[str, tuple[Published, ...]]  # by output: what was published there, the latest last
    again: bool = False  # do again what holds

    @classmethod
    def of(
        cls, records: Iterable[Record], published: Mapping[str, Published], *, again: bool = False
    ) -> "History":
        """The history that records tell, and outputs begun by killed runs, which are on no record."""
        history = cls({}, {}, again)
        for record in records:
            history.add(record)
        for output, each in published.items():
            history.made[output] = (*history.made.get(output, ()), each)
        return history

    def add(self, record: Record) -> None:
        """Take in a record; one about a file that was passed over tells nothing."""
        if record["status"] in (JobStatus.SKIPPED, JobStatus.KEPT):
            return
        self.last[record["output"]] = record
        result = result_in(record)
        if record["status"] == JobStatus.DONE:
            made = Published(record["input"], result, identity_in(record)) if result else None
            self.made[record["output"]] = (made,) if made else ()

    def state_of(self, output: Place) -> tuple[ResultState | None, Published | None]:
        """What became of what was published at a place, and as what it is known; or nothing."""
        states = [(state_of(output, made.result), made) for made in self.made.get(str(output), ())]
        for wanted in (ResultState.UNCHANGED, ResultState.CUT, ResultState.CHANGED):
            if found := [made for state, made in states if state is wanted]:
                return wanted, found[-1]
        return None, None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A job that is not done, and why."""

    job: Job
    reason: str
    status: JobStatus = JobStatus.SKIPPED


def decide(job: Job, history: History | None) -> Job | Skipped:
    """The job to do, or why it need not or must not be done."""
    if is_absent(job.target) or (history is None and job.overwrite):
        return job
    if history is None:
        return Skipped(job, f"{job.target}: exists, skipped; use `overwrite` to replace it")
    state, known = history.state_of(job.target)
    holds = _still_holds(job, history.last.get(str(job.target)), known)
    if holds and state in (ResultState.UNCHANGED, None) and not history.again:
        return Skipped(job, "done by an earlier run with these settings")
    if job.overwrite:
        return job
    if known is None:
        reason = "exists and no record tells that it was made here and is unchanged; use `overwrite`"
        return Skipped(job, f"{job.target}: {reason}")
    return _replace_ours(job, known)


def _replace_ours(job: Job, known: Published) -> Job | Skipped:
    """The job that replaces what was made here, of the same input, and has certainly not been changed."""
    if state_of(job.target, known.result, proven=True) is ResultState.CHANGED:
        return Skipped(job, explain_keeping(job.target), JobStatus.KEPT)
    moved = known.identity is not None and is_unchanged(job.source, known.identity, proven=True)
    if known.source != str(job.source) and not moved:
        reason = f"kept: made of {known.source}; use `overwrite` to replace it"
        return Skipped(job, f"{job.target}: {reason}", JobStatus.KEPT)
    return replace(job, overwrite=True, replaces=known.result)


def explain_keeping(target: Place) -> str:
    """Why a result is not replaced."""
    return f"{target}: kept: changed since it was made; use `overwrite` to replace it"


def _still_holds(job: Job, record: Record | None, present: Published | None) -> bool:
    """Whether a record tells of this very job, done, and of what is present, where that is known."""
    if record is None or record["status"] != JobStatus.DONE or record["input"] != str(job.source):
        return False
    known = identity_in(record)
    is_of_present = present is None or present.result == result_in(record)
    same = record["settings"] == job.work.fingerprint and is_of_present
    return same and known is not None and is_unchanged(job.source, known)
