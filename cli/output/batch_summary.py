"""What is said of a batch: its plan, its files that failed, and what it amounts to at its end."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from demosaic_ntc.batch.job import Job, JobEnded, JobStatus, Tally
from demosaic_ntc.batch.records.resume import Skipped

# The report has all failures; the screen has room for these.
_SHOWN = 20


def summary_lines(tally: Tally, report: Path) -> Iterator[str]:
    """The table at the end: files by status, then those that failed."""
    for status in JobStatus:
        if tally.counts[status] or status is JobStatus.DONE:
            yield f"{status.value:<8} {tally.counts[status]:>6}"
    speed = f"{tally.megapixels_per_second:.3g} a second"
    yield f"{tally.pixels / 1e6:.3g} megapixels in {duration(tally.seconds)}, {speed}"
    if tally.failures:
        yield ""
        yield from map(complaint, tally.failures[:_SHOWN])
        more = tally.failed - _SHOWN
        if more > 0:
            yield f"and {more} more"
    if report.exists():  # not where nothing has ended yet
        yield f"report: {report}"


def complaint(event: JobEnded) -> str:
    """The line that says what became of a file."""
    outcome, source = event.outcome, str(event.job.source)
    reason = outcome.reason.removeprefix(f"{source}: ")
    return f"{outcome.status.value} {source}: {reason}"


def plan_lines(decided: Iterable[Job | Skipped]) -> Iterator[str]:
    """What a run would do, file by file."""
    for item in decided:
        if isinstance(item, Skipped):
            verb = "keep" if item.status is JobStatus.KEPT else "skip"
            yield f"{verb} {item.job.source}: {item.reason}"
        else:
            yield f"{item.source} -> {item.target}{' (replaced)' if item.overwrite else ''}"


def duration(seconds: float) -> str:
    """A time span for people."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"


def megabytes(count: int) -> str:
    """A number of bytes for people."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
