"""Whether a job is still to be done: never twice without need, never over a file that is not ours."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace

from demosaic_ntc.batch.identity import is_unchanged
from demosaic_ntc.batch.job import Job, Status
from demosaic_ntc.batch.report import Record, identity_in


@dataclass(frozen=True, slots=True)
class History:
    """What earlier runs have made, by their report and their journals."""

    last: dict[str, Record]  # by output: the last attempt
    ours: set[str]  # outputs that this program has made, or was making when it was killed

    @classmethod
    def of(cls, records: Iterable[Record], begun: Iterable[str]) -> "History":
        """The history that records and journals tell."""
        history = cls({}, set(begun))
        for record in records:
            history.add(record)
        return history

    def add(self, record: Record) -> None:
        """Take in a record; one about a skipped file tells nothing."""
        if record["status"] != Status.SKIPPED:
            self.last[record["output"]] = record
        if record["status"] == Status.DONE:
            self.ours.add(record["output"])


@dataclass(frozen=True, slots=True)
class Needless:
    """A job that is not done, and why."""

    job: Job
    reason: str


def decide(job: Job, history: History | None) -> Job | Needless:
    """The job to do, or why it need not or must not be done."""
    if not os.path.lexists(job.target):
        return job
    if history is None:
        exists = f"{job.target}: exists, skipped; use --overwrite to replace it"
        return job if job.overwrite else Needless(job, exists)
    last, output = history.last.get(str(job.target)), str(job.target)
    if last is not None and _still_holds(job, last):
        return Needless(job, "done by an earlier run with these settings")
    if output in history.ours or job.overwrite:
        return replace(job, overwrite=True)
    return Needless(job, f"{job.target}: exists and was not made by a recorded run; use --overwrite")


def _still_holds(job: Job, record: Record) -> bool:
    """Whether a record tells of this very job, done."""
    known = identity_in(record)
    same_settings = record["settings"] == job.work.fingerprint
    done = record["status"] == Status.DONE and record["input"] == str(job.source)
    return done and same_settings and known is not None and is_unchanged(job.source, known)
