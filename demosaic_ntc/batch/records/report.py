"""The report of a batch: one JSON line per file and run, on its way to the disk as soon as the file is over.

Paths that are no text are written as JSON's escapes of lone surrogates, which Python reads back as the path.
"""

import errno
import io
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from demosaic_ntc.batch.job import Identity, Job, JobOutcome, JobStatus, Result
from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.io.atomic import check_regular, refusals_explained

DEFAULT_NAME = "demosaic-ntc-report.jsonl"

Record = dict[str, Any]

_START = b'{"input"'  # of every line


def record_of(job: Job, outcome: JobOutcome) -> Record:
    """The line of a job that is over."""
    known, result = outcome.identity, outcome.result
    published = result and result.identity
    tags = {"input_etag": known and known.etag, "output_etag": published and published.etag}
    record = {
        "input": str(job.source),
        "output": str(job.target),
        "status": outcome.status.value,
        "reason": outcome.reason,
        "settings": job.work.fingerprint,
        "input_bytes": known and known.bytes,
        "input_mtime_ns": known and known.mtime_ns,
        "input_sha256": known and known.sha256,
        "output_bytes": published and published.bytes,
        "output_mtime_ns": published and published.mtime_ns,
        "output_sha256": published and published.sha256,
        "output_heads": result and result.heads,
        "version": version("demosaic-ntc"),
        "pixels": outcome.pixels,
        "seconds": {stage: round(seconds, 3) for stage, seconds in outcome.seconds.items()},
        "peak_bytes": outcome.peak_bytes,
        "certified_share": outcome.certified_share,
        "check": outcome.check,
        "notices": list(outcome.notices),
        "log": outcome.log,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return record | {key: tag for key, tag in tags.items() if tag}


def identity_in(record: Record) -> Identity | None:
    """What the input of a record was known by."""
    if record["input_sha256"] is None:
        return None
    tag = record.get("input_etag", "")
    return Identity(record["input_bytes"], record["input_mtime_ns"], record["input_sha256"], tag)


def result_in(record: Record) -> Result | None:
    """What the output of a record was known by; nothing in reports of early versions."""
    if record.get("output_sha256") is None:
        return None
    tag = record.get("output_etag", "")
    identity = Identity(record["output_bytes"], record["output_mtime_ns"], record["output_sha256"], tag)
    return Result(identity, str(record["output_heads"]))


@dataclass(frozen=True, slots=True)
class Report:
    """A file of records, only ever added to; several runs may do so at the same time."""

    path: Path

    def append(self, record: Record) -> None:
        """Add a line, in one write, so that no other run's line can come in between."""
        line = json.dumps(record).encode("ascii") + b"\n"
        with refusals_explained(self.path):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                if os.write(descriptor, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            finally:
                os.close(descriptor)

    def records(self) -> list[Record]:
        """All records; what a crash has left of others is passed over, a file that is no report refused."""
        records, stray = [], None
        for number, line in enumerate(self._lines(), 1):
            record = _record(line)
            if record is not None:
                records.append(record)
            elif stray is None and not _is_remains(line):
                stray = number
        if stray is not None and not records:
            advice = "move the file away or give another `report`"
            raise InputError(f"{self.path}: line {stray} is not a record of a batch; {advice}")
        return records

    def mend(self) -> None:
        """Cut off a last line that is unfinished, so that the next one starts at its own."""
        self.records()  # refuses a file that is no report of ours: nothing of it may be cut
        lines = self._lines()
        if lines and not lines[-1].endswith(b"\n"):
            with refusals_explained(self.path):
                os.truncate(self.path, sum(map(len, lines[:-1])))

    def _lines(self) -> list[bytes]:
        """The lines of the file with their ends; none if there is no file."""
        check_regular(self.path)
        try:
            return io.BytesIO(self.path.read_bytes()).readlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be read ({error.strerror}); give another `report`"
            ) from error


def _record(line: bytes) -> Record | None:
    """A line read back; None if it is no record, whatever damage has made of it."""
    try:
        record = json.loads(line.strip(b"\0"))
        JobStatus(record["status"])
        known, result = identity_in(record), result_in(record)
        published = None if result is None else result.identity
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    texts = [record.get(key) for key in ("input", "output", "settings")]
    wrong = not isinstance(record, dict) or not all(isinstance(text, str) for text in texts)
    return None if wrong or not _is_sound(known) or not _is_sound(published) else record


def _is_sound(known: Identity | None) -> bool:
    """Whether what a file is known by is of the right types."""
    if known is None:
        return True
    counts = isinstance(known.bytes, int) and isinstance(known.mtime_ns, int)
    return counts and isinstance(known.sha256, str) and isinstance(known.etag, str)


def _is_remains(line: bytes) -> bool:
    """Whether a line is what a dying system leaves of a record: its start, zeros, or nothing."""
    words = line.strip(b"\0\r\n ")
    return words.startswith(_START) or _START.startswith(words)
