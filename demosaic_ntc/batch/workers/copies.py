"""Copies of what a job reads and writes beyond this machine: fetched before its work, published after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from demosaic_ntc.batch.job import Identity, Job, JobOutcome, Result
from demosaic_ntc.batch.records.identity import identify
from demosaic_ntc.io.atomic import hold_folder
from demosaic_ntc.io.remote import RemotePath, RemoteStatus


@dataclass(frozen=True, slots=True)
class Copies:
    """A job, and the paths of this machine that stand for its input and its result."""

    job: Job
    source: Path
    target: Path

    def fetch(self) -> Identity | None:
        """Fetch the input, if it lies beyond this machine; return what it is known by."""
        if isinstance(self.job.source, RemotePath):
            status = self.job.source.fetch(self.source)
            identity = identify(self.source)
            return identity and _add_status(identity, status)
        return identify(self.source)

    @property
    def overwrite(self) -> bool:
        """Whether the work may replace what is at `target`; a copy is nobody else's."""
        return self.job.overwrite or self.target is not self.job.target

    def publish(self, result: Result) -> Result:
        """Publish the finished result, if its place lies beyond this machine; return what it is known by."""
        if isinstance(self.job.target, RemotePath):
            status = self.job.target.publish(self.target, overwrite=self.job.overwrite)
            return replace(result, identity=_add_status(result.identity, status))
        return result

    def name_originals(self, outcome: JobOutcome) -> JobOutcome:
        """The outcome with the addresses that people know in place of the copies' paths."""
        reason, notices = outcome.reason, "\0".join(outcome.notices)
        for copy, original in ((self.source, self.job.source), (self.target, self.job.target)):
            reason = reason.replace(str(copy), str(original))
            notices = notices.replace(str(copy), str(original))
        return replace(outcome, reason=reason, notices=tuple(notices.split("\0") if notices else ()))


@contextmanager
def hold_copies(job: Job) -> Iterator[Copies]:
    """Where the copies of a job go, gone with the block; paths of this machine stand for themselves."""
    if isinstance(job.source, Path) and isinstance(job.target, Path):
        yield Copies(job, job.source, job.target)
        return
    with hold_folder() as folder:
        for kind in ("input", "result"):  # both may have one name
            (folder / kind).mkdir()
        source = job.source if isinstance(job.source, Path) else folder / "input" / job.source.name
        target = job.target if isinstance(job.target, Path) else folder / "result" / job.target.name
        yield Copies(job, source, target)


def _add_status(identity: Identity, status: RemoteStatus) -> Identity:
    """What an object is known by: the content of its copy, the time and the tag that its storage tells."""
    return replace(identity, mtime_ns=status.st_mtime_ns, etag=status.etag)
